//! The results of calls in a request.

use steadfast_splice::json::JsonText;

use super::WireFormat;

/// The most results that are read from the end of a conversation. A model makes a few calls at once.
const RESULTS: usize = 256;

/// The longest output that is kept.
const OUTPUT_LIMIT: usize = 1 << 20;

/// The result of a call, as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireResult {
    /// The id of the call.
    pub id: String,
    /// The host reports that the call failed. Not every format has this.
    pub is_error: bool,
    /// The output as JSON: a text or a list of parts. Empty if it is longer than the proxy keeps.
    pub output: String,
}

impl WireResult {
    fn of(item: JsonText<'_>, id: &str, output: &str) -> Option<Self> {
        let members = item.members();
        let id = members.string(id)?.into_owned();
        let is_error = members.get("is_error").is_some_and(|value| value.text() == "true");
        let output = members.get(output).map(JsonText::text).filter(|output| output.len() <= OUTPUT_LIMIT);
        Some(Self { id, is_error, output: output.unwrap_or_default().to_owned() })
    }
}

/// Returns the results at the end of a conversation, the newest first.
pub fn results(format: WireFormat, document: &[u8]) -> Vec<WireResult> {
    let Some(body) = JsonText::of(document) else { return Vec::new() };
    let items = |key| body.get(key).map(JsonText::elements).unwrap_or_default().into_iter().rev().take(RESULTS);
    match format {
        WireFormat::Messages => items("messages")
            .flat_map(|message| message.get("content").map(JsonText::elements).unwrap_or_default())
            .filter(|block| block.members().is("type", "tool_result"))
            .filter_map(|block| WireResult::of(block, "tool_use_id", "content"))
            .take(RESULTS)
            .collect(),
        WireFormat::Responses => items("input")
            .filter(|item| item.members().string("type").is_some_and(|kind| kind.ends_with("_call_output")))
            .filter_map(|item| WireResult::of(item, "call_id", "output"))
            .collect(),
        WireFormat::Chat => items("messages")
            .filter(|message| message.members().is("role", "tool"))
            .filter_map(|message| WireResult::of(message, "tool_call_id", "content"))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_from_each_format() {
        let found = |format, body: &str| -> Vec<(String, bool, String)> {
            let found = results(format, body.as_bytes());
            found.into_iter().map(|WireResult { id, is_error, output }| (id, is_error, output)).collect()
        };
        let messages = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use",
            "id":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true},
            {"type":"text","text":"x"}]}]}"#;
        assert_eq!(found(WireFormat::Messages, messages), [("a".to_owned(), true, "\"no\"".to_owned())]);
        let responses = r#"{"input":[{"type":"function_call","call_id":"a"},
            {"type":"function_call_output","call_id":"a","output":"1"},
            {"type":"custom_tool_call_output","call_id":"b","output":[2]}]}"#;
        let expected = [("b".to_owned(), false, "[2]".to_owned()), ("a".to_owned(), false, "\"1\"".to_owned())];
        assert_eq!(found(WireFormat::Responses, responses), expected);
        let chat = r#"{"messages":[{"role":"tool","tool_call_id":"a","content":"1"}]}"#;
        assert_eq!(found(WireFormat::Chat, chat), [("a".to_owned(), false, "\"1\"".to_owned())]);
        for broken in ["", "[]", "{", r#"{"messages":1}"#] {
            assert_eq!(found(WireFormat::Messages, broken), []);
        }
    }
}
