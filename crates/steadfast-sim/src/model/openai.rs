//! The part of the OpenAI Responses API that Codex uses.

use serde_json::{Value, json};

use super::http::Outgoing;
use super::request::Request;
use crate::ids::Ids;
use crate::scenario::{Action, Fault, Turn};

/// More than the largest window, so that a host starts its own compaction.
const FULL_CONTEXT: u64 = 2_000_000;

pub(super) fn answer(request: &Request, turn: &Turn, ids: &Ids) -> Outgoing {
    let output = output(request, turn, ids);
    let input_tokens = if turn.actions.contains(&Action::Compact {}) { FULL_CONTEXT } else { turn.usage.input };
    let response = json!({
        "id": ids.next("resp"),
        "object": "response",
        "status": "completed",
        "model": request.body["model"],
        "output": output,
        "usage": {
            "input_tokens": input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": turn.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input_tokens + turn.usage.output,
        },
    });
    if request.body["stream"] == true {
        Outgoing::event_stream(stream(&response))
    } else {
        Outgoing::json(200, &response)
    }
}

pub(super) fn failure(fault: Fault) -> Outgoing {
    let kind = match fault.status {
        400..=428 | 430..=499 => "invalid_request_error",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    let body = json!({"error": {"type": kind, "code": kind, "message": "a scripted fault"}});
    Outgoing::json(fault.status, &body)
}

pub(super) fn models() -> Outgoing {
    Outgoing::json(200, &json!({"object": "list", "data": [], "models": []}))
}

fn output(request: &Request, turn: &Turn, ids: &Ids) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(text) = &turn.say {
        items.push(json!({
            "type": "message", "id": ids.next("msg"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }));
    }
    items.extend(turn.actions.iter().filter_map(|action| call(request, action, ids)));
    items
}

fn call(request: &Request, action: &Action, ids: &Ids) -> Option<Value> {
    let item = match action {
        Action::Shell(command) => function(ids, "exec_command", &json!({"cmd": command})),
        Action::Read(path) => function(ids, "exec_command", &json!({"cmd": format!("cat {}", quoted(path))})),
        Action::Write { path, content } => {
            let lines = prefixed("+", content);
            patch(ids, &format!("*** Add File: {path}\n{lines}"))
        }
        Action::Edit { path, old, new } => {
            let (old, new) = (prefixed("-", old), prefixed("+", new));
            patch(ids, &format!("*** Update File: {path}\n@@\n{old}{new}"))
        }
        Action::Tool { name, input } => tool(ids, name, input),
        Action::Agent { kind, prompt, .. } => spawn(request, ids, kind, prompt),
        Action::Compact {} => return None,
    };
    Some(item)
}

fn function(ids: &Ids, name: &str, arguments: &Value) -> Value {
    json!({
        "type": "function_call", "id": ids.next("fc"), "call_id": ids.next("call"), "status": "completed",
        "name": name, "arguments": arguments.to_string(),
    })
}

/// Codex puts the tools of an MCP server into a namespace and does not accept their flat names.
fn tool(ids: &Ids, name: &str, input: &Value) -> Value {
    let Some((server, inner)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return function(ids, name, input);
    };
    let mut call = function(ids, inner, input);
    call["namespace"] = format!("mcp__{server}").into();
    call
}

/// Subagents are in a namespace. By default Codex 0.166 defers it, and still accepts a call of it. With
/// `features.multi_agent_v2` it has another name among the tools, and requires a task name instead of a type.
fn spawn(request: &Request, ids: &Ids, kind: &str, prompt: &str) -> Value {
    let offered = request.tools().iter().find(|tool| {
        tool["type"] == "namespace"
            && tool["tools"].as_array().is_some_and(|inner| inner.iter().any(|tool| tool["name"] == "spawn_agent"))
    });
    let (namespace, arguments) = match offered {
        Some(tool) => (tool["name"].clone(), json!({"task_name": ids.next("task"), "message": prompt})),
        None if kind == "general-purpose" => (json!("multi_agent_v1"), json!({"message": prompt})),
        None => (json!("multi_agent_v1"), json!({"agent_type": kind, "message": prompt})),
    };
    let mut call = function(ids, "spawn_agent", &arguments);
    call["namespace"] = namespace;
    call
}

fn patch(ids: &Ids, hunk: &str) -> Value {
    json!({
        "type": "custom_tool_call", "id": ids.next("ctc"), "call_id": ids.next("call"), "status": "completed",
        "name": "apply_patch", "input": format!("*** Begin Patch\n{hunk}*** End Patch\n"),
    })
}

fn prefixed(sign: &str, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

fn stream(response: &Value) -> String {
    let mut events = String::new();
    let mut created = response.clone();
    created["status"] = json!("in_progress");
    created["output"] = json!([]);
    created["usage"] = Value::Null;
    emit(&mut events, json!({"type": "response.created", "response": created}));
    let items = response["output"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, item) in items.iter().enumerate() {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            emit(&mut events, json!({"type": kind, "output_index": index, "item": item}));
        }
    }
    emit(&mut events, json!({"type": "response.completed", "response": response}));
    events
}

fn emit(events: &mut String, event: Value) {
    let kind = event["type"].as_str().unwrap_or_default();
    events.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::http::Incoming;

    fn items(tools: Value, turn: &Turn) -> Vec<Value> {
        let request = Request::new(Incoming {
            method: "POST".into(),
            path: "/v1/responses".into(),
            headers: Vec::new(),
            body: json!({"tools": tools}).to_string().into_bytes(),
        });
        let mut items = output(&request, turn, &Ids::new());
        for item in &mut items {
            let fields = item.as_object_mut().unwrap();
            for name in ["id", "call_id", "status"] {
                fields.remove(name);
            }
        }
        items
    }

    #[test]
    fn shell_and_read_are_commands() {
        let turn = Turn::saying("go").calling([Action::shell("ls"), Action::read("it's.txt")]);
        let expected = [
            json!({"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": "go", "annotations": []}]}),
            json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}"}),
            json!({"type": "function_call", "name": "exec_command",
                "arguments": json!({"cmd": r"cat 'it'\''s.txt'"}).to_string()}),
        ];
        assert_eq!(items(json!([]), &turn), expected);
    }

    #[test]
    fn write_and_edit_are_patches() {
        let turn = Turn::doing([Action::write("a", "x\ny\n"), Action::edit("a", "x", "z")]);
        let patches: Vec<Value> = items(json!([]), &turn).into_iter().map(|item| item["input"].clone()).collect();
        let expected = [
            "*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch\n",
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n+z\n*** End Patch\n",
        ];
        assert_eq!(patches, expected);
    }

    #[test]
    fn a_subagent_is_spawned_in_the_namespace_that_is_offered() {
        let turn = Turn::doing([Action::agent("general-purpose", "go")]);
        let deferred = items(json!([]), &turn).remove(0);
        assert_eq!(deferred["namespace"], "multi_agent_v1");
        assert_eq!(deferred["arguments"], r#"{"message":"go"}"#);
        let tools = json!([{"type": "namespace", "name": "collaboration", "tools": [{"name": "spawn_agent"}]}]);
        let offered = items(tools, &turn).remove(0);
        assert_eq!(offered["namespace"], "collaboration");
        assert!(offered["arguments"].as_str().unwrap().contains("task_name"));
    }
}
