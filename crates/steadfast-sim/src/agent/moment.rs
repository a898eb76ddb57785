//! The events of a run of the agent, for observers.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// The thread that caused it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Who {
    Main,
    Subagent { id: String, kind: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "moment", rename_all = "snake_case")]
pub enum Moment {
    SessionStarted {
        source: &'static str,
    },
    /// The human's prompt, or the host's notice about work in the background.
    Prompted {
        text: String,
    },
    PromptRefused {
        reason: String,
    },
    /// The model answered; its text and calls follow.
    #[serde(rename = "turn")]
    Answered,
    Said {
        who: Who,
        text: String,
    },
    /// The session's total cost so far.
    Spent {
        #[serde(rename = "usd", serialize_with = "usd")]
        micro_usd: u64,
    },
    ToolStarting {
        who: Who,
        tool: String,
        target: String,
    },
    ToolDenied {
        who: Who,
        tool: String,
        target: String,
        reason: String,
    },
    ToolRan {
        who: Who,
        tool: String,
        target: String,
        output: String,
    },
    ToolFailed {
        who: Who,
        tool: String,
        target: String,
        error: String,
    },
    SubagentStarted {
        who: Who,
    },
    SubagentEnded {
        who: Who,
    },
    /// A hook returned this context for the model.
    ContextReceived {
        event: &'static str,
        text: String,
    },
    /// A hook returned this note for the human.
    Note {
        text: String,
    },
    HookFailed {
        event: &'static str,
        problem: String,
    },
    Compacted,
    StopTried {
        who: Who,
        message: String,
    },
    StopRefused {
        who: Who,
        reason: String,
    },
    /// The host's limit of refusals in a row was reached.
    StopOverridden {
        refusals: u32,
    },
    ModelFailed {
        status: u16,
    },
    Ended(Ending),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The agent stopped, and no hook objected.
    Stopped,
    /// The hook still objected, but the host's limit of refusals was reached.
    Overridden,
    /// A hook answered `continue: false`.
    Halted { reason: String },
    /// A hook refused the human's prompt.
    PromptRefused { reason: String },
    /// The model's API failed.
    ModelFailed { status: u16 },
    /// The agent exceeded its number of turns.
    TurnLimit,
    /// The agent spent its budget.
    BudgetSpent,
}

impl fmt::Display for Who {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => formatter.write_str("main"),
            Self::Subagent { id, .. } => formatter.write_str(id),
        }
    }
}

impl Serialize for Who {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn usd<S: Serializer>(micro_usd: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*micro_usd as f64 / 1e6)
}

impl Ending {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Overridden => "overridden",
            Self::Halted { .. } => "halted",
            Self::PromptRefused { .. } => "prompt_refused",
            Self::ModelFailed { .. } => "model_failed",
            Self::TurnLimit => "turn_limit",
            Self::BudgetSpent => "budget_spent",
        }
    }
}

impl Serialize for Ending {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (reason, status) = match self {
            Self::Halted { reason } | Self::PromptRefused { reason } => (Some(reason), None),
            Self::ModelFailed { status } => (None, Some(status)),
            Self::Stopped | Self::Overridden | Self::TurnLimit | Self::BudgetSpent => (None, None),
        };
        let mut fields = serializer.serialize_struct("Ending", 3)?;
        fields.serialize_field("ending", self.as_str())?;
        fields.serialize_field("reason", &reason)?;
        fields.serialize_field("status", &status)?;
        fields.end()
    }
}
