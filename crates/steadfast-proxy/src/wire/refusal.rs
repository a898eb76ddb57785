//! A refused call, and the call that takes its place.
//!
//! The client answers a call of a tool that does not exist with an error of its own: nothing runs and nobody is asked.
//! The arguments of that call hold the original, so that the original can be put back from the conversation alone.

use std::borrow::Cow;

use steadfast_splice::json::{JsonMembers, JsonText, quoted};

/// The tool that does not exist.
pub const REFUSED_TOOL: &str = "refused_by_steadfast";

/// A call of a tool, with its complete input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireCall {
    /// The id that the result refers to.
    pub id: String,
    pub tool: String,
    /// The group of the tool, where the format has groups.
    pub namespace: Option<String>,
    /// The model's own text: JSON for a function, anything for a custom tool.
    pub input: String,
    /// The input is longer than the proxy holds, and is missing here.
    pub is_cut: bool,
    pub kind: CallKind,
    /// The end of the visible thinking before the call.
    pub thinking: String,
}

impl WireCall {
    /// Returns whether the call can be replaced, and put back later byte for byte. A host refuses a function call whose
    /// input is not JSON itself, and runs nothing.
    pub(crate) fn can_be_refused(&self) -> bool {
        match self.kind {
            _ if self.is_cut => false,
            CallKind::Function => self.input.is_empty() || JsonText::of(self.input.as_bytes()).is_some(),
            CallKind::Custom => true,
            CallKind::Other => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    Function,
    /// A tool that takes text instead of JSON.
    Custom,
    /// A kind of call that the format has a type of its own for. It can be seen and not refused.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub tool: String,
    pub namespace: Option<String>,
    pub input: String,
    /// The reason, as the model reads it.
    pub why: String,
}

impl Refusal {
    pub fn of(call: &WireCall, why: impl Into<String>) -> Self {
        Self { tool: call.tool.clone(), namespace: call.namespace.clone(), input: call.input.clone(), why: why.into() }
    }

    /// Returns the arguments of the call that takes the place of the refused one.
    pub(super) fn wrapper(&self) -> String {
        let namespace = match &self.namespace {
            Some(namespace) => format!(r#","namespace":{}"#, quoted(namespace)),
            None => String::new(),
        };
        let [tool, input, why] = [&self.tool, &self.input, &self.why].map(|text| quoted(text));
        format!(r#"{{"tool":{tool}{namespace},"input":{input},"why":{why}}}"#)
    }

    /// Reads the arguments of such a call, as a client sends them back.
    pub(super) fn of_wrapper(wrapper: JsonText<'_>) -> Option<Self> {
        let members = wrapper.members();
        let text = |key| members.string(key).map(Cow::into_owned);
        Some(Self { tool: text("tool")?, namespace: text("namespace"), input: text("input")?, why: text("why")? })
    }

    /// Reads arguments that are JSON in a string.
    pub(super) fn of_quoted_wrapper(members: &JsonMembers<'_>, key: &str) -> Option<Self> {
        let text = members.string(key)?;
        Self::of_wrapper(JsonText::of(text.as_bytes())?)
    }

    /// Returns the input as JSON. A call without input has an empty one.
    pub(super) fn input_json(&self) -> &str {
        if JsonText::of(self.input.as_bytes()).is_some() { &self.input } else { "{}" }
    }
}

/// The calls of a conversation up to some point, with the reasons of the refused ones.
#[derive(Debug, Default)]
pub(super) struct Reasons(Vec<(String, Option<String>)>);

impl Reasons {
    /// Adds a call. Some models number their calls anew in each answer, so the newest call with an id counts.
    pub(super) fn call(&mut self, id: &str, refusal: Option<&Refusal>) {
        let why = refusal.map(|refusal| refusal.why.clone());
        match self.0.iter_mut().find(|(known, _)| known == id) {
            Some((_, reason)) => *reason = why,
            // A result without a known call has no reason either.
            None if why.is_none() => {}
            None => self.0.push((id.to_owned(), why)),
        }
    }

    /// Returns the reason that belongs into the result of a call. The outer `None`: no such call was refused.
    pub(super) fn of(&self, id: &str) -> Option<Option<String>> {
        self.0.iter().find(|(known, _)| known == id).map(|(_, reason)| reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_from_the_call_that_took_its_place() {
        for namespace in [None, Some("mcp__files".to_owned())] {
            let refusal = Refusal {
                tool: "Write".to_owned(),
                namespace,
                input: "{\"a\": 1.0, \"b\": \"\\ud83d\"}\n".to_owned(),
                why: "`a.txt` is protected\nby \"you\"".to_owned(),
            };
            assert_eq!(Refusal::of_wrapper(JsonText::of(refusal.wrapper().as_bytes()).unwrap()), Some(refusal));
        }
    }

    #[test]
    fn arguments_of_another_kind_are_no_refusal() {
        for text in ["{}", "[]", "1", r#"{"tool":"a","input":{},"why":"b"}"#, r#"{"tool":"a","input":"{}"}"#] {
            assert_eq!(Refusal::of_wrapper(JsonText::of(text.as_bytes()).unwrap()), None, "{text}");
        }
    }
}
