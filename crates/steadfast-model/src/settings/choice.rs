//! Settings with a fixed choice of words, and the price of a model.

use serde::{Deserialize, Serialize};

use super::Usd;
use crate::Mode;
use crate::label::{from_label, labels};

/// Defines the choices of settings. Settings files spell each value by its label.
macro_rules! choices {
    ($($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $label:literal,)+ })+) => {$(
        labels! {
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            $(#[$about])*
            pub enum $name {
                $($(#[$doc])* #[serde(rename = $label)] $variant = $label,)+
            }
        }
    )+};
}

choices! {
    /// Steadfast's answer to a command that may write a protected file.
    #[derive(Default)]
    pub enum Possible {
        #[default]
        Watch = "watch",
        Ask = "ask",
        Deny = "deny",
    }

    /// The way an approval is signed.
    #[derive(Default)]
    pub enum Profile {
        #[default]
        Default = "default",
        Hardened = "hardened",
    }

    /// A reason that lets the agent stop.
    #[derive(PartialOrd, Ord)]
    pub enum ExitOn {
        /// Every task is done. Without this value the agent must also promise completion.
        AllComplete = "all_complete",
        /// All open tasks are blocked. Without this value Steadfast refuses until its refusals are used up.
        AllBlocked = "all_blocked",
        /// The agent promised a checkpoint because its context is full. Without this value that is an ordinary stop.
        ContextCheckpoint = "context_checkpoint",
        /// The agent promised that it needs the human. Without this value the task is blocked, and the other tasks
        /// still block the stop.
        NeedsUser = "needs_user",
    }

    /// The source of the tasks.
    #[derive(Default)]
    pub enum TaskSource {
        /// Plans and added tasks in Steadfast.
        #[default]
        Native = "native",
        /// The issues that `bd` or `br` lists.
        Beads = "beads",
        /// The task list of Claude Code.
        ClaudeTasks = "claude-tasks",
        /// The slices of `.tdd-progress.md`.
        TddProgress = "tdd-progress",
    }

    /// The actions that an agent may take without asking.
    #[derive(Default)]
    pub enum Permissions {
        #[default]
        Edit = "edit",
        Free = "free",
    }

    /// What the human reads in the host while a session works.
    #[derive(Default)]
    pub enum Verbosity {
        Quiet = "quiet",
        #[default]
        Normal = "normal",
        Detailed = "detailed",
    }

    /// The effect of the rules behind the proxy.
    #[derive(Default)]
    pub enum ProxyMode {
        /// Records it, and changes nothing.
        #[default]
        Observe = "observe",
        /// Adds corrections to the results of calls, and refuses nothing.
        Advise = "advise",
        /// Corrects and refuses. Each policy keeps its own mode below this one.
        Enforce = "enforce",
    }
}

impl TaskSource {
    pub fn is_native(&self) -> bool {
        *self == Self::Native
    }
}

from_label!(ProxyMode "mode of the proxy");

impl From<ProxyMode> for Mode {
    fn from(mode: ProxyMode) -> Self {
        match mode {
            ProxyMode::Observe => Self::Observe,
            ProxyMode::Advise => Self::Advise,
            ProxyMode::Enforce => Self::Enforce,
        }
    }
}

/// The price of a model, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input tokens.
    pub input: Usd,
    /// Input tokens from the model's cache. Default: a tenth of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Usd>,
    /// Output tokens.
    pub output: Usd,
}

impl Price {
    pub fn cached(self) -> Usd {
        self.cached.unwrap_or(Usd { micro: self.input.micro / 10 })
    }
}
