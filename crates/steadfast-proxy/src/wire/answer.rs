//! What a model answered.

use steadfast_splice::json::{JsonMembers, JsonText, JsonUnits};

/// The longest text that is kept of an answer. The stream itself has no such limit.
const TEXT_LIMIT: usize = 256 << 10;

/// The most thinking that goes with a call.
const CALL_THINKING: usize = 4 << 10;

/// A model's answer, as far as it has arrived. Its calls are reported one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelAnswer {
    pub model: String,
    /// What the model said, up to 256 kB.
    pub text: String,
    /// Its visible thinking, up to 256 kB.
    pub thinking: String,
    pub usage: Option<WireUsage>,
    /// Why the answer ended, in the words of its format. `None`: it did not end.
    pub stop: Option<String>,
    pub error: Option<AnswerError>,
    /// The headers about rate limits, by their names in lower case.
    pub limits: Vec<(String, String)>,
}

/// The tokens of an answer; each token counts in one field only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireUsage {
    pub input: u64,
    /// Tokens read from the model's cache.
    pub cached: u64,
    /// Tokens written to the cache.
    pub written: u64,
    pub output: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    pub kind: String,
    pub message: String,
}

impl AnswerError {
    /// Reads an error object. OpenAI names its kind in `code` or `type`.
    pub(super) fn of(error: JsonText<'_>) -> Self {
        let members = error.members();
        let text = |key| members.string(key).unwrap_or_default().into_owned();
        let kind = members.string("type").filter(|kind| kind != "error").or_else(|| members.string("code"));
        Self { kind: kind.unwrap_or_default().into_owned(), message: text("message") }
    }
}

impl ModelAnswer {
    /// Returns whether the answer ended and said what it used. What may follow is the end of its stream.
    pub(crate) fn is_counted(&self) -> bool {
        self.stop.is_some() && self.usage.is_some()
    }

    /// Returns the end of the visible thinking.
    pub(crate) fn last_thinking(&self) -> String {
        let from = self.thinking.len().saturating_sub(CALL_THINKING);
        self.thinking[self.thinking.ceil_char_boundary(from)..].to_owned()
    }

    pub(super) fn say(&mut self, text: JsonText<'_>) {
        add(&mut self.text, text);
    }

    pub(super) fn think(&mut self, text: JsonText<'_>) {
        add(&mut self.thinking, text);
    }

    pub(super) fn model_from(&mut self, members: &JsonMembers<'_>) {
        if let Some(model) = members.string("model").filter(|_| self.model.is_empty()) {
            self.model = model.into_owned();
        }
    }

    /// Takes Anthropic's counts. They are totals, and a later report may leave out some of them.
    pub(super) fn messages_usage(&mut self, usage: Option<JsonText<'_>>) {
        let Some(usage) = usage.filter(|usage| !usage.is_null()) else { return };
        let members = usage.members();
        let total = self.usage.get_or_insert_default();
        let counts = [
            (&mut total.input, "input_tokens"),
            (&mut total.cached, "cache_read_input_tokens"),
            (&mut total.written, "cache_creation_input_tokens"),
            (&mut total.output, "output_tokens"),
        ];
        for (count, key) in counts {
            *count = members.number(key).unwrap_or(*count);
        }
    }

    /// Takes OpenAI's counts. Its input includes the cached tokens.
    pub(super) fn openai_usage(&mut self, usage: Option<JsonText<'_>>) {
        let Some(usage) = usage.filter(|usage| !usage.is_null()) else { return };
        let members = usage.members();
        let either = |keys: [&str; 2]| keys.into_iter().find_map(|key| members.get(key));
        let number = |value: Option<JsonText<'_>>| value.and_then(JsonText::number).unwrap_or_default();
        let details = either(["input_tokens_details", "prompt_tokens_details"]);
        let cached = number(details.and_then(|details| details.get("cached_tokens")));
        let input = number(either(["input_tokens", "prompt_tokens"]));
        let output = number(either(["output_tokens", "completion_tokens"]));
        self.usage = Some(WireUsage { input: input.saturating_sub(cached), cached, written: 0, output });
    }
}

fn add(text: &mut String, piece: JsonText<'_>) {
    if text.len() < TEXT_LIMIT {
        let mut units = JsonUnits::default();
        units.push(piece);
        text.push_str(&units.into_string());
        if text.len() > TEXT_LIMIT {
            text.truncate(text.floor_char_boundary(TEXT_LIMIT));
        }
    }
}
