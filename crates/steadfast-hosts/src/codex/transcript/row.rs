use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shape::text;
use crate::transcript::{Number, Object, Text, TextOr, Words};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Row<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) payload: Object<Payload<'a>>,
}

/// The used fields of all payloads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(rename = "session_id", borrow)]
    pub(super) session: Text<'a>,
    pub(super) source: Source,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(rename = "turn_id", borrow)]
    pub(super) turn: Text<'a>,
    #[serde(rename = "collaboration_mode", borrow)]
    pub(super) mode: Object<Mode<'a>>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
    #[serde(rename = "last_agent_message", borrow)]
    pub(super) last_message: Text<'a>,
    pub(super) info: Object<Info>,
    #[serde(borrow)]
    pub(super) item: Object<Completed<'a>>,
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) content: TextOr<'a, Part<'a>>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) namespace: Text<'a>,
    #[serde(rename = "call_id", borrow)]
    pub(super) call: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) action: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
}

/// The item of an `item_completed` event, which newer versions write instead of an event of its own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Completed<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) content: TextOr<'a, Part<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mode<'a> {
    #[serde(borrow)]
    pub(super) mode: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Info {
    #[serde(rename = "total_token_usage")]
    pub(super) total: Object<Counted>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Counted {
    #[serde(rename = "input_tokens")]
    pub(super) input: Number,
    #[serde(rename = "cached_input_tokens")]
    pub(super) cached: Number,
    #[serde(rename = "cache_write_input_tokens")]
    pub(super) written: Number,
    #[serde(rename = "output_tokens")]
    pub(super) output: Number,
}

/// The source of a session: a word, or an object that names a subagent.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Source(Object<Named>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    subagent: Option<serde::de::IgnoredAny>,
}

impl Source {
    pub(super) fn is_subagent(&self) -> bool {
        self.0.0.as_ref().is_some_and(|named| named.subagent.is_some())
    }
}

pub(super) fn text_of<'a>(content: &TextOr<'a, Part<'a>>) -> Option<Cow<'a, str>> {
    match content {
        TextOr::Nothing => None,
        TextOr::Text(text) => Some(text.clone()),
        TextOr::List(parts) => parts.iter().find_map(|part| part.text).map(|text| Words(text).text()),
    }
}

/// The arguments of a tool: JSON inside a string.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments {
    cmd: Option<Box<RawValue>>,
    command: Option<Box<RawValue>>,
    pub(super) input: Option<Box<RawValue>>,
}

impl Arguments {
    pub(super) fn read(raw: Option<&RawValue>) -> Self {
        let raw = raw.map(RawValue::get).unwrap_or_default();
        let inner: Cow<'_, str> = match raw.starts_with('"') {
            true => Cow::Owned(serde_json::from_str(raw).unwrap_or_default()),
            false => Cow::Borrowed(raw),
        };
        if inner.starts_with('{') { serde_json::from_str(&inner).unwrap_or_default() } else { Self::default() }
    }

    /// Returns the command line: a text, or a list of words. In `[sh, -c, line]` the last word is the line.
    pub(super) fn shell(&self) -> Option<String> {
        let raw = self.cmd.as_deref().or(self.command.as_deref());
        if let Some(line) = text(raw) {
            return Some(line);
        }
        let words: Vec<String> = serde_json::from_str(raw?.get()).ok()?;
        match words.as_slice() {
            [shell, flag, line] if shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c') => {
                Some(line.clone())
            }
            words => Some(words.join(" ")),
        }
    }
}
