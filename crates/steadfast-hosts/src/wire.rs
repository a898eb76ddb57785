//! Converts a host's hook payload into an event, and an answer into the host's JSON.

use std::path::PathBuf;

use steadfast_model::{
    Action, Agent, AgentId, Answer, BackgroundTask, Content, DialogAnswer, Event, EventKind, EventName, Host, Millis,
    Outcome, PromptOrigin, SessionId, StartSource, Stopping, ToolCall, ToolResult, ToolUseId, Via, fnv,
};

use crate::claude::ClaudeVersion;
use crate::shape::{Input, content, cut, cut_front, document, list_call, reported_item, with_response, write};
use crate::{claude, codex};

/// Limits for the stored parts of an event, in bytes or elements.
pub(crate) mod bound {
    pub(crate) const NAME: usize = 256;
    pub(crate) const PATH: usize = 4_096;
    /// The end of the message is kept, because a promise is at the end.
    pub(crate) const MESSAGE: usize = 4_096;
    pub(crate) const ERROR: usize = 1_024;
    pub(crate) const BACKGROUND: usize = 32;
    pub(crate) const PATHS: usize = 32;
    pub(crate) const ANSWERS: usize = 8;
    pub(crate) const NAMES: usize = 64;
}

/// Data from the hook's process that the payload may lack.
#[derive(Clone, Debug)]
pub struct WireContext {
    pub at: Millis,
    pub cwd: String,
    /// The session in the host's environment.
    pub session: Option<SessionId>,
    /// True if a human is present, from the host's environment.
    pub attended: Option<bool>,
    /// Another host, from the environment. The environment is inherited, so the payload must confirm it.
    pub other_host: Option<&'static str>,
}

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("unknown event `{0}`")]
    UnknownEvent(String),
    #[error("the payload is empty")]
    Empty,
    #[error("the payload is not a JSON object")]
    NotAnObject,
    #[error("the payload is not a JSON object: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("the payload has no valid `{0}`")]
    Missing(&'static str),
    #[error("the payload comes from another host, {0}")]
    OtherHost(&'static str),
}

/// Reads one event. Tolerant: unknown fields are ignored, and a field of another type counts as absent.
pub fn decode(host: Host, via: Via, name: &str, payload: &[u8], context: &WireContext) -> Result<Event, WireError> {
    let name = EventName::parse(name).ok_or_else(|| WireError::UnknownEvent(cut(name, bound::NAME)))?;
    let payload = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload);
    match payload.trim_ascii_start().first() {
        None => return Err(WireError::Empty),
        // serde would read a list as an object with its fields in order.
        Some(byte) if *byte != b'{' => return Err(WireError::NotAnObject),
        Some(_) => {}
    }
    let input: Input<'_> = serde_json::from_slice(payload)?;
    if input.cursor_version.is_some() {
        return Err(WireError::OtherHost("Cursor"));
    }
    // Claude Code sends `session_id` and no `timestamp`, even if another host started it. So such a payload is its own.
    if let Some(other) = context.other_host.filter(|_| input.timestamp.is_some() || input.session_id.is_none()) {
        return Err(WireError::OtherHost(other));
    }
    let session = short_text(input.session_id).map(SessionId::new).or_else(|| context.session.clone());
    let session = session.filter(|id| !id.as_str().is_empty()).ok_or(WireError::Missing("session_id"))?;
    let mode = Input::text(input.permission_mode);
    let mut kind = kind(host, name, &input)?;
    let content = content_of(&kind, &input);
    let is_cut = read_limit(&mut kind);

    Ok(Event {
        at: context.at,
        host,
        via,
        session,
        agent: agent(&input),
        role: role(&input),
        cwd: Input::text(input.cwd).map_or_else(|| context.cwd.clone(), |cwd| cut(&cwd, bound::PATH)),
        turn: short_text(input.prompt_id).or_else(|| short_text(input.turn_id)),
        planning: mode.as_deref() == Some("plan"),
        unasked: matches!(mode.as_deref(), Some("bypassPermissions" | "auto" | "dontAsk")),
        attended: context.attended,
        cut: is_cut,
        abridged: false,
        input: input.tool_input.map(|raw| hash_text(raw.get())),
        thinking: None,
        content,
        kind,
    })
}

/// Returns the words that an event's call writes, or those of its result.
fn content_of(kind: &EventKind, input: &Input<'_>) -> Content {
    match kind {
        EventKind::PreTool(call) => input.tool_input(|fields| content::written(&call.action, fields)),
        EventKind::PostTool(ToolResult { call, .. }) => match &call.action {
            action @ Action::Write { .. } => input.tool_input(|fields| content::written(action, fields)),
            action => content::answered(action, input.tool_response),
        },
        _ => Content::default(),
    }
}

