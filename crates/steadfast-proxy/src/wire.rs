//! The formats of models: which calls, text and usage an answer holds, and how one of its calls is refused.
//!
//! Every reader takes what it knows and ignores the rest, so that a new field or event breaks nothing.

mod answer;
mod body;
mod chat;
mod messages;
mod prompt;
mod refusal;
mod request;
mod responses;
mod results;

use bytes::Bytes;

pub use answer::{AnswerError, ModelAnswer, WireUsage};
pub use body::read_answer;
pub(crate) use body::{answer_of_body, refuse_in_body};
pub use prompt::WirePrompt;
pub use refusal::{CallKind, REFUSED_TOOL, Refusal, WireCall};
pub(crate) use request::{may_be_restored, restore};
pub(crate) use results::correct;
pub use results::{WireResult, results};

use steadfast_splice::sse::SseRecord;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
}

/// What a request to this path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub format: WireFormat,
    /// Its answer is a model's. Token counts and compactions have a conversation and no such answer.
    pub answers: bool,
}

impl WireFormat {
    /// A record that says nothing but that the answer goes on. Claude Code counts the time since the last event.
    pub(crate) fn keepalive(self) -> &'static [u8] {
        match self {
            Self::Messages => b"event: ping\ndata: {\"type\": \"ping\"}\n\n",
            Self::Responses | Self::Chat => b": keepalive\n\n",
        }
    }
}

impl Endpoint {
    /// Finds the format by the path, without its query. `None`: the exchange passes unseen.
    pub fn of(path: &str) -> Option<Self> {
        let known = |format, answers| Some(Self { format, answers });
        let mut parts = path.trim_end_matches('/').rsplit('/');
        match (parts.next()?, parts.next()?) {
            ("messages", _) => known(WireFormat::Messages, true),
            ("count_tokens", "messages") => known(WireFormat::Messages, false),
            ("responses", _) => known(WireFormat::Responses, true),
            ("compact" | "input_tokens", "responses") => known(WireFormat::Responses, false),
            ("completions", "chat") => known(WireFormat::Chat, true),
            _ => None,
        }
    }
}

/// The longest input of a call that is kept.
const INPUT_LIMIT: usize = 64 << 20;

/// Tells the calls of one answer apart: choice and position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallKey(pub(crate) u64, pub(crate) u64);

/// What a record of a stream adds to the calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallStep {
    /// Calls that begin, with their tools.
    pub(crate) opened: Vec<(CallKey, String)>,
    /// The call of each fragment in the record, in their order.
    pub(crate) fragments: Vec<CallKey>,
    /// Calls whose input is complete.
    pub(crate) completed: Vec<(CallKey, WireCall)>,
}

/// Reads the records of a streamed answer.
#[derive(Debug)]
pub(crate) enum StreamReader {
    Messages(messages::MessagesReader),
    Responses(responses::ResponsesReader),
    Chat(chat::ChatReader),
}

impl StreamReader {
    pub(crate) fn new(format: WireFormat) -> Self {
        match format {
            WireFormat::Messages => Self::Messages(messages::MessagesReader::default()),
            WireFormat::Responses => Self::Responses(responses::ResponsesReader::default()),
            WireFormat::Chat => Self::Chat(chat::ChatReader::default()),
        }
    }

    pub(crate) fn read(&mut self, record: &SseRecord) -> CallStep {
        let fields = record.fields();
        let Some(data) = fields.data else { return CallStep::default() };
        match self {
            Self::Messages(reader) => reader.read(&data),
            Self::Responses(reader) => reader.read(&data),
            Self::Chat(reader) => reader.read(&data),
        }
    }

    /// Ends the stream: some upstreams leave out the end of the last call.
    pub(crate) fn end(&mut self) -> CallStep {
        match self {
            Self::Chat(reader) => reader.end(),
            Self::Messages(_) | Self::Responses(_) => CallStep::default(),
        }
    }

    pub(crate) fn answer(&mut self) -> &mut ModelAnswer {
        match self {
            Self::Messages(reader) => &mut reader.answer,
            Self::Responses(reader) => &mut reader.answer,
            Self::Chat(reader) => &mut reader.answer,
        }
    }
}

/// A refused call of one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedCall {
    pub(crate) key: CallKey,
    pub(crate) id: String,
    pub(crate) refusal: Refusal,
}

impl RefusedCall {
    fn find(refused: &[Self], key: CallKey) -> Option<&Refusal> {
        refused.iter().find(|refused| refused.key == key).map(|refused| &refused.refusal)
    }
}

/// Writes the records of a stream with refused calls.
#[derive(Debug)]
pub(crate) struct StreamRefuser {
    format: WireFormat,
    refused: Vec<RefusedCall>,
    /// Calls whose first fragment of input has been written.
    begun: Vec<CallKey>,
}

impl StreamRefuser {
    pub(crate) fn new(format: WireFormat) -> Self {
        Self { format, refused: Vec::new(), begun: Vec::new() }
    }

    pub(crate) fn add(&mut self, refused: RefusedCall) {
        self.refused.push(refused);
    }

    /// Returns the bytes for a record. `fragments` are those of its [`CallStep`].
    pub(crate) fn write(&mut self, record: &SseRecord, fragments: &[CallKey]) -> Bytes {
        if self.refused.is_empty() {
            return record.bytes.clone();
        }
        match self.format {
            WireFormat::Messages => self.write_messages(record, fragments),
            WireFormat::Responses => self.write_responses(record),
            WireFormat::Chat => self.write_chat(record, fragments),
        }
    }

    fn refusal(&self, key: CallKey) -> Option<&Refusal> {
        RefusedCall::find(&self.refused, key)
    }

    /// Returns true for the first fragment of a call.
    fn begin(&mut self, key: CallKey) -> bool {
        let is_new = !self.begun.contains(&key);
        if is_new {
            self.begun.push(key);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_the_end_of_the_path() {
        let found = |path| Endpoint::of(path).map(|endpoint| (endpoint.format, endpoint.answers));
        assert_eq!(found("/v1/messages"), Some((WireFormat::Messages, true)));
        assert_eq!(found("/gateway/anthropic/v1/messages/"), Some((WireFormat::Messages, true)));
        assert_eq!(found("/v1/messages/count_tokens"), Some((WireFormat::Messages, false)));
        assert_eq!(found("/backend-api/codex/responses"), Some((WireFormat::Responses, true)));
        assert_eq!(found("/v1/responses/compact"), Some((WireFormat::Responses, false)));
        assert_eq!(found("/v1/chat/completions"), Some((WireFormat::Chat, true)));
        for path in ["/", "", "/v1/models", "/v1/completions", "/v1/messages/batches", "/v1/responses/resp_1"] {
            assert_eq!(found(path), None, "{path}");
        }
    }
}
