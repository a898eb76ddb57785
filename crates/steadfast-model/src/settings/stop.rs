use serde::{Deserialize, Serialize};

use super::Rules;

/// When the agent may stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StopOptions {
    /// Whether stopping is looked at at all. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether tasks that are ready hold the agent. Default: `true`. With `false` only those in progress do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_ready_tasks: Option<bool>,
    /// Whether tasks in progress hold the agent. Default: `true`. With `false` only those that are ready do, and no
    /// subagent is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_in_progress: Option<bool>,
    /// How many refusals to stop there may be between two prompts of the human, before what finished tasks give
    /// back. Default: `50`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cycles: Option<u32>,
    /// How many refusals in a row there may be without a single tool call in between. Default: `3`. Claude Code
    /// overrides the ninth refusal in a row by itself; `8` or more needs `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_idle: Option<u32>,
    /// What lets the agent stop before its refusals are spent. Default: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_exit_on: Option<Vec<ExitOn>>,
    /// What is a promise, as the text between `<promise>` and `</promise>`. `BLOCKED - NEEDS USER` asks for the human and
    /// `CONTEXT LIMIT - CHECKPOINT` for a fresh session; every other text is a promise of completion and is checked
    /// against the tasks. Default: those two, `ALL TASKS COMPLETE` and `EPIC COMPLETE`. A spec may add its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_promises: Option<Vec<String>>,
}

/// Something that lets the agent stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExitOn {
    /// Every task is done. Without it the agent has to promise completion, too.
    AllComplete,
    /// What is left is blocked. Without it the agent is refused until its refusals are spent.
    AllBlocked,
    /// The agent promised a checkpoint because its context is full. Without it that is an ordinary stop.
    ContextCheckpoint,
    /// The agent promised that it needs the human. Without it the task is blocked and the others still hold.
    NeedsUser,
}

impl ExitOn {
    pub const ALL: [Self; 4] = [Self::AllComplete, Self::AllBlocked, Self::ContextCheckpoint, Self::NeedsUser];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllComplete => "all_complete",
            Self::AllBlocked => "all_blocked",
            Self::ContextCheckpoint => "context_checkpoint",
            Self::NeedsUser => "needs_user",
        }
    }
}

/// Read with every event: what is as by default is not written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRules {
    pub enabled: bool,
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub check_ready_tasks: bool,
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub check_in_progress: bool,
    pub max_cycles: u32,
    pub max_idle: u32,
    /// `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exits: Option<Vec<ExitOn>>,
    /// `None`: those of [`Self::PROMISES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promises: Option<Vec<String>>,
}

fn yes() -> bool {
    true
}

impl StopRules {
    pub const NEEDS_USER: &str = "BLOCKED - NEEDS USER";
    pub const CHECKPOINT: &str = "CONTEXT LIMIT - CHECKPOINT";
    pub const PROMISES: [&str; 4] = ["ALL TASKS COMPLETE", "EPIC COMPLETE", Self::NEEDS_USER, Self::CHECKPOINT];

    pub fn allows(&self, exit: ExitOn) -> bool {
        self.exits.as_ref().is_none_or(|exits| exits.contains(&exit))
    }

    /// The texts that are promises.
    pub fn promises(&self) -> impl Iterator<Item = &str> {
        let by_default = if self.promises.is_none() { &Self::PROMISES[..] } else { &[] };
        by_default.iter().copied().chain(self.promises.iter().flatten().map(String::as_str))
    }
}

impl Default for StopRules {
    fn default() -> Self {
        Rules::default().stop
    }
}
