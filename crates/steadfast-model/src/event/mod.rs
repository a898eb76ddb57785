pub(crate) mod content;
pub(crate) mod tool;

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::is_default;
use crate::{
    Action, AgentId, Content, Gate, GoalWord, Host, ItemTold, ListDiff, Millis, Opening, PlanId, SessionId, Status,
    TaskId, ToolCall, ToolResult, Via,
};

/// An input: from a host's hook, or from a command that changed a task of a session's plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub at: Millis,
    pub host: Host,
    pub via: Via,
    pub session: SessionId,
    /// The subagent that caused it. `None`: the main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The agent type of the main thread itself (`claude --agent planner`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub cwd: String,
    /// The host's id for this turn: a prompt id or a turn id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub planning: bool,
    /// The host asks no human for permission: permissions are bypassed, or a program grants them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unasked: bool,
    /// The host reports that a human is present. Not every host reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
    /// The command or prompt was longer than [`Self::READ`]; the rest is unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut: bool,
    /// The rules saw more than the journal stores: the words of a call, or a text longer than [`Self::STORED`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub abridged: bool,
    /// Hash of the call's raw input, since some models give several calls the same id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// The visible thinking of the model before the call, up to [`Self::THOUGHT`]. Only a proxy sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The words that the call read, ran or wrote. Never written to a journal.
    #[serde(skip)]
    pub content: Content,
    pub kind: EventKind,
}

impl Event {
    /// The limit of a command or prompt that is read, in bytes.
    pub const READ: usize = 1 << 20;

    /// The limit of thinking, in bytes. Its end is kept: it is about the call.
    pub const THOUGHT: usize = 2_000;

    /// The limit of a command or prompt that is stored, in bytes.
    pub const STORED: usize = 16_384;

    /// Shortens the event for the journal. Decisions run before and see the whole text.
    #[must_use]
    pub fn stored(mut self) -> Self {
        let shortened = match &mut self.kind {
            EventKind::Prompt { text, .. } => shorten(text),
            EventKind::PreTool(call) | EventKind::Permission(call) => shorten_command(&mut call.action),
            EventKind::PostTool(result) => shorten_command(&mut result.call.action),
            _ => false,
        };
        self.abridged |= shortened || !self.content.is_empty();
        self
    }

    /// Returns whether a stored event has only the start of its command or prompt.
    pub fn is_shortened(&self) -> bool {
        let text = match &self.kind {
            EventKind::Prompt { text, .. } => text,
            EventKind::PreTool(call) | EventKind::Permission(call) => shell_command(&call.action),
            EventKind::PostTool(result) => shell_command(&result.call.action),
            _ => return false,
        };
        self.abridged && text.ends_with(MORE) && text.len() + MORE.len() > Self::STORED
    }

    /// Returns an event of the main thread without further circumstances, as commands send them.
    pub fn plain(session: SessionId, host: Host, cwd: impl Into<String>, at: Millis, kind: EventKind) -> Self {
        Self {
            at,
            host,
            via: Via::Local,
            session,
            agent: None,
            role: None,
            cwd: cwd.into(),
            turn: None,
            planning: false,
            unasked: false,
            attended: None,
            cut: false,
            abridged: false,
            input: None,
            thinking: None,
            content: Content::default(),
            kind,
        }
    }
}

/// The end of a shortened text.
const MORE: &str = "…";

fn shell_command(action: &Action) -> &str {
    if let Action::Shell { command, .. } = action { command } else { "" }
}

fn shorten_command(action: &mut Action) -> bool {
    if let Action::Shell { command, .. } = action { shorten(command) } else { false }
}

