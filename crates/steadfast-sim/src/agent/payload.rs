//! The JSON a hook reads, with the fields that recordings of Claude Code 2.1.325 have.

use serde_json::{Map, Value, json};

use super::moment::Who;

/// The session fields of every event.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    pub(super) session_id: String,
    pub(super) transcript_path: String,
    pub(super) cwd: String,
    /// Set from the first prompt on.
    pub(super) prompt_id: Option<String>,
}

/// An event with its own fields.
#[derive(Debug)]
pub(super) enum Event<'a> {
    SessionStart { source: &'static str },
    UserPromptSubmit { prompt: &'a str },
    PreToolUse(ToolFields<'a>),
    PostToolUse { tool: ToolFields<'a>, response: &'a Value, milliseconds: u64 },
    PostToolUseFailure { tool: ToolFields<'a>, error: &'a str, milliseconds: u64 },
    PostToolBatch { calls: Vec<Value> },
    SubagentStart,
    SubagentStop { stop: StopFields<'a>, transcript: String },
    Stop(StopFields<'a>),
    StopFailure { error: &'static str, message: String },
    PreCompact { trigger: &'static str },
    PostCompact { trigger: &'static str, summary: &'a str },
    SessionEnd,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ToolFields<'a> {
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
    pub(super) id: &'a str,
}

#[derive(Debug, Clone)]
pub(super) struct StopFields<'a> {
    pub(super) active: bool,
    pub(super) message: &'a str,
    pub(super) background: Vec<Value>,
}

impl Event<'_> {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::SessionStart { .. } => "SessionStart",
            Self::UserPromptSubmit { .. } => "UserPromptSubmit",
            Self::PreToolUse(_) => "PreToolUse",
            Self::PostToolUse { .. } => "PostToolUse",
            Self::PostToolUseFailure { .. } => "PostToolUseFailure",
            Self::PostToolBatch { .. } => "PostToolBatch",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop { .. } => "SubagentStop",
            Self::Stop(_) => "Stop",
            Self::StopFailure { .. } => "StopFailure",
            Self::PreCompact { .. } => "PreCompact",
            Self::PostCompact { .. } => "PostCompact",
            Self::SessionEnd => "SessionEnd",
        }
    }

    pub(super) fn payload(&self, envelope: &Envelope, who: &Who) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("session_id", json!(envelope.session_id));
        put("transcript_path", json!(envelope.transcript_path));
        put("cwd", json!(envelope.cwd));
        if let Some(prompt) = &envelope.prompt_id {
            put("prompt_id", json!(prompt));
        }
        if self.has_permission_mode() {
            put("permission_mode", json!("bypassPermissions"));
        }
        if let Who::Subagent { id, kind } = who {
            put("agent_id", json!(id));
            put("agent_type", json!(kind));
        }
        if self.has_effort() {
            put("effort", json!({"level": "medium"}));
        }
        put("hook_event_name", json!(self.name()));
        self.own_fields(&mut fields);
        Value::Object(fields)
    }

    fn has_permission_mode(&self) -> bool {
        match self {
            Self::UserPromptSubmit { .. }
            | Self::PreToolUse(_)
            | Self::PostToolUse { .. }
            | Self::PostToolUseFailure { .. }
            | Self::PostToolBatch { .. }
            | Self::SubagentStop { .. }
            | Self::Stop(_) => true,
            Self::SessionStart { .. }
            | Self::SubagentStart
            | Self::StopFailure { .. }
            | Self::PreCompact { .. }
            | Self::PostCompact { .. }
            | Self::SessionEnd => false,
        }
    }

    fn has_effort(&self) -> bool {
        match self {
            Self::UserPromptSubmit { .. } => false,
            Self::StopFailure { .. } => true,
            _ => self.has_permission_mode(),
        }
    }

    fn own_fields(&self, fields: &mut Map<String, Value>) {
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        match self {
            Self::SessionStart { source } => {
                put("source", json!(source));
            }
            Self::UserPromptSubmit { prompt } => {
                put("prompt", json!(prompt));
            }
            Self::PreToolUse(tool) => tool.fill(fields),
            Self::PostToolUse { tool, response, milliseconds } => {
                put("tool_response", (*response).clone());
                put("duration_ms", json!(milliseconds));
                tool.fill(fields);
            }
            Self::PostToolUseFailure { tool, error, milliseconds } => {
                put("error", json!(error));
                put("is_interrupt", json!(false));
                put("duration_ms", json!(milliseconds));
                tool.fill(fields);
            }
            Self::PostToolBatch { calls } => {
                put("tool_calls", json!(calls));
            }
            Self::SubagentStop { stop, transcript } => {
                put("agent_transcript_path", json!(transcript));
                stop.fill(fields);
            }
            Self::Stop(stop) => stop.fill(fields),
            Self::StopFailure { error, message } => {
                put("error", json!(error));
                put("last_assistant_message", json!(message));
            }
            Self::PreCompact { trigger } => {
                put("trigger", json!(trigger));
                put("custom_instructions", Value::Null);
            }
            Self::PostCompact { trigger, summary } => {
                put("trigger", json!(trigger));
                put("compact_summary", json!(summary));
            }
            Self::SessionEnd => {
                put("reason", json!("other"));
            }
            Self::SubagentStart => {}
        }
    }
}

impl ToolFields<'_> {
    fn fill(&self, fields: &mut Map<String, Value>) {
        fields.insert("tool_name".to_owned(), json!(self.name));
        fields.insert("tool_input".to_owned(), self.input.clone());
        fields.insert("tool_use_id".to_owned(), json!(self.id));
    }
}

impl StopFields<'_> {
    fn fill(&self, fields: &mut Map<String, Value>) {
        fields.insert("stop_hook_active".to_owned(), json!(self.active));
        fields.insert("last_assistant_message".to_owned(), json!(self.message));
        fields.insert("background_tasks".to_owned(), json!(self.background));
        fields.insert("session_crons".to_owned(), json!([]));
    }
}
