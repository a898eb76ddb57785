use serde::{Deserialize, Serialize};

use crate::{AgentId, Host, Millis, PlanId, SessionId, TaskId, ToolUseId};

/// What is done after a decision is journalled. Idempotent: it may be done twice, by whoever comes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// This session works on that plan from now on, unless a living session already does.
    TakePlan {
        plan: PlanId,
        session: SessionId,
        /// An owner that has not been heard of for so long that it does not count as living.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silent: Option<SessionId>,
    },
    /// The agent asks for its human: this task waits for one.
    BlockTask { plan: PlanId, task: TaskId, reason: String },
    /// The agent ran out of context and put its work down.
    Checkpoint { plan: PlanId },
    /// Who worked on that plan is gone: what it left in progress can be begun again, and is counted.
    GiveUp {
        plan: PlanId,
        /// This task alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// A call is about to run `steadfast`: leave who it is for the command to find.
    LeaveClaim(Claim),
    /// That call is over.
    DropClaim { call: ToolUseId },
}

impl Effect {
    /// It is done where the journal goes into the ledger, in the same commit: exactly once, whoever dies when.
    pub fn is_ledgers(&self) -> bool {
        matches!(self, Self::BlockTask { .. } | Self::Checkpoint { .. } | Self::GiveUp { .. })
    }
}

/// Who is behind a call that runs `steadfast`. It dies with the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub call: ToolUseId,
    pub session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub host: Host,
    pub cwd: String,
    /// What the call runs, so that of two claims the right one is taken.
    pub command: String,
    pub at: Millis,
}
