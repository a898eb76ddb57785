use std::borrow::Cow;

use serde_json::value::RawValue;
use steadfast_model::{Action, Content, Host, Millis, PromptOrigin, ToolCall, ToolUseId};

use crate::price::{self, TokenPrice};
use crate::shape::{Input, content, cut};
use crate::wire::{bound, tool_call};
use crate::{claude, codex};

/// The content of one row of a transcript, borrowed from its line.
#[derive(Debug)]
pub struct TranscriptRecord<'a> {
    pub at: Option<Millis>,
    pub session: Option<Cow<'a, str>>,
    pub cwd: Option<Cow<'a, str>>,
    /// The host's id of this turn.
    pub turn: Option<Cow<'a, str>>,
    /// True in plan mode; `None` if the row does not say.
    pub planning: Option<bool>,
    /// The model that wrote the row, or that works from this row on.
    pub model: Option<Cow<'a, str>>,
    pub thread: Thread<'a>,
    pub items: Vec<Item<'a>>,
}

/// The main thread, or a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thread<'a> {
    Main,
    Agent {
        id: Cow<'a, str>,
        /// The call that started it, if the row names it.
        call: Option<Cow<'a, str>>,
    },
}

impl Thread<'_> {
    /// The id for subagents in the first versions of Claude Code, which did not name them.
    pub(crate) const UNNAMED: &'static str = "sidechain";

    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Main => None,
            Self::Agent { id, .. } => Some(id),
        }
    }
}

impl TranscriptRecord<'_> {
    /// Assigns the row to a subagent. Its prompts then come from the parent, not from the human.
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
    /// Typed while the agent worked. The human may have taken it back.
    Queued(Words<'a>),
    /// A slash command that the human typed.
    Command {
        name: Cow<'a, str>,
        /// The command is a prompt to the agent; other commands only concern the host.
        asks: bool,
    },
    /// Text from the agent.
    Said(Words<'a>),
    Call(TranscriptCall<'a>),
    Result(CallResult<'a>),
    Usage(Usage<'a>),
    Compaction {
        /// `None` if only the summary remains.
        trigger: Option<Cow<'a, str>>,
    },
    /// The human stopped the turn.
    Interrupt,
    /// The turn ended.
    Stop {
        last_message: Option<Cow<'a, str>>,
    },
    /// A hook kept the agent working.
    StopRefused {
        text: Cow<'a, str>,
        /// The command of the hook, if the row names it.
        hook: Option<Cow<'a, str>>,
    },
    /// The model's service failed.
    Failure {
        error: Cow<'a, str>,
    },
    /// The conversation continues under another session id.
    Continued {
        session: Cow<'a, str>,
    },
}

impl Item<'_> {
    /// The text of a prompt that is only a picture.
    pub(crate) const PICTURE: &'static str = "[image]";
}

/// A text as raw JSON; unescaped only on request.
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
    /// The host runs hooks for this call.
    pub(crate) hooked: bool,
}

/// A call's input as raw JSON. Most callers never read it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallInput<'a> {
    /// An object, or a text that contains one.
    Plain(Option<&'a RawValue>),
    /// A shell call of Codex, which a hook receives as `{"command": …}`.
    Shell(Option<&'a RawValue>),
    Patch(Option<&'a RawValue>),
}

impl<'a> TranscriptCall<'a> {
    /// Returns the call as a hook would receive it.
    pub fn tool_call(&self, host: Host) -> ToolCall {
        let id = self.id.as_deref().map(|id| ToolUseId::new(cut(id, bound::NAME)));
        let raw = self.raw();
        let input = Input { tool_input: raw.as_deref(), ..Input::default() };
        tool_call(host, cut(&self.tool, bound::NAME), id, &input)
    }

    /// Returns the words that the call writes.
    pub(crate) fn content(&self, action: &Action) -> Content {
        let raw = self.raw();
        let input = Input { tool_input: raw.as_deref(), ..Input::default() };
        input.tool_input(|fields| content::written(action, fields))
    }

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
    pub(crate) output: CallOutput<'a>,
}

/// A result as raw JSON. It may be long, and most callers never read it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallOutput<'a> {
    Claude { is_error: bool, content: Option<&'a RawValue>, more: Option<&'a RawValue> },
    Codex { output: Option<&'a RawValue> },
}

impl<'a> CallResult<'a> {
    /// Returns the result as raw JSON.
    pub(crate) fn answer(&self) -> Option<&'a RawValue> {
        match self.output {
            CallOutput::Claude { content, .. } => content,
            CallOutput::Codex { output } => output,
        }
    }

    pub fn ended(&self) -> Ended<'a> {
        match self.output {
            CallOutput::Claude { is_error, content, more } => claude::transcript::ended(is_error, content, more),
            CallOutput::Codex { output } => codex::transcript::ended(output),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended<'a> {
    pub end: CallEnd<'a>,
    /// The duration in milliseconds, if the host reports it.
    pub millis: Option<u64>,
    /// The subagent that the call started or waited for.
    pub agent: Option<Delegated<'a>>,
    /// The shell that keeps running in the background.
    pub shell: Option<Cow<'a, str>>,
}

/// The state of a subagent when the call that started it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delegated<'a> {
    /// It continues in the background.
    Started(Cow<'a, str>),
    Ended(Cow<'a, str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEnd<'a> {
    Ok,
    Failed(Cow<'a, str>),
    /// The command ran and failed; to a hook of this host that is a normal result.
    Exited(u32),
    /// The human refused the call; the text is the human's reason, and may be empty.
    Refused(Cow<'a, str>),
    /// A hook or a permission rule refused the call, with a reason.
    Denied(Cow<'a, str>),
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Usage<'a> {
    /// The tokens of one message. All its rows repeat them, and an early row may have less.
    Message { id: Cow<'a, str>, tokens: TokenUsage },
    /// The tokens of the session so far.
    Total(TokenUsage),
}

/// Token counts; each token counts in one field only.
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

    /// Estimates the cost in millionths of a US dollar.
    pub fn micro_usd(self, price: TokenPrice) -> u64 {
        let Self { input, cache_read, cache_write, output } = self;
        price.micro_usd(price::Usage { input, cached: cache_read, written: cache_write, output })
    }

    pub fn plus(self, other: Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        self.each(other, u64::max)
    }
}
