//! For tests: what a client makes of an answer, and the request that it sends next.

use serde_json::{Value, json};

use crate::wire::WireFormat;
use steadfast_splice::sse::{SsePart, SseSplitter};

pub(crate) const FORMATS: [WireFormat; 3] = [WireFormat::Messages, WireFormat::Responses, WireFormat::Chat];

/// A call of the scripted answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScriptedCall {
    pub(crate) id: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) input: &'static str,
}

/// The calls of [`answer`]: one with odd JSON, one with an emoji in escapes, one without input.
pub(crate) const CALLS: [ScriptedCall; 3] = [
    ScriptedCall { id: "call_1", tool: "Write", input: r#"{"path": "a.txt",  "size":1.0, "z":1,"a":[ ]}"# },
    ScriptedCall { id: "call_2", tool: "Read", input: r#"{"path":"\ud83d\ude00\n\u0007 \"é\""}"# },
    ScriptedCall { id: "call_3", tool: "List", input: "{}" },
];

/// Returns an answer with thinking, text and [`CALLS`], as a stream.
pub(crate) fn answer(format: WireFormat) -> String {
    match format {
        WireFormat::Messages => messages(),
        WireFormat::Responses => responses(),
        WireFormat::Chat => chat(),
    }
}

/// Splits the text where a tokeniser might, also inside an escape.
fn fragments(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut fragments = Vec::new();
    while !rest.is_empty() {
        let at = rest.ceil_char_boundary(7.min(rest.len()));
        let (fragment, after) = rest.split_at(at);
        fragments.push(fragment);
        rest = after;
    }
    fragments
}

fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}

fn messages() -> String {
    let usage =
        json!({"input_tokens": 7, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1});
    let message =
        json!({"id": "msg_1", "role": "assistant", "model": "claude-opus-5-5", "content": [], "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let mut block = |start: Value, deltas: Vec<Value>| {
        let index = events.iter().filter(|event| event["type"] == "content_block_start").count();
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "ping"}));
        events
            .extend(deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    let thinking = json!({"type": "thinking_delta", "thinking": "hm"});
    let signature = json!({"type": "signature_delta", "signature": "c2ln"});
    block(json!({"type": "thinking", "thinking": "", "signature": ""}), vec![thinking, signature]);
    block(json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": "two calls"})]);
    for ScriptedCall { id, tool, input } in CALLS {
        let input = if input == "{}" { "" } else { input };
        let part = |part: &&str| json!({"type": "input_json_delta", "partial_json": part});
        let deltas = fragments(input).iter().map(part).collect();
        block(json!({"type": "tool_use", "id": id, "name": tool, "input": {}, "caller": {"type": "direct"}}), deltas);
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 87}}));
    events.push(json!({"type": "brand_new_event", "index": 2, "x": []}));
    events.push(json!({"type": "message_stop"}));
    format!(": hello\n\n{}", events.iter().map(named).collect::<String>())
}

