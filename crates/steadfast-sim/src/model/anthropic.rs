//! The part of the Anthropic Messages API that Claude Code uses.

use serde_json::{Value, json};

use super::http::Outgoing;
use super::request::Request;
use crate::agent::call::Call;
use crate::ids::Ids;
use crate::scenario::{Action, Fault, Turn};

/// More than the largest window, so that a host starts its own compaction.
const FULL_CONTEXT: u64 = 2_000_000;

pub(super) fn answer(request: &Request, turn: &Turn, ids: &Ids) -> Outgoing {
    let message = message(request, turn, ids);
    if request.body["stream"] == true {
        Outgoing::event_stream(stream(&message))
    } else {
        Outgoing::json(200, &message)
    }
}

pub(super) fn failure(fault: Fault, ids: &Ids) -> Outgoing {
    let kind = match fault.status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let body = json!({
        "type": "error",
        "error": {"type": kind, "message": "a scripted fault"},
        "request_id": ids.next("req"),
    });
    Outgoing::json(fault.status, &body)
}

pub(super) fn count_tokens(request: &Request) -> Outgoing {
    // Four bytes per token is the usual estimate. The hosts only need the order of magnitude.
    Outgoing::json(200, &json!({"input_tokens": request.body.to_string().len() / 4}))
}

fn message(request: &Request, turn: &Turn, ids: &Ids) -> Value {
    let mut content = Vec::new();
    if let Some(text) = &turn.say {
        content.push(json!({"type": "text", "text": text}));
    }
    for call in turn.actions.iter().filter_map(Call::of) {
        let id = turn.call_id.clone().unwrap_or_else(|| ids.next("toolu"));
        content.push(json!({
            "type": "tool_use", "id": id, "name": call.name, "input": call.input,
        }));
    }
    let full = turn.actions.contains(&Action::Compact {});
    json!({
        "id": ids.next("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.body["model"],
        "content": content,
        "stop_reason": if turn.calls_tools() { "tool_use" } else { "end_turn" },
        "stop_sequence": null,
        "usage": {
            "input_tokens": if full { FULL_CONTEXT } else { turn.usage.input },
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": turn.usage.output,
        },
    })
}

/// Returns the message as a stream of events.
fn stream(message: &Value) -> String {
    let mut events = String::new();
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    emit(&mut events, json!({"type": "message_start", "message": start}));
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, block) in blocks.iter().enumerate() {
        let mut empty = block.clone();
        let delta = if block["type"] == "text" {
            empty["text"] = json!("");
            json!({"type": "text_delta", "text": block["text"]})
        } else {
            empty["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
        };
        emit(&mut events, json!({"type": "content_block_start", "index": index, "content_block": empty}));
        emit(&mut events, json!({"type": "content_block_delta", "index": index, "delta": delta}));
        emit(&mut events, json!({"type": "content_block_stop", "index": index}));
    }
    emit(
        &mut events,
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
            "usage": message["usage"],
        }),
    );
    emit(&mut events, json!({"type": "message_stop"}));
    events
}

fn emit(events: &mut String, event: Value) {
    let kind = event["type"].as_str().unwrap_or_default();
    events.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
}