/// Truncates a command or a prompt to the length that rules read. Returns true if it was longer.
fn read_limit(kind: &mut EventKind) -> bool {
    let text = match kind {
        EventKind::Prompt { text, .. } => text,
        EventKind::PreTool(ToolCall { action: Action::Shell { command, .. }, .. })
        | EventKind::Permission(ToolCall { action: Action::Shell { command, .. }, .. })
        | EventKind::PostTool(ToolResult { call: ToolCall { action: Action::Shell { command, .. }, .. }, .. }) => {
            command
        }
        _ => return false,
    };
    let is_longer = text.len() > Event::READ;
    text.truncate(text.floor_char_boundary(Event::READ));
    is_longer
}

/// Hashes a text, eight bytes at a time because it may contain whole files.
fn hash_text(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let seed = fnv([rest]) ^ u64::try_from(text.len()).unwrap_or(u64::MAX);
    words
        .iter()
        .fold(seed, |hash, word| (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}

/// Returns the path of the session's transcript, if the payload has it.
pub fn transcript_path(payload: &[u8]) -> Option<PathBuf> {
    #[derive(serde::Deserialize)]
    struct Payload {
        transcript_path: Option<PathBuf>,
    }
    let payload: Payload = serde_json::from_slice(payload).ok()?;
    payload.transcript_path.filter(|path| path.is_absolute())
}

/// Writes the host's JSON for an answer; `None` if there is nothing to say. `version` is that of Claude Code; without it
/// the answer has the form that every version knows.
pub fn encode(host: Host, version: Option<ClaudeVersion>, event: EventName, answer: &Answer) -> Option<String> {
    if answer.is_pass() {
        return None;
    }
    let (can, limit) = match host {
        Host::Claude => (claude::can(event, version), claude::TEXT_LIMIT),
        Host::Sim => (claude::can(event, None), claude::TEXT_LIMIT),
        Host::Codex => (codex::can(event), codex::TEXT_LIMIT),
    };
    write(event, can, answer, limit)
}

fn kind(host: Host, name: EventName, input: &Input<'_>) -> Result<EventKind, WireError> {
    Ok(match name {
        EventName::SessionStart => EventKind::SessionStart {
            source: match Input::text(input.source).as_deref() {
                Some("startup") => StartSource::Startup,
                Some("resume") => StartSource::Resume,
                Some("clear") => StartSource::Clear,
                Some("compact") => StartSource::Compact,
                Some("fork") => StartSource::Fork,
                _ => StartSource::Other,
            },
        },
        EventName::SessionEnd => EventKind::SessionEnd { reason: short_text(input.reason).unwrap_or_default() },
        EventName::UserPromptSubmit => {
            let text = Input::text(input.prompt).ok_or(WireError::Missing("prompt"))?;
            // Codex passes a subagent's task as a prompt: it comes from the parent, not from the human.
            let source = Input::text(input.source);
            let origin = match input.agent_id {
                Some(_) => PromptOrigin::Machine,
                None => claude::origin(&text, source.as_deref()),
            };
            let typed = origin == PromptOrigin::Human && source.as_deref() == Some("user");
            EventKind::Prompt { text, origin, typed }
        }
        EventName::UserPromptExpansion => {
            EventKind::Command { name: short_text(input.command_name).unwrap_or_default() }
        }
        EventName::PreToolUse => EventKind::PreTool(call(host, input)?),
        EventName::PermissionRequest => EventKind::Permission(call(host, input)?),
        EventName::PostToolUse => result(host, input, Outcome::Ok)?,
        EventName::PostToolUseFailure => {
            let error = Input::text(input.error).unwrap_or_default();
            let outcome = if Input::flag(input.is_interrupt) {
                Outcome::Interrupted
            } else {
                Outcome::Failed { error: cut(&error, bound::ERROR) }
            };
            result(host, input, outcome)?
        }
        EventName::PostToolBatch => EventKind::ToolBatch {
            calls: Input::length(input.tool_calls).and_then(|length| u32::try_from(length).ok()).unwrap_or(0),
        },
        EventName::Stop => EventKind::Stop(stopping(input)),
        EventName::StopFailure => {
            EventKind::StopFailed { error: cut(&Input::text(input.error).unwrap_or_default(), bound::ERROR) }
        }
        EventName::SubagentStart => EventKind::SubagentStart,
        EventName::SubagentStop => EventKind::SubagentStop(stopping(input)),
        EventName::PreCompact => EventKind::PreCompact { trigger: short_text(input.trigger).unwrap_or_default() },
        EventName::PostCompact => EventKind::PostCompact { trigger: short_text(input.trigger).unwrap_or_default() },
        EventName::Notification => {
            EventKind::Notification { topic: short_text(input.notification_type).unwrap_or_default() }
        }
        EventName::ConfigChange => EventKind::ConfigChange {
            source: short_text(input.source).unwrap_or_default(),
            path: cut(&Input::text(input.file_path).unwrap_or_default(), bound::PATH),
        },
        EventName::TaskCreated => EventKind::ItemCreated(reported_item(input).ok_or(WireError::Missing("task_id"))?),
        EventName::TaskCompleted => {
            EventKind::ItemCompleted(reported_item(input).ok_or(WireError::Missing("task_id"))?)
        }
        EventName::Interrupt => EventKind::Interrupt,
    })
}

fn agent(input: &Input<'_>) -> Option<Agent> {
    Some(Agent {
        id: AgentId::new(short_text(input.agent_id)?),
        agent_type: short_text(input.agent_type).unwrap_or_default(),
    })
}

/// Returns the role that the main thread was started with: an agent type without a subagent id.
fn role(input: &Input<'_>) -> Option<String> {
    short_text(input.agent_type).filter(|role| !role.is_empty() && input.agent_id.is_none())
}

fn call(host: Host, input: &Input<'_>) -> Result<ToolCall, WireError> {
    let tool = short_text(input.tool_name).ok_or(WireError::Missing("tool_name"))?;
    Ok(tool_call(host, tool, short_text(input.tool_use_id).map(ToolUseId::new), input))
}

/// Builds a call from its tool and its input, for hooks and transcripts.
pub(crate) fn tool_call(host: Host, tool: String, id: Option<ToolUseId>, input: &Input<'_>) -> ToolCall {
    let (mut action, words) = input.tool_input(|fields| {
        let action = match host {
            Host::Claude | Host::Sim => claude::action(&tool, fields),
            Host::Codex => codex::action(&tool, fields),
        };
        let words = claude::words(&action, fields);
        (action, words)
    });
    match &mut action {
        Action::Mcp { paths, .. } => *paths = input.path_like(bound::PATHS),
        Action::List(call) => *call = list_call(&tool, &input.plain_input()),
        _ => {}
    }
    ToolCall { id, tool, action, words }
}

fn result(host: Host, input: &Input<'_>, outcome: Outcome) -> Result<EventKind, WireError> {
    let millis = Input::text(input.duration_ms).and_then(|millis| millis.parse().ok());
    let mut call = call(host, input)?;
    if let Action::List(list) = &mut call.action {
        *list = with_response(std::mem::take(list), input.tool_response);
    }
    let answers = match call.action {
        Action::Ask => input.answers(),
        _ => Vec::new(),
    };
    let answers = answers
        .into_iter()
        .take(bound::ANSWERS)
        .map(|(question, label)| DialogAnswer {
            question: cut(&question, bound::ERROR),
            label: cut(&label, bound::ERROR),
        })
        .collect();
    let names =
        if document::is_read(&call.action) { document::names(input.tool_response, bound::NAMES) } else { Vec::new() };
    Ok(EventKind::PostTool(ToolResult { call, outcome, millis, answers, names }))
}

fn stopping(input: &Input<'_>) -> Stopping {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Task {
        #[serde(rename = "type")]
        what: String,
        status: String,
        command: Option<String>,
        agent_type: Option<String>,
    }
    let background = Input::list::<Task>(input.background_tasks).map(|tasks| {
        let kept = tasks.into_iter().take(bound::BACKGROUND);
        kept.map(|task| {
            // Some hosts list only subagents, and give no type.
            let what = if task.what.is_empty() && task.agent_type.is_some() { "subagent" } else { &task.what };
            BackgroundTask {
                what: cut(what, bound::NAME),
                status: cut(&task.status, bound::NAME),
                command: task.command.map(|command| cut(&command, bound::NAME)),
            }
        })
        .collect()
    });
    Stopping {
        again: Input::flag(input.stop_hook_active),
        last_message: Input::text(input.last_assistant_message).map(|text| cut_front(&text, bound::MESSAGE)),
        background,
        wakeups: Input::length(input.session_crons).and_then(|length| u32::try_from(length).ok()).unwrap_or(0),
    }
}

fn short_text(field: Option<&serde_json::value::RawValue>) -> Option<String> {
    Input::text(field).map(|text| cut(&text, bound::NAME))
}
