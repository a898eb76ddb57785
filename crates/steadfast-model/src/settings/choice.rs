//! Settings that are a choice of words, and the price of a model.

use serde::{Deserialize, Serialize};

use super::Usd;
use crate::label::labels;

labels! {
    /// What happens to a command that may write a protected file.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Possible {
        #[default]
        Watch = "watch",
        Ask = "ask",
        Deny = "deny",
    }
}

labels! {
    /// How an approval is signed.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Profile {
        #[default]
        Default = "default",
        Hardened = "hardened",
    }
}

labels! {
    /// A reason that lets the agent stop.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum ExitOn {
        /// Every task is done. Without it the agent has to promise completion, too.
        AllComplete = "all_complete",
        /// All open tasks are blocked. Without it the agent is refused until its refusals are used up.
        AllBlocked = "all_blocked",
        /// The agent promised a checkpoint because its context is full. Without it that is an ordinary stop.
        ContextCheckpoint = "context_checkpoint",
        /// The agent promised that it needs the human. Without it the task is blocked and the others still hold.
        NeedsUser = "needs_user",
    }
}

labels! {
    /// Where tasks are kept.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum TaskSource {
        /// In Steadfast.
        #[default]
        Native = "native",
        /// Issues that `bd` or `br` lists.
        Beads = "beads",
        /// The task list of Claude Code.
        ClaudeTasks = "claude-tasks",
        /// The slices of `.tdd-progress.md`.
        TddProgress = "tdd-progress",
    }
}

impl TaskSource {
    pub fn is_native(&self) -> bool {
        *self == Self::Native
    }
}

labels! {
    /// What an agent may do without asking.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Permissions {
        #[default]
        Edit = "edit",
        Free = "free",
    }
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that it reads.
    pub input: Usd,
    /// Tokens that it reads from its cache. Default: a tenth of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Usd>,
    /// Tokens that it writes.
    pub output: Usd,
}

impl Price {
    pub fn cached(self) -> Usd {
        self.cached.unwrap_or(Usd { micro: self.input.micro / 10 })
    }
}