fn responses() -> String {
    let text = json!({"type": "output_text", "text": "two calls", "annotations": []});
    let mut output = vec![
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"}),
        json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}),
    ];
    for (at, ScriptedCall { id, tool, input }) in CALLS.into_iter().enumerate() {
        output.push(match at {
            0 => json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": id, "name": tool, "input": input}),
            1 => json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": tool, "namespace": "mcp__x", "arguments": input}),
            _ => json!({"namespace": "mcp__x", "type": "function_call", "id": "fc_2", "call_id": id, "name": tool, "arguments": input}),
        });
    }
    let mut events = vec![json!({"type": "response.created", "response": {"model": "gpt-5.5", "output": []}})];
    for (index, item) in output.iter().enumerate() {
        let key = if item["type"] == "custom_tool_call" { "input" } else { "arguments" };
        let mut start = item.clone();
        if item["call_id"].is_string() {
            start[key] = json!("");
        }
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": start}));
        if let Some(input) = item[key].as_str() {
            let kind =
                if key == "input" { "response.custom_tool_call_input" } else { "response.function_call_arguments" };
            for part in fragments(input) {
                events.push(json!({"type": format!("{kind}.delta"), "output_index": index, "item_id": item["id"], "delta": part}));
            }
            let mut done = json!({"type": format!("{kind}.done"), "output_index": index, "item_id": item["id"], "name": item["name"]});
            done[key] = input.into();
            events.push(done);
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let usage = json!({"input_tokens": 12, "input_tokens_details": {"cached_tokens": 5}, "output_tokens": 87});
    let response = json!({"model": "gpt-5.5", "status": "completed", "error": null, "output": output, "usage": usage});
    events.push(json!({"type": "response.completed", "response": response}));
    events.iter().map(named).collect()
}

fn chat() -> String {
    let chunk = |choice: Value| json!({"id": "c_1", "model": "qwen", "choices": [choice]});
    let delta = |delta: Value| chunk(json!({"index": 0, "delta": delta, "finish_reason": null}));
    let mut chunks = vec![
        delta(json!({"role": "assistant", "reasoning_content": "hm", "content": null})),
        delta(json!({"content": "two calls"})),
    ];
    let calls: Vec<Value> = CALLS
        .into_iter()
        .enumerate()
        .map(|(index, ScriptedCall { id, tool, .. })| json!({"index": index, "id": id, "type": "function", "function": {"name": tool, "arguments": ""}}))
        .collect();
    chunks.push(delta(json!({"tool_calls": calls})));
    // The fragments of all calls alternate.
    let parts = CALLS.map(|call| fragments(call.input));
    for round in 0..parts.iter().map(Vec::len).max().unwrap() {
        for (index, part) in parts.iter().enumerate().filter_map(|(index, parts)| Some((index, parts.get(round)?))) {
            chunks.push(delta(json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]})));
        }
    }
    chunks.push(chunk(json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"})));
    let usage = json!({"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens": 87});
    chunks.push(json!({"id": "c_1", "model": "qwen", "choices": [], "usage": usage}));
    let records: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{records}: keepalive\n\ndata: [DONE]\n\n")
}

/// Returns the data of all events.
pub(crate) fn events(stream: &[u8]) -> Vec<Value> {
    let mut splitter = SseSplitter::default();
    splitter.push(bytes::Bytes::copy_from_slice(stream));
    let parts: Vec<SsePart> = std::iter::from_fn(|| splitter.next_part()).collect();
    let data = |part: &SsePart| match part {
        SsePart::Record(record) => serde_json::from_slice(&record.fields().data?).ok(),
        SsePart::Fragment(_) => None,
    };
    parts.iter().filter_map(data).collect()
}

/// Returns what a client stores of a streamed answer: the items of its conversation.
pub(crate) fn stored(format: WireFormat, stream: &[u8]) -> Value {
    let events = events(stream);
    match format {
        WireFormat::Messages => {
            let mut blocks: Vec<Value> = Vec::new();
            let mut inputs: Vec<String> = Vec::new();
            for event in events {
                let at = event["index"].as_u64().unwrap_or_default() as usize;
                match event["type"].as_str().unwrap() {
                    "content_block_start" => {
                        blocks.push(event["content_block"].clone());
                        inputs.push(String::new());
                    }
                    "content_block_delta" => {
                        for key in ["text", "thinking", "signature"] {
                            if let Some(text) = event["delta"][key].as_str() {
                                blocks[at][key] = text.into();
                            }
                        }
                        inputs[at].push_str(event["delta"]["partial_json"].as_str().unwrap_or_default());
                    }
                    "content_block_stop" if !inputs[at].is_empty() => {
                        blocks[at]["input"] = serde_json::from_str(&inputs[at]).unwrap();
                    }
                    _ => {}
                }
            }
            json!(blocks)
        }
        WireFormat::Responses => {
            let done: Vec<Value> = events
                .iter()
                .filter(|event| event["type"] == "response.output_item.done")
                .map(|event| event["item"].clone())
                .collect();
            assert_eq!(json!(done), events.last().unwrap()["response"]["output"], "all copies of an item are the same");
            for (index, item) in done.iter().enumerate().filter(|(_, item)| item["call_id"].is_string()) {
                let key = if item["type"] == "custom_tool_call" { "input" } else { "arguments" };
                let of_item = |event: &&Value| event["output_index"] == index;
                let deltas: String =
                    events.iter().filter(of_item).filter_map(|event| event["delta"].as_str()).collect();
                assert_eq!(deltas, item[key], "the fragments are the input");
                assert!(
                    events.iter().filter(of_item).all(|event| event.get(key).is_none_or(|text| *text == item[key]))
                );
                assert!(
                    events
                        .iter()
                        .filter(of_item)
                        .all(|event| event.get("name").is_none_or(|name| *name == item["name"]))
                );
            }
            json!(done)
        }
        WireFormat::Chat => {
            let mut message = json!({"role": "assistant", "content": "", "tool_calls": []});
            for event in events {
                let delta = &event["choices"][0]["delta"];
                if let Some(text) = delta["content"].as_str() {
                    message["content"] = text.into();
                }
                for call in delta["tool_calls"].as_array().into_iter().flatten() {
                    let calls = message["tool_calls"].as_array_mut().unwrap();
                    if call["id"].is_string() {
                        calls.push(json!({"id": call["id"], "type": "function", "function": call["function"]}));
                    } else {
                        let function = &mut calls[call["index"].as_u64().unwrap() as usize]["function"];
                        let joined = format!(
                            "{}{}",
                            function["arguments"].as_str().unwrap(),
                            call["function"]["arguments"].as_str().unwrap()
                        );
                        function["arguments"] = joined.into();
                    }
                }
            }
            message
        }
    }
}

/// Returns the next request of a client that stored this. `result` is the result of each call, by its tool.
pub(crate) fn next_request(format: WireFormat, stored: &Value, result: impl Fn(&str) -> (String, bool)) -> Value {
    match format {
        WireFormat::Messages => {
            let of_call = |block: &Value| {
                let (content, is_error) = result(block["name"].as_str().unwrap());
                json!({"type": "tool_result", "tool_use_id": block["id"], "content": content, "is_error": is_error})
            };
            let calls = stored.as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
            let results: Vec<Value> = calls.map(of_call).collect();
            json!({"model": "m", "system": "s", "tools": [], "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": stored},
                {"role": "user", "content": results},
            ]})
        }
        WireFormat::Responses => {
            let mut input = stored.as_array().unwrap().clone();
            for item in stored.as_array().unwrap().iter().filter(|item| item["call_id"].is_string()) {
                let kind = format!("{}_output", item["type"].as_str().unwrap());
                let output = result(item["name"].as_str().unwrap()).0;
                input.push(json!({"type": kind, "call_id": item["call_id"], "output": output}));
            }
            json!({"model": "m", "instructions": "s", "input": input})
        }
        WireFormat::Chat => {
            let mut messages = vec![json!({"role": "user", "content": "go"}), stored.clone()];
            for call in stored["tool_calls"].as_array().unwrap() {
                let content = result(call["function"]["name"].as_str().unwrap()).0;
                messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": content}));
            }
            json!({"model": "m", "messages": messages})
        }
    }
}
