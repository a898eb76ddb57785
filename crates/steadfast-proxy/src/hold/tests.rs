use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::memory::RefusalMemory;
use crate::tests::client::{CALLS, FORMATS, answer, events, next_request, stored};
use crate::wire::{WireUsage, restore};

const WHY: &str = "`a.txt` is \"protected\"\nby the plan";

/// What came out of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
struct Played {
    bytes: Vec<u8>,
    judged: Vec<WireCall>,
    seen: Vec<WireCall>,
    refused: Vec<RefusedCall>,
    answer: ModelAnswer,
    /// The bytes that had passed when the first call was judged.
    before: Option<usize>,
}

/// Plays a stream in chunks. `held` are the tools that need a ruling, and `refused` are refused.
fn play(format: WireFormat, chunks: &[&[u8]], held: &[&str], refused: &[&str]) -> Played {
    let mut hold = CallHold::new(format, !held.is_empty());
    let mut played = Played::default();
    for at in 0..=chunks.len() {
        match chunks.get(at) {
            Some(chunk) => hold.push(Bytes::copy_from_slice(chunk)),
            None => hold.finish(|tool| held.contains(&tool)),
        }
        while let Some(step) = hold.next_step(|tool| held.contains(&tool)) {
            match step {
                HoldStep::Forward(bytes) => played.bytes.extend_from_slice(&bytes),
                HoldStep::Seen(call) => played.seen.push(call),
                HoldStep::Judge(call) => {
                    played.before.get_or_insert(played.bytes.len());
                    let is_refused = refused.contains(&&*call.tool);
                    let ruling =
                        if is_refused { CallRuling::Refuse { why: WHY.to_owned() } } else { CallRuling::Allow };
                    played.judged.push(call);
                    played.refused.extend(hold.rule(ruling));
                }
            }
        }
    }
    played.answer = hold.answer().clone();
    played
}

fn tools(calls: &[WireCall]) -> Vec<&str> {
    calls.iter().map(|call| &*call.tool).collect()
}

const ALL: [&str; 3] = ["Write", "Read", "List"];

#[test]
fn calls_text_and_usage_of_each_format_are_read() {
    for format in FORMATS {
        let stream = answer(format);
        let played = play(format, &[stream.as_bytes()], &[], &[]);
        assert_eq!(played.bytes, stream.as_bytes());
        let found: Vec<(&str, &str, &str)> =
            played.seen.iter().map(|call| (&*call.id, &*call.tool, &*call.input)).collect();
        assert_eq!(found, CALLS.map(|call| (call.id, call.tool, call.input)), "{format:?}");
        assert!(played.seen.iter().all(|call| call.thinking == "hm"), "{format:?}");
        let ModelAnswer { model, text, thinking, usage, stop, .. } = played.answer;
        assert_eq!((&*text, &*thinking), ("two calls", "hm"), "{format:?}");
        let (expected, written) = match format {
            WireFormat::Messages => (("claude-opus-5-5", "tool_use"), 3),
            WireFormat::Responses => (("gpt-5.5", "completed"), 0),
            WireFormat::Chat => (("qwen", "tool_calls"), 0),
        };
        assert_eq!((&*model, stop.as_deref().unwrap()), expected);
        assert_eq!(usage, Some(WireUsage { input: 7, cached: 5, written, output: 87 }), "{format:?}");
    }
}