/// Returns true if the text was longer than the limit and was cut.
fn shorten(text: &mut String) -> bool {
    let is_long = text.len() > Event::STORED;
    if is_long {
        text.truncate(text.floor_char_boundary(Event::STORED - MORE.len()));
        text.push_str(MORE);
    }
    is_long
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub id: AgentId,
    /// The type in the host's spelling, with or without its plugin. Empty for the host's internal agents (compaction).
    pub agent_type: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    SessionStart {
        source: StartSource,
    },
    SessionEnd {
        reason: String,
    },
    Prompt {
        text: String,
        origin: PromptOrigin,
        /// The host reports that a human typed it.
        #[serde(default, skip_serializing_if = "is_default")]
        typed: bool,
    },
    /// A slash command that the human typed, before its expansion.
    Command {
        name: String,
    },
    PreTool(ToolCall),
    Permission(ToolCall),
    PostTool(ToolResult),
    /// All calls of one model answer have returned.
    ToolBatch {
        calls: u32,
    },
    Stop(Stopping),
    /// The turn ended with an error of the model's service.
    StopFailed {
        error: String,
    },
    SubagentStart,
    SubagentStop(Stopping),
    PreCompact {
        trigger: String,
    },
    PostCompact {
        trigger: String,
    },
    Notification {
        topic: String,
    },
    ConfigChange {
        source: String,
        path: String,
    },
    Interrupt,
    TaskChanged(TaskChanged),
    /// A command of this session took a plan, or a human ended its binding.
    Binding(BindingWord),
    /// A human paused Steadfast until then. `None`: the pause ended.
    Paused {
        until: Option<Millis>,
    },
    /// A command closed the gate of this session.
    GateClosed(Gate),
    /// A human opened the gate of this session.
    GateOpened(Opening),
    /// A human set the goal of this session with a command, or forbade something.
    Goal(GoalWord),
    /// The host's list of tasks was read and differs from our copy.
    ListSeen(ListDiff),
    /// The host is about to add an item to its list, and can still remove it.
    ItemCreated(ItemTold),
    /// The host is about to complete an item of its list, whoever requested it.
    ItemCompleted(ItemTold),
    /// An input that no host sent.
    Forged(Forged),
}

/// An event from another sender than a host. It changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forged {
    /// The event name it claimed.
    pub claimed: String,
    /// Its content, shortened and redacted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The session it claimed, if that session does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub by: ForgedBy,
}

/// The sender of a forged event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgedBy {
    /// A process of a tool call or of an MCP server, or a host that such a process started.
    ToolCall,
    /// A process without a host above it, while the session's host runs.
    Stranger,
}

impl Forged {
    /// Describes it in one line for the human.
    pub fn describe(&self) -> String {
        let by = match self.by {
            ForgedBy::ToolCall => "a process of a tool call",
            ForgedBy::Stranger => "a process outside the host",
        };
        let text = if self.text.is_empty() { String::new() } else { format!(" \"{}\"", self.text) };
        let session = self.session.as_ref().map(|session| format!(" of session {session}")).unwrap_or_default();
        format!("forged: {by} sent {}{text}{session}. Steadfast ignored it.", self.claimed)
    }
}

/// A command's change of the plan that a session works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindingWord {
    /// The agent's command took this plan.
    Taken(PlanId),
    /// A human released this plan.
    Released(PlanId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartSource {
    Startup,
    Resume,
    Clear,
    Compact,
    Fork,
    /// A reason that this version does not know.
    Other,
}

/// The sender of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    Human,
    /// A notification of the host about a background task. The text contains a subagent's output.
    Notification,
    /// A schedule, a wake-up or the host itself.
    Machine,
    /// The agent: it gave this text to a tool that sends it later, or to another session.
    Scheduled,
    /// Whoever wrote the request that the proxy saw: the human, by all appearances, but a program of the agent could have
    /// sent it. It says what the work is, and forbids, lifts and approves nothing.
    Proxied,
}

