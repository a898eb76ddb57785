use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::{Flag, Number, Object, Text, TextOr};

/// The fields of a row that are used. Other fields, and rows of unknown types, are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Row<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) subtype: Text<'a>,
    #[serde(rename = "sessionId", borrow)]
    pub(super) session: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(rename = "promptId", borrow)]
    pub(super) prompt: Text<'a>,
    /// The source of the prompt, in newer versions.
    #[serde(borrow)]
    pub(super) prompt_source: Text<'a>,
    #[serde(borrow)]
    pub(super) origin: Object<Origin<'a>>,
    #[serde(borrow)]
    pub(super) permission_mode: Text<'a>,
    #[serde(rename = "agentId", borrow)]
    pub(super) agent: Text<'a>,
    #[serde(rename = "isSidechain")]
    pub(super) sidechain: Flag,
    #[serde(rename = "isMeta")]
    pub(super) meta: Flag,
    #[serde(rename = "isCompactSummary")]
    pub(super) summary: Flag,
    #[serde(rename = "isApiErrorMessage")]
    pub(super) api_error: Flag,
    #[serde(borrow)]
    pub(super) message: Object<Message<'a>>,
    #[serde(borrow)]
    pub(super) data: Object<Progress<'a>>,
    #[serde(rename = "compactMetadata", borrow)]
    pub(super) compaction: Object<Compaction<'a>>,
    #[serde(rename = "parentToolUseID", borrow)]
    pub(super) parent_tool_use: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) attachment: Object<Attachment<'a>>,
    #[serde(borrow)]
    pub(super) operation: Text<'a>,
    /// The content of a row without a message.
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(rename = "continuedInSessionId", borrow)]
    pub(super) continued_in: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(rename = "hookEvent", borrow)]
    pub(super) hook_event: Text<'a>,
    #[serde(borrow)]
    pub(super) prompt: TextOr<'a, Block<'a>>,
    /// The error of a hook that kept the agent working.
    #[serde(rename = "blockingError", borrow)]
    pub(super) blocking_error: Object<BlockingError<'a>>,
    /// The texts of a hook, in newer versions as feedback that kept the agent working.
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BlockingError<'a> {
    #[serde(rename = "blockingError", borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) command: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) content: TextOr<'a, Block<'a>>,
    pub(super) usage: Object<Usage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(rename = "tool_use_id", borrow)]
    pub(super) tool_use: Text<'a>,
    pub(super) is_error: Flag,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    #[serde(rename = "input_tokens")]
    pub(super) input: Number,
    #[serde(rename = "cache_read_input_tokens")]
    pub(super) cache_read: Number,
    #[serde(rename = "cache_creation_input_tokens")]
    pub(super) cache_write: Number,
    #[serde(rename = "output_tokens")]
    pub(super) output: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Compaction<'a> {
    #[serde(borrow)]
    pub(super) trigger: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Progress<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(rename = "agentId", borrow)]
    pub(super) agent: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Object<Inner<'a>>,
}

/// A row nested in a `progress` row.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Inner<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Object<Message<'a>>,
    #[serde(rename = "toolUseResult", borrow)]
    pub(super) tool_use_result: Option<&'a RawValue>,
}

/// The host's own data about a result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Started<'a> {
    pub(super) interrupted: Flag,
    #[serde(rename = "durationMs")]
    pub(super) millis: Number,
    #[serde(rename = "totalDurationMs")]
    pub(super) total_millis: Number,
    #[serde(rename = "agentId", borrow)]
    pub(super) agent: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(rename = "backgroundTaskId", borrow)]
    pub(super) background: Text<'a>,
}

impl<'a> Started<'a> {
    pub(super) fn read(raw: Option<&'a RawValue>) -> Self {
        let raw = raw.map(RawValue::get).unwrap_or_default();
        // serde would read a list as an object with its fields in order.
        if raw.starts_with('{') { serde_json::from_str(raw).unwrap_or_default() } else { Self::default() }
    }
}