#[test]
fn a_call_that_could_not_be_put_back_is_never_refused() {
    let shell = "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"local_shell_call\",\
                 \"call_id\":\"c\",\"action\":{\"command\":[\"ls\"]}}}\n\n\
                 data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"local_shell_call\",\
                 \"call_id\":\"c\",\"action\":{\"command\":[\"ls\"]}}}\n\n";
    let broken = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":\
                  {\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Write\",\"input\":{}}}\n\n\
                  event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":\
                  {\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\": \"}}\n\n\
                  event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n";
    for (format, stream) in [(WireFormat::Responses, shell), (WireFormat::Messages, broken)] {
        let played = play(format, &[stream.as_bytes()], &["local_shell_call", "Write"], &["local_shell_call", "Write"]);
        assert_eq!((played.judged.len(), played.seen.len(), played.refused.len()), (0, 1, 0), "{format:?}");
        assert_eq!(played.bytes, stream.as_bytes(), "{format:?}");
    }
    // The same call with its whole input is refused.
    let whole = broken.replace("{\\\"a\\\": ", "{}");
    let played = play(WireFormat::Messages, &[whole.as_bytes()], &["Write"], &["Write"]);
    assert_eq!((played.judged.len(), played.refused.len()), (1, 1));
}

#[test]
fn allowed_calls_pass_byte_for_byte() {
    for format in FORMATS {
        for stream in [answer(format), answer(format).replace('\n', "\r\n"), answer(format).replace('\n', "\r")] {
            let played = play(format, &[stream.as_bytes()], &ALL, &[]);
            assert_eq!(String::from_utf8(played.bytes).unwrap(), stream, "{format:?}");
            assert_eq!(tools(&played.judged), ALL);
        }
    }
}

#[test]
fn only_the_tools_that_may_be_refused_are_held() {
    for format in FORMATS {
        let stream = answer(format);
        let played = play(format, &[stream.as_bytes()], &["Read"], &["Write", "Read"]);
        assert_eq!((tools(&played.judged), tools(&played.seen)), (vec!["Read"], vec!["Write", "List"]), "{format:?}");
    }
}

#[test]
fn nothing_of_a_call_passes_before_its_ruling() {
    for format in FORMATS {
        let stream = answer(format);
        let chunks: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        let played = play(format, &chunks, &["Write"], &[]);
        let before = String::from_utf8(played.bytes[..played.before.unwrap()].to_vec()).unwrap();
        assert!(!before.contains("Write") && !before.contains("a.txt"), "{format:?}: {before}");
        assert!(before.contains("two calls"), "{format:?}");
    }
}

#[test]
fn a_refused_call_becomes_one_of_a_tool_that_does_not_exist() {
    for format in FORMATS {
        for refused in [&["Write"][..], &["Read"], &["List"], &ALL] {
            let stream = answer(format);
            let original = stored(format, stream.as_bytes());
            let played = play(format, &[stream.as_bytes()], &ALL, refused);
            let changed = stored(format, &played.bytes);
            let text = changed.to_string();
            assert_eq!(text.matches(REFUSED_TOOL).count(), refused.len(), "{format:?} {refused:?}: {text}");
            // Whatever is not refused is the same.
            for (was, is) in items(format, &original).iter().zip(items(format, &changed)) {
                let tool = was.pointer("/function/name").unwrap_or(&was["name"]).as_str().unwrap_or_default();
                assert_eq!(*was == is, !refused.contains(&tool), "{format:?} {refused:?}: {was} {is}");
            }
            // Events that do not belong to a call are the same, too.
            let others = |stream: &[u8]| -> Vec<Value> {
                let is_other =
                    |event: &Value| !event.to_string().contains("index") && event["response"]["usage"].is_null();
                events(stream).into_iter().filter(is_other).collect()
            };
            assert_eq!(others(stream.as_bytes()), others(&played.bytes));
        }
    }
}

fn items(format: WireFormat, stored: &Value) -> Vec<Value> {
    let items = if format == WireFormat::Chat { &stored["tool_calls"] } else { stored };
    items.as_array().unwrap().clone()
}

/// The result of a call: ours is unknown to the client.
fn result(tool: &str) -> (String, bool) {
    if tool == REFUSED_TOOL { ("no such tool".to_owned(), true) } else { (format!("ran {tool}"), false) }
}

/// The request after an answer that reached the client as it was, with the results that a refusal leads to.
fn expected(format: WireFormat, stream: &str, refused: &[&str]) -> Value {
    let result = |tool: &str| if refused.contains(&tool) { (WHY.to_owned(), true) } else { result(tool) };
    next_request(format, &stored(format, stream.as_bytes()), result)
}

#[test]
fn the_next_request_has_the_models_own_calls_and_the_reason_as_the_result() {
    for format in FORMATS {
        for refused in [&[][..], &["Write"], &["Read"], &["List"], &ALL] {
            let stream = answer(format);
            let played = play(format, &[stream.as_bytes()], &ALL, refused);
            let request = next_request(format, &stored(format, &played.bytes), result).to_string();
            // A new memory: the conversation alone has what is needed.
            let restored = restore(format, request.as_bytes(), "s", &RefusalMemory::default());
            assert_eq!(restored.is_some(), !refused.is_empty());
            let restored = restored.unwrap_or(Bytes::from(request));
            let restored: Value = serde_json::from_slice(&restored).unwrap();
            assert_eq!(restored, expected(format, &stream, refused), "{format:?} {refused:?}");
        }
    }
}

#[test]
fn a_refused_input_is_put_back_as_the_model_wrote_it() {
    let stream = answer(WireFormat::Messages);
    let played = play(WireFormat::Messages, &[stream.as_bytes()], &ALL, &["Write"]);
    let request = next_request(WireFormat::Messages, &stored(WireFormat::Messages, &played.bytes), result).to_string();
    let restored = restore(WireFormat::Messages, request.as_bytes(), "s", &RefusalMemory::default()).unwrap();
    let restored = String::from_utf8(restored.to_vec()).unwrap();
    assert!(restored.contains(CALLS[0].input), "{restored}");
}

#[test]
fn a_client_that_renames_our_call_is_served_from_memory() {
    for format in FORMATS {
        let stream = answer(format);
        let played = play(format, &[stream.as_bytes()], &ALL, &["Write"]);
        let memory = RefusalMemory::default();
        for RefusedCall { id, refusal, .. } in played.refused {
            memory.add("s", &id, refusal);
        }
        let request = next_request(format, &stored(format, &played.bytes), result).to_string();
        let renamed = request.replace(REFUSED_TOOL, "invalid").replace("why", "error");
        let restored = restore(format, renamed.as_bytes(), "s", &memory).unwrap();
        let restored: Value = serde_json::from_slice(&restored).unwrap();
        assert_eq!(restored, expected(format, &stream, &["Write"]), "{format:?}");
        assert_eq!(restore(format, renamed.as_bytes(), "another session", &memory), None);
    }
}

#[test]
fn a_result_without_its_call_gets_the_reason_from_memory() {
    let memory = RefusalMemory::default();
    let refusal = Refusal { tool: "exec".into(), namespace: None, input: "{}".into(), why: WHY.into() };
    memory.add("s", "call_1", refusal);
    let request =
        r#"{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"call_1","output":"no"}]}"#;
    let restored = restore(WireFormat::Responses, request.as_bytes(), "s", &memory).unwrap();
    let restored: Value = serde_json::from_slice(&restored).unwrap();
    assert_eq!(restored["input"][0]["output"], WHY);
}

#[test]
fn a_conversation_about_our_tool_is_not_changed() {
    let memory = RefusalMemory::default();
    let request = r#"{"messages":[{"role":"user","content":"what is refused_by_steadfast?"}]}"#;
    for format in FORMATS {
        assert_eq!(restore(format, request.as_bytes(), "s", &memory), None);
        assert_eq!(restore(format, b"refused_by_steadfast {", "s", &memory), None);
    }
}

#[test]
fn a_second_call_with_the_id_of_a_refused_one_keeps_its_result() {
    let wrapper = Refusal { tool: "rm".into(), namespace: None, input: "{}".into(), why: WHY.into() };
    let wrapper = wrapper_call(&wrapper);
    let call = |name: &str, arguments: &str| {
        serde_json::json!({"role": "assistant", "tool_calls": [
        {"id": "call_0", "type": "function", "function": {"name": name, "arguments": arguments}}]})
    };
    let output = |text: &str| serde_json::json!({"role": "tool", "tool_call_id": "call_0", "content": text});
    let request = |first: Value, second: Value| serde_json::json!({"messages": [first, second, call("ls", "{}"), output("a.txt")]});
    let sent = request(call(REFUSED_TOOL, &wrapper), output("unknown tool"));
    let restored = restore(WireFormat::Chat, sent.to_string().as_bytes(), "s", &RefusalMemory::default()).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&restored).unwrap(), request(call("rm", "{}"), output(WHY)));
}