impl PromptOrigin {
    /// Returns true for a prompt that says what the work is.
    pub fn sets_work(self) -> bool {
        matches!(self, Self::Human | Self::Proxied)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// The host reports that a hook already kept this turn going. Recorded, and not used for decisions.
    pub again: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<String>,
    /// Running background tasks that will wake the session. `None`: this host does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Vec<BackgroundTask>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub wakeups: u32,
}

impl Stopping {
    /// Returns the background tasks that are not agents.
    pub fn processes(&self) -> impl Iterator<Item = &BackgroundTask> {
        let told = self.background.iter().flatten();
        told.filter(|task| task.is_running() && !task.is_agent())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundTask {
    pub what: String,
    pub status: String,
    /// The command line of a shell, if the host reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskChanged {
    pub plan: PlanId,
    pub task: TaskId,
    pub status: Status,
    /// A human put this task into the plan, and it was closed (`done` or `blocked`) for the first time. Such a task
    /// adds to the budget.
    pub earned: bool,
}

impl BackgroundTask {
    pub fn is_running(&self) -> bool {
        !matches!(self.status.as_str(), "completed" | "failed" | "killed" | "cancelled" | "canceled" | "done")
    }

    /// Returns true for an agent that works for this session and wakes it when it is done. Shells, monitors and the
    /// host's own work (its memory, its scans) are not agents.
    pub fn is_agent(&self) -> bool {
        matches!(self.what.as_str(), "subagent" | "teammate" | "workflow" | "cloud session")
    }

    /// Returns the name for texts: the command of a shell, otherwise the kind.
    pub fn name(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.what)
    }
}

labels! {
    /// The event names, in the spelling of most hosts.
    pub enum EventName {
        SessionStart = "SessionStart",
        SessionEnd = "SessionEnd",
        UserPromptSubmit = "UserPromptSubmit",
        UserPromptExpansion = "UserPromptExpansion",
        PreToolUse = "PreToolUse",
        PermissionRequest = "PermissionRequest",
        PostToolUse = "PostToolUse",
        PostToolUseFailure = "PostToolUseFailure",
        PostToolBatch = "PostToolBatch",
        Stop = "Stop",
        StopFailure = "StopFailure",
        SubagentStart = "SubagentStart",
        SubagentStop = "SubagentStop",
        PreCompact = "PreCompact",
        PostCompact = "PostCompact",
        Notification = "Notification",
        ConfigChange = "ConfigChange",
        TaskCreated = "TaskCreated",
        TaskCompleted = "TaskCompleted",
        Interrupt = "Interrupt",
    }
}

impl EventName {
    /// Returns true for events whose refusal prevents a tool call.
    pub fn is_before_tool(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }
}

impl EventKind {
    /// Returns a prompt that the host does not report as typed.
    pub fn prompt(text: impl Into<String>, origin: PromptOrigin) -> Self {
        Self::Prompt { text: text.into(), origin, typed: false }
    }

    /// Returns one word for the log. Events of commands have no host event name.
    pub fn label(&self) -> &'static str {
        match self {
            Self::SessionStart { .. } => "SessionStart",
            Self::SessionEnd { .. } => "SessionEnd",
            Self::Prompt { .. } => "UserPromptSubmit",
            Self::Command { .. } => "UserPromptExpansion",
            Self::PreTool(_) => "PreToolUse",
            Self::Permission(_) => "PermissionRequest",
            Self::PostTool(_) => "PostToolUse",
            Self::ToolBatch { .. } => "PostToolBatch",
            Self::Stop(_) => "Stop",
            Self::StopFailed { .. } => "StopFailure",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop(_) => "SubagentStop",
            Self::PreCompact { .. } => "PreCompact",
            Self::PostCompact { .. } => "PostCompact",
            Self::Notification { .. } => "Notification",
            Self::ConfigChange { .. } => "ConfigChange",
            Self::Interrupt => "Interrupt",
            Self::TaskChanged(_) => "TaskChanged",
            Self::Binding(_) => "Binding",
            Self::Paused { .. } => "Paused",
            Self::GateClosed(_) => "GateClosed",
            Self::GateOpened(_) => "GateOpened",
            Self::Goal(_) => "Goal",
            Self::ListSeen(_) => "ListSeen",
            Self::ItemCreated(_) => "TaskCreated",
            Self::ItemCompleted(_) => "TaskCompleted",
            Self::Forged(_) => "forged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_event_shows_that_its_prompt_lacks_the_end() {
        let stored = |length: usize| {
            let kind = EventKind::Prompt { text: "ä".repeat(length / 2), origin: PromptOrigin::Human, typed: true };
            Event::plain(SessionId::new("me"), Host::Claude, "/repo", Millis(0), kind).stored()
        };
        assert_eq!(
            [100, Event::STORED, Event::STORED + 2].map(|length| stored(length).is_shortened()),
            [false, false, true]
        );
        assert_eq!(stored(Event::STORED + 2).stored(), stored(Event::STORED + 2));
    }
}
