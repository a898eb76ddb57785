use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tests::client::FORMATS;

fn all(format: WireFormat, body: &str) -> Vec<WireResult> {
    results(format, body.as_bytes(), |_| true)
}

/// A request with a result that has this output. `""`: it has none.
fn request(format: WireFormat, output: &str) -> String {
    let output = |key: &str| if output.is_empty() { String::new() } else { format!(r#","{key}": {output} "#) };
    match format {
        WireFormat::Messages => format!(
            r#"{{ "messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"Bash","input":{{"x": 1.0}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a"{},"cache_control":{{"type":"ephemeral"}}}},
            {{"type":"text","text":"x"}}]}}],"n":1e2}}"#,
            output("content")
        ),
        WireFormat::Responses => format!(
            r#"{{"input":[{{"type":"function_call","call_id":"a","name":"Bash","arguments":"{{\"x\": 1.0}}"}},
            {{"type":"function_call_output","call_id":"a"{}}}],"n":1e2}}"#,
            output("output")
        ),
        WireFormat::Chat => format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"a","function":{{"name":"Bash","arguments":"{{\"x\": 1.0}}"}}}}]}},
            {{"role":"tool","tool_call_id":"a"{}}}],"n":1e2}}"#,
            output("content")
        ),
    }
}

fn corrected(format: WireFormat, body: &str, text: &str) -> Option<String> {
    let found = all(format, body);
    let corrected = correct(format, body.as_bytes(), found.iter().map(|result| (result, text)));
    corrected.map(|body| String::from_utf8(body.to_vec()).unwrap())
}

#[test]
fn results_are_read_with_their_calls() {
    let found = |format, body: &str| -> Vec<(String, String, bool, String)> {
        let found = all(format, body).into_iter();
        found.map(|result| (result.id, result.tool, result.is_error, result.output)).collect()
    };
    let result =
        |id: &str, tool: &str, is_error, output: &str| (id.to_owned(), tool.to_owned(), is_error, output.to_owned());
    let messages = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use",
        "id":"a","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no",
        "is_error":true},{"type":"text","text":"x"}]}]}"#;
    assert_eq!(found(WireFormat::Messages, messages), [result("a", "Read", true, "\"no\"")]);
    let responses = r#"{"input":[{"type":"function_call","call_id":"a","name":"shell","arguments":"{}"},
        {"type":"function_call_output","call_id":"a","output":"1"},
        {"type":"custom_tool_call_output","call_id":"b","output":[2]}]}"#;
    let expected = [result("a", "shell", false, "\"1\""), result("b", "", false, "[2]")];
    assert_eq!(found(WireFormat::Responses, responses), expected);
    let chat = r#"{"messages":[{"role":"tool","tool_call_id":"a","content":"1"}]}"#;
    assert_eq!(found(WireFormat::Chat, chat), [result("a", "", false, "\"1\"")]);
    for broken in ["", "[]", "{", r#"{"messages":1}"#] {
        assert_eq!(found(WireFormat::Messages, broken), []);
    }
}

#[test]
fn only_wanted_results_are_read() {
    for format in FORMATS {
        let body = request(format, "\"x\"");
        let found = results(format, body.as_bytes(), |id| id == "a");
        assert_eq!((&*found[0].tool, &*found[0].input), ("Bash", r#"{"x": 1.0}"#), "{format:?}");
        assert_eq!(results(format, body.as_bytes(), |id| id == "b"), []);
    }
}

#[test]
fn a_result_belongs_to_the_newest_call_with_its_id() {
    let body = r#"{"messages":[
        {"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"A","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"call_0","content":"1"},
        {"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"B","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"call_0","content":"2"}]}"#;
    let found = all(WireFormat::Chat, body);
    assert_eq!(found.iter().map(|result| &*result.tool).collect::<Vec<_>>(), ["A", "B"]);
    let second = correct(WireFormat::Chat, body.as_bytes(), [(&found[1], "why")]).unwrap();
    assert_eq!(second, body.replace("\"content\":\"2\"", "\"content\":\"2\\n\\nwhy\"").as_bytes());
}

#[test]
fn a_text_is_added_to_any_output_and_all_other_bytes_stay() {
    let text = "not \"asked\" for\n\u{1f600}";
    let quoted_text = r#"not \"asked\" for\n😀"#;
    let part = |format, text: &str| {
        let kind = if format == WireFormat::Responses { "input_text" } else { "text" };
        format!(r#"{{"type":"{kind}","text":"{text}"}}"#)
    };
    for format in FORMATS {
        let mark = r#""cache_control":{"type":"ephemeral"}"#;
        let image = r#"{"type":"image","source":{}}"#;
        let added = part(format, quoted_text);
        for (before, after) in [
            (r#""""#.to_owned(), format!(r#""{quoted_text}""#)),
            (r#""a\ud83d""#.to_owned(), format!(r#""a\ud83d\n\n{quoted_text}""#)),
            ("null".to_owned(), format!(r#""{quoted_text}""#)),
            ("[]".to_owned(), format!("[{added}]")),
            (format!("[ {image} ]"), format!("[ {image} ,{added}]")),
            (
                format!(r#"[{image}, {{"type":"text","text":"a" ,{mark}}} ]"#),
                format!(r#"[{image}, {{"type":"text","text":"a\n\n{quoted_text}" ,{mark}}} ]"#),
            ),
        ] {
            let expected = request(format, &after);
            assert_eq!(corrected(format, &request(format, &before), text), Some(expected), "{format:?} {before}");
        }
        let absent = corrected(format, &request(format, ""), text).unwrap();
        let output = all(format, &absent).remove(0).output;
        assert_eq!(output, format!(r#""{quoted_text}""#), "{format:?}");
        for unknown in ["1", r#"{"stdout":""}"#] {
            assert_eq!(corrected(format, &request(format, unknown), text), None, "{format:?}");
        }
    }
}

#[test]
fn a_string_and_a_list_with_one_text_get_the_same_words() {
    for format in FORMATS {
        let text_of = |body: &str| -> String {
            let output = all(format, body).remove(0).output;
            let output = JsonText::of(output.as_bytes()).unwrap();
            let text = output.elements().first().and_then(|part| part.get("text")).unwrap_or(output);
            text.string().unwrap().into_owned()
        };
        let both = [r#""ran""#, r#"[{"type":"text","text":"ran"}]"#];
        let said = both.map(|output| text_of(&corrected(format, &request(format, output), "why").unwrap()));
        assert_eq!(said, ["ran\n\nwhy", "ran\n\nwhy"], "{format:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_added_to_any_output_and_nothing_else_changes(output: String, text: String, is_list: bool) {
        for format in FORMATS {
            let written = |text: &str| match is_list {
                true => json!([{"type": "image"}, {"type": "text", "text": text, "cache_control": {}}]).to_string(),
                false => json!(text).to_string(),
            };
            let gap = if output.is_empty() { "" } else { "\n\n" };
            let expected = request(format, &written(&format!("{output}{gap}{text}")));
            let found = corrected(format, &request(format, &written(&output)), &text);
            prop_assert_eq!(found.unwrap(), expected);
        }
    }
}
