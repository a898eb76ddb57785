use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::is_default;
use crate::{
    Action, AgentId, Content, Gate, GoalWord, Host, ItemTold, ListDiff, Millis, Opening, PlanId, SessionId, Status,
    TaskId, ToolCall, ToolResult, Via,
};

/// What came in: from a host's hook, or from a command that changed a task of a session's plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub at: Millis,
    pub host: Host,
    pub via: Via,
    pub session: SessionId,
    /// The subagent it happened in; the main thread has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The agent type that the main thread itself was started as (`claude --agent planner`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub cwd: String,
    /// What the host calls this turn: a prompt id, a turn id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The host is in plan mode.
    #[serde(default, skip_serializing_if = "is_default")]
    pub planning: bool,
    /// The host asks nobody: its permissions are bypassed or given by a machine.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unasked: bool,
    /// A human sits before it, says the host. Not every host says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
    /// Its command or prompt was longer than [`Self::READ`]: nothing is known of the rest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut: bool,
    /// The rules saw more than the journal keeps: the words of a call, or a text longer than [`Self::STORED`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub abridged: bool,
    /// A number for the input of its call as it came: some models give the same id to several calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// The words of what its call read, ran or wrote. No journal has them.
    #[serde(skip)]
    pub content: Content,
    pub kind: EventKind,
}

impl Event {
    /// The longest command or prompt that is read, in bytes.
    pub const READ: usize = 1 << 20;

    /// The longest command or prompt that is stored, in bytes.
    pub const STORED: usize = 16_384;

    /// The event as the journal keeps it. Decisions are made before: they see the whole text.
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

    /// An event of the main thread with nothing said about its circumstances: what a command has to tell.
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
            content: Content::default(),
            kind,
        }
    }
}

fn shorten_command(action: &mut Action) -> bool {
    if let Action::Shell { command, .. } = action { shorten(command) } else { false }
}

/// Whether the text was longer than what is stored.
fn shorten(text: &mut String) -> bool {
    const MORE: &str = "…";
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
    /// As the host spells it, plugin-qualified or not; empty for the host's own errands (compaction).
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
        /// The host says that a human typed it.
        #[serde(default, skip_serializing_if = "is_default")]
        typed: bool,
    },
    /// A slash command the human typed, before it is expanded.
    Command {
        name: String,
    },
    PreTool(ToolCall),
    /// The host is about to ask the human for permission.
    Permission(ToolCall),
    PostTool(ToolResult),
    /// All calls of one model answer are back.
    ToolBatch {
        calls: u32,
    },
    Stop(Stopping),
    /// The turn ended on an error of the model's service.
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
    /// The human stopped the turn.
    Interrupt,
    /// A command changed a task of the plan this session owns.
    TaskChanged(TaskChanged),
    /// A command of this session took a plan, or a human ended its binding.
    Binding(BindingWord),
    /// A human wants it out of the way until then. `None`: no longer.
    Paused {
        until: Option<Millis>,
    },
    /// A command closed a gate before this session.
    GateClosed(Gate),
    /// A human opened the gate before this session.
    GateOpened(Opening),
    /// A human said outright what this session is for, or may not do.
    Goal(GoalWord),
    /// The host's list of tasks was looked at, and is not as our copy.
    ListSeen(ListDiff),
    /// The host has put an item onto its list, and may take it back.
    ItemCreated(ItemTold),
    /// The host is about to call an item of its list completed, whoever asked for it.
    ItemCompleted(ItemTold),
    /// What came in as an event was not sent by a host.
    Forged(Forged),
}

/// An event that something other than a host sent. It changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forged {
    /// Which event it claimed to be.
    pub claimed: String,
    /// What it said, cut and redacted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Of which session it claimed to be, if that is made up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub by: ForgedBy,
}

/// Who sent a forged event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgedBy {
    /// A process of a tool call or of an MCP server, or a host that one of them started.
    ToolCall,
    /// A process with no host above it, while the session's host runs.
    Stranger,
}

impl Forged {
    /// One line for the human.
    pub fn told(&self) -> String {
        let by = match self.by {
            ForgedBy::ToolCall => "a process of a tool call",
            ForgedBy::Stranger => "a process outside the host",
        };
        let text = if self.text.is_empty() { String::new() } else { format!(" \"{}\"", self.text) };
        let session = self.session.as_ref().map(|session| format!(" of session {session}")).unwrap_or_default();
        format!("forged: {by} sent {}{text}{session}. Steadfast ignored it.", self.claimed)
    }
}

/// What a command says of the plan that a session works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindingWord {
    /// A command of its agent took that plan.
    Taken(PlanId),
    /// A human released it.
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
    /// One this version does not know.
    Other,
}

/// Who is speaking in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    Human,
    /// The host tells of a background task; the text holds what a subagent wrote.
    Notification,
    /// A schedule, a wake-up, the host itself.
    Machine,
    /// The agent: it handed this text to a tool that says it later, or to another session.
    Scheduled,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// The host says that a hook already kept this turn going. Recorded, never decisive.
    pub again: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<String>,
    /// What still runs and will wake the session. `None`: this host does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Vec<BackgroundTask>>,
    /// Scheduled wake-ups.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wakeups: u32,
}

impl Stopping {
    /// What runs in the background and is no agent.
    pub fn processes(&self) -> impl Iterator<Item = &BackgroundTask> {
        let told = self.background.iter().flatten();
        told.filter(|task| task.is_running() && !task.is_agent())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundTask {
    /// `subagent`, `shell`, …
    pub what: String,
    pub status: String,
    /// The command line of a shell, as far as the host tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskChanged {
    pub plan: PlanId,
    pub task: TaskId,
    pub status: Status,
    /// The first time this task was closed (`done` or `blocked`), and a human put it into the plan: worth budget.
    pub earned: bool,
}

impl BackgroundTask {
    pub fn is_running(&self) -> bool {
        !matches!(self.status.as_str(), "completed" | "failed" | "killed" | "cancelled" | "canceled" | "done")
    }

    /// An agent that works for this session, and wakes it when it is done. A shell, a monitor and whatever the host does
    /// for itself (its memory, its scans) is no agent.
    pub fn is_agent(&self) -> bool {
        matches!(self.what.as_str(), "subagent" | "teammate" | "workflow" | "cloud session")
    }

    /// What a text calls it: the command of a shell, else its kind.
    pub fn name(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.what)
    }
}

labels! {
    /// The events by name, as most hosts spell them.
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
    /// Refusing here keeps a tool from running.
    pub fn is_before_tool(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }
}

impl EventKind {
    /// A prompt of which the host does not say that it was typed.
    pub fn prompt(text: impl Into<String>, origin: PromptOrigin) -> Self {
        Self::Prompt { text: text.into(), origin, typed: false }
    }

    /// One word for a log. A command's event has no name among the hosts'.
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