fn wrapper_call(refusal: &Refusal) -> String {
    serde_json::json!({"tool": refusal.tool, "input": refusal.input, "why": refusal.why}).to_string()
}

#[test]
fn a_model_that_calls_our_tool_gets_its_own_call_back() {
    let stream = answer(WireFormat::Messages).replace("\"Write\"", &format!("\"{REFUSED_TOOL}\""));
    let played = play(WireFormat::Messages, &[stream.as_bytes()], &["Read"], &[REFUSED_TOOL]);
    assert_eq!(tools(&played.judged), [REFUSED_TOOL, "Read"]);
    let request = next_request(WireFormat::Messages, &stored(WireFormat::Messages, &played.bytes), result).to_string();
    let restored = restore(WireFormat::Messages, request.as_bytes(), "s", &RefusalMemory::default()).unwrap();
    let restored: Value = serde_json::from_slice(&restored).unwrap();
    assert_eq!(restored, expected(WireFormat::Messages, &stream, &[REFUSED_TOOL]));
}

#[test]
fn a_stream_that_breaks_inside_a_call_passes_as_it_is() {
    for format in FORMATS {
        let stream = answer(format);
        let cut = stream.find("a.tx").unwrap() + 3;
        let mut hold = CallHold::new(format, true);
        hold.push(Bytes::from(stream[..cut].to_owned()));
        let mut passed = Vec::new();
        let mut drain = |hold: &mut CallHold| {
            while let Some(step) = hold.next_step(|_| true) {
                match step {
                    HoldStep::Forward(bytes) => passed.extend_from_slice(&bytes),
                    other => panic!("{other:?}"),
                }
            }
        };
        drain(&mut hold);
        hold.break_off();
        drain(&mut hold);
        assert_eq!(String::from_utf8(passed).unwrap(), stream[..cut], "{format:?}");
    }
}

