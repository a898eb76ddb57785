//! The prompt at the end of a request.

use std::borrow::Cow;

use super::WireFormat;
use steadfast_splice::json::{JsonMembers, JsonText};

/// The longest text that is read.
const TEXT_LIMIT: usize = 256 << 10;

/// The end of a request, after the last answer of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WirePrompt {
    /// The texts of the user's side: of the human, and those that the host adds. Empty if the model goes on with results
    /// of its calls.
    pub texts: Vec<String>,
    /// The length of the conversation. The same prompt with the same length is the same request again.
    pub length: usize,
}

impl WirePrompt {
    /// Reads the end of a request. `None`: the request offers no tools, so it is not about the agent's work.
    pub fn of(format: WireFormat, document: &[u8]) -> Option<Self> {
        let body = JsonText::of(document)?.members();
        body.get("tools").filter(|tools| !tools.elements().is_empty())?;
        let key = if format == WireFormat::Responses { "input" } else { "messages" };
        let items = body.get(key)?;
        if let Some(text) = items.string() {
            return Some(Self { texts: vec![text.into_owned()], length: 1 });
        }
        let items = items.elements();
        let mut texts: Vec<String> = Vec::new();
        for item in items.iter().rev().map(|item| item.members()) {
            match item.string("role").as_deref() {
                Some("system" | "developer") => {}
                Some("user") if has_results(&item) => {
                    texts.clear();
                    break;
                }
                Some("user") => texts.splice(0..0, texts_of(&item)).for_each(drop),
                Some("tool") => {
                    texts.clear();
                    break;
                }
                // Responses have results without a role.
                None if item.string("type").is_some_and(|kind| kind.ends_with("_output")) => {
                    texts.clear();
                    break;
                }
                _ => break,
            }
        }
        Some(Self { texts, length: items.len() })
    }
}

fn parts<'a>(message: &JsonMembers<'a>) -> Vec<JsonText<'a>> {
    message.get("content").map(JsonText::elements).unwrap_or_default()
}

fn has_results(message: &JsonMembers<'_>) -> bool {
    parts(message).into_iter().any(|part| part.members().is("type", "tool_result"))
}

fn texts_of(message: &JsonMembers<'_>) -> Vec<String> {
    let whole = message.get("content").filter(|content| content.is_string());
    let parts = parts(message).into_iter().filter_map(|part| part.get("text"));
    let texts = whole.into_iter().chain(parts).filter(|text| text.text().len() <= TEXT_LIMIT);
    texts.filter_map(JsonText::string).map(Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(format: WireFormat, items: &str) -> Vec<String> {
        let key = if format == WireFormat::Responses { "input" } else { "messages" };
        let body = format!(r#"{{"tools":[{{}}],"{key}":{items}}}"#);
        WirePrompt::of(format, body.as_bytes()).unwrap().texts
    }

    #[test]
    fn the_texts_after_the_last_answer_are_the_prompt() {
        let messages = r#"[{"role":"user","content":"old"},{"role":"assistant","content":[{"type":"text","text":"Done."}]},
            {"role":"user","content":[{"type":"text","text":"<system-reminder>"},{"type":"image"}]},{"role":"user","content":"Go on."},
            {"role":"system","content":"a note"}]"#;
        assert_eq!(texts(WireFormat::Messages, messages), ["<system-reminder>", "Go on."]);
        let responses = r#"[{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Fix \"it\"."}]}]"#;
        assert_eq!(texts(WireFormat::Responses, responses), ["Fix \"it\"."]);
        assert_eq!(texts(WireFormat::Responses, r#""Fix it.""#), ["Fix it."]);
        let chat = r#"[{"role":"system","content":"s"},{"role":"user","content":"Fix it."}]"#;
        assert_eq!(texts(WireFormat::Chat, chat), ["Fix it."]);
    }

    #[test]
    fn a_request_with_results_at_its_end_has_no_prompt() {
        let messages = r#"[{"role":"user","content":"Fix it."},{"role":"assistant","content":[{"type":"tool_use"}]},
            {"role":"user","content":[{"type":"tool_result"},{"type":"text","text":"<system-reminder>"}]},
            {"role":"user","content":"a reminder"}]"#;
        assert_eq!(texts(WireFormat::Messages, messages), [""; 0]);
        let responses =
            r#"[{"role":"user","content":"Fix it."},{"type":"function_call"},{"type":"function_call_output"}]"#;
        assert_eq!(texts(WireFormat::Responses, responses), [""; 0]);
        let chat = r#"[{"role":"user","content":"x"},{"role":"assistant"},{"role":"tool","content":"y"}]"#;
        assert_eq!(texts(WireFormat::Chat, chat), [""; 0]);
    }

    #[test]
    fn a_request_without_tools_is_none_of_the_agents_work() {
        for body in
            [r#"{"messages":[{"role":"user","content":"A title?"}]}"#, r#"{"tools":[],"messages":[]}"#, "", "[]"]
        {
            assert_eq!(WirePrompt::of(WireFormat::Messages, body.as_bytes()), None, "{body}");
        }
    }
}
