use std::borrow::Cow;

use serde_json::value::RawValue;
use steadfast_model::{Action, Content, Host, Millis, PromptOrigin, ToolCall, ToolUseId};

use crate::shape::{Input, content, cut};
use crate::wire::{bound, tool_call};
use crate::{claude, codex};

/// What one row of a transcript tells, borrowed from its line.
#[derive(Debug)]
pub struct TranscriptRecord<'a> {
    pub at: Option<Millis>,
    pub session: Option<Cow<'a, str>>,
    pub cwd: Option<Cow<'a, str>>,
    /// What the host calls this turn.
    pub turn: Option<Cow<'a, str>>,
    /// Whether the host is in plan mode, where the row says so.
    pub planning: Option<bool>,
    pub thread: Thread<'a>,
    pub items: Vec<Item<'a>>,
}

/// Who a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thread<'a> {
    Main,
    Agent {
        id: Cow<'a, str>,
        /// The call that started it, where the row names it.
        call: Option<Cow<'a, str>>,
    },
}

impl Thread<'_> {
    /// The first versions of Claude Code do not name their subagents.
    pub(crate) const UNNAMED: &'static str = "sidechain";

    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Main => None,
            Self::Agent { id, .. } => Some(id),
        }
    }
}

impl TranscriptRecord<'_> {
    /// Makes it a row of a subagent, to whom its parent speaks and not the human.
    pub(super) fn belong_to(&mut self, agent: &str) {
        self.thread = Thread::Agent { id: Cow::Owned(agent.to_owned()), call: None };
        for item in &mut self.items {
            if let Item::Prompt { origin, .. } = item {
                *origin = PromptOrigin::Machine;
            }
        }
    }
}

#[derive(Debug)]
pub enum Item<'a> {
    Prompt {
        text: Cow<'a, str>,
        origin: PromptOrigin,
    },
    /// Typed while the agent worked; it may have been taken back.
    Queued(Words<'a>),
    /// A slash command the human typed.
    Command {
        name: Cow<'a, str>,
        /// The agent is asked something by it; others are the host's own affair.
        asks: bool,
    },
    /// The agent speaks.
    Said(Words<'a>),
    Call(TranscriptCall<'a>),
    Result(CallResult<'a>),
    Usage(Usage<'a>),
    Compaction {
        /// Nothing where only the summary is there that it left.
        trigger: Option<Cow<'a, str>>,
    },
    /// The human stopped the turn.
    Interrupt,
    /// The turn ended.
    Stop {
        last_message: Option<Cow<'a, str>>,
    },
    /// The model's service failed.
    Failure {
        error: Cow<'a, str>,
    },
    /// The conversation goes on under another id.
    Continued {
        session: Cow<'a, str>,
    },
}

impl Item<'_> {
    /// The text of a prompt that has none.
    pub(crate) const PICTURE: &'static str = "[image]";
}

/// A text as the line has it, and unescaped only when it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(pub(crate) &'a RawValue);

impl<'a> Words<'a> {
    pub fn text(self) -> Cow<'a, str> {
        let raw = self.0.get();
        match raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) {
            Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
            _ => Cow::Owned(serde_json::from_str(raw).unwrap_or_default()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct TranscriptCall<'a> {
    pub id: Option<Cow<'a, str>>,
    /// The tool in the host's spelling.
    pub tool: Cow<'a, str>,
    pub(crate) input: CallInput<'a>,
    /// Whether the host asks hooks about it.
    pub(crate) hooked: bool,
}

/// A call's input as the row has it. Most who count calls do not look.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallInput<'a> {
    /// An object, or a text that holds one.
    Plain(Option<&'a RawValue>),
    /// One of Codex, which a hook sees as `{"command": …}`.
    Shell(Option<&'a RawValue>),
    Patch(Option<&'a RawValue>),
}

impl<'a> TranscriptCall<'a> {
    /// The call as a hook would tell of it.
    pub fn tool_call(&self, host: Host) -> ToolCall {
        let id = self.id.as_deref().map(|id| ToolUseId::new(cut(id, bound::NAME)));
        let raw = self.raw();
        let input = Input { tool_input: raw.as_deref(), ..Input::default() };
        tool_call(host, cut(&self.tool, bound::NAME), id, &input)
    }

    /// The words that it writes.
    pub(crate) fn content(&self, action: &Action) -> Content {
        let raw = self.raw();
        let input = Input { tool_input: raw.as_deref(), ..Input::default() };
        input.tool_input(|fields| content::written(action, fields))
    }

    /// Its input, as JSON.
    pub fn input(&self) -> String {
        self.raw().map(|raw| raw.get().to_owned()).unwrap_or_default()
    }

    fn raw(&self) -> Option<Cow<'a, RawValue>> {
        match self.input {
            CallInput::Plain(raw) => raw.map(Cow::Borrowed),
            CallInput::Shell(raw) => codex::transcript::shell(raw).map(Cow::Owned),
            CallInput::Patch(raw) => codex::transcript::patch(raw).map(Cow::Owned),
        }
    }
}

#[derive(Clone, Debug)]
pub struct CallResult<'a> {
    pub call: Option<Cow<'a, str>>,
    pub(crate) told: CallOutput<'a>,
}

/// What the row tells of a result. It may be long, and most do not look.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallOutput<'a> {
    Claude { is_error: bool, content: Option<&'a RawValue>, more: Option<&'a RawValue> },
    Codex { output: Option<&'a RawValue> },
}

impl<'a> CallResult<'a> {
    /// What the call answered, as the line has it.
    pub(crate) fn answer(&self) -> Option<&'a RawValue> {
        match self.told {
            CallOutput::Claude { content, .. } => content,
            CallOutput::Codex { output } => output,
        }
    }

    pub fn ended(&self) -> Ended<'a> {
        match self.told {
            CallOutput::Claude { is_error, content, more } => claude::transcript::ended(is_error, content, more),
            CallOutput::Codex { output } => codex::transcript::ended(output),
        }
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended<'a> {
    pub end: CallEnd<'a>,
    /// How long it took, where the host says so.
    pub millis: Option<u64>,
    /// The subagent that it was about.
    pub agent: Option<Delegated<'a>>,
    /// The shell that goes on in the background.
    pub shell: Option<Cow<'a, str>>,
}

/// Where a subagent is when the call is back that started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delegated<'a> {
    /// It goes on in the background.
    Started(Cow<'a, str>),
    Ended(Cow<'a, str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEnd<'a> {
    Ok,
    Failed(Cow<'a, str>),
    /// It ran and said that it failed; to a hook of this host that is a result like any other.
    Exited(u32),
    /// The human said no, in these words or in none.
    Refused(Cow<'a, str>),
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Usage<'a> {
    /// What one message took. Its rows all say so, and an early row may say less.
    Message { id: Cow<'a, str>, tokens: TokenUsage },
    /// What the session took so far.
    Total(TokenUsage),
}

/// Tokens, each counted in one of these only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
}

impl TokenUsage {
    fn each(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: join(self.input, other.input),
            cache_read: join(self.cache_read, other.cache_read),
            cache_write: join(self.cache_write, other.cache_write),
            output: join(self.output, other.output),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        self.each(other, u64::max)
    }
}