#[test]
fn a_call_without_arguments_is_refused_too() {
    let item = r#"{"type":"function_call","call_id":"c","name":"Write","arguments":""}"#;
    let event = |kind: &str| format!("data: {{\"type\":\"response.{kind}\",\"output_index\":0,\"item\":{item}}}\n\n");
    let stream = event("output_item.added") + &event("output_item.done");
    let played = play(WireFormat::Responses, &[stream.as_bytes()], &ALL, &ALL);
    let events = events(&played.bytes);
    assert_eq!(events[0]["item"]["arguments"], "");
    let wrapper: Value = serde_json::from_str(events[1]["item"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(wrapper, serde_json::json!({"tool": "Write", "input": "", "why": WHY}));
}

#[test]
fn calls_of_one_number_with_different_ids_are_two_calls() {
    let call = |id: &str, text: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"{id}\",\"function\":{{\"name\":\"Write\",\"arguments\":\"{text}\"}}}}]}}}}]}}\n\n"
        )
    };
    let stream = format!("{}{}data: [DONE]\n\n", call("a", "{}"), call("b", "[]"));
    let played = play(WireFormat::Chat, &[stream.as_bytes()], &ALL, &[]);
    let found: Vec<(&str, &str)> = played.judged.iter().map(|call| (&*call.id, &*call.input)).collect();
    assert_eq!(found, [("a", "{}"), ("b", "[]")]);
}

#[test]
fn an_error_in_the_stream_is_read() {
    let streams = [
        (WireFormat::Messages, r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#),
        (WireFormat::Responses, r#"{"type":"error","code":"overloaded_error","message":"busy"}"#),
        (
            WireFormat::Responses,
            r#"{"type":"response.failed","response":{"error":{"code":"overloaded_error","message":"busy"}}}"#,
        ),
        (WireFormat::Chat, r#"{"error":{"code":"overloaded_error","message":"busy"}}"#),
    ];
    for (format, data) in streams {
        let played = play(format, &[format!("data: {data}\n\n").as_bytes()], &[], &[]);
        let error = played.answer.error.unwrap();
        assert_eq!((&*error.kind, &*error.message), ("overloaded_error", "busy"), "{data}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunks_change_nothing(format in 0..3usize, sizes in prop::collection::vec(1usize..400, 1..8), refused in 0..4usize) {
        let format = FORMATS[format];
        let stream = answer(format);
        let refused = &ALL[..refused];
        let whole = play(format, &[stream.as_bytes()], &ALL, refused);
        let mut chunks = Vec::new();
        let mut rest = stream.as_bytes();
        for size in sizes.iter().cycle() {
            let (chunk, after) = rest.split_at(*size.min(&rest.len()));
            chunks.push(chunk);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let played = play(format, &chunks, &ALL, refused);
        prop_assert_eq!(stored(format, &played.bytes), stored(format, &whole.bytes));
        prop_assert_eq!((played.judged, played.refused, played.answer), (whole.judged, whole.refused, whole.answer));
    }

    #[test]
    fn any_text_passes_as_it_is(text in "(data: |\\{|\"type\":|\"content_block_start\"|\"index\":1|\n|\r|\\}|tool_use|,|\\[DONE\\]){0,60}") {
        for format in FORMATS {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(3).collect();
            let played = play(format, &chunks, &ALL, &[]);
            prop_assert_eq!(String::from_utf8(played.bytes).unwrap(), &*text);
        }
    }
}
