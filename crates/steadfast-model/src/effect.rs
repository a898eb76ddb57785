use serde::{Deserialize, Serialize};

use crate::sparse::is_default;
use crate::{
    AgentId, Channel, Gate, GateScope, Host, ListItem, LoopId, Millis, Mode, Opening, PlanId, SessionId, TaskId,
    ToolUseId, Waiting,
};

/// An action after a decision was journalled. Effects are idempotent, since a later process may repeat one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Makes this session the owner of the plan, unless a living session already owns it.
    TakePlan {
        plan: PlanId,
        session: SessionId,
        /// An owner without events for so long that it no longer counts as living.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silent: Option<SessionId>,
    },
    /// Ends this session's ownership of the plan. Steadfast offers the plan to the next session.
    LeavePlan {
        plan: PlanId,
        session: SessionId,
    },
    /// Blocks this task because the agent asked for the human.
    BlockTask {
        plan: PlanId,
        task: TaskId,
        reason: String,
    },
    /// Ends the agent's work on the plan because its context is full.
    Checkpoint {
        plan: PlanId,
    },
    /// Returns the tasks in progress of an owner that is gone, so that they can be started again. Counts as an attempt.
    GiveUp {
        plan: PlanId,
        /// Only this task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// Binds the session to the loop. `None`: the loop has no session.
    BindLoop {
        id: LoopId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    },
    /// Records why the loop waits for a human. `None`: it no longer waits.
    LoopWaits {
        id: LoopId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// Records the identity of the caller, for a `steadfast` command that is about to run.
    LeaveClaim(Claim),
    /// Removes the claim of a finished call.
    DropClaim {
        call: ToolUseId,
    },
    /// Closes the gate: writes the marker and seals the current state of the protected files.
    CloseGate(Gate),
    OpenGate {
        scope: GateScope,
    },
    /// Stores the plan from plan mode until the human approves it.
    KeepDraft {
        scope: GateScope,
        call: ToolUseId,
        text: String,
        /// How long the draft waits for the human. `None`: the human has not seen it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiting: Option<Waiting>,
    },
    /// Carries out the human's approval: writes the signed record, then the draft at its path, then opens the gate, and
    /// loads the plan.
    Approve {
        scope: GateScope,
        hash: String,
        channel: Channel,
        /// The session works on the plan from now on.
        #[serde(default, skip_serializing_if = "is_default")]
        start: bool,
    },
    /// Restores a sealed path and saves its current content elsewhere.
    Restore {
        scope: GateScope,
        path: String,
    },
    /// Seals the path with its current content.
    Reseal {
        scope: GateScope,
        path: String,
    },
    /// Seals every path of the tree with its current content.
    ResealTree {
        scope: GateScope,
    },
    /// Records the host's list in the ledger, as tasks of the session's own plan, when the ledger is next opened.
    FollowList {
        plan: PlanId,
        session: SessionId,
        worktree: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<ListItem>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<TaskId>,
    },
    /// Runs the user's command for the goal of this prompt in the background, after the host has its answer.
    Refine {
        prompt: u64,
    },
    /// Finds files that change together in the history, in the background, after the host has its answer.
    FindNeighbours,
    /// Informs another session that a human opened its gate here. Without this event that session would close the gate
    /// again.
    TellOwner {
        session: SessionId,
        opening: Opening,
    },
    /// Removes all claims of this session, which has no running call.
    DropClaims,
    /// Moves the journal of this session into the ledger if it is longer than this.
    DrainJournal {
        over_bytes: u64,
    },
    /// Stores the processes of the session's hosts beside its journal.
    NoteProcess {
        hosts: String,
    },
    /// Stores the path of the host's transcript.
    NoteTranscript {
        path: String,
    },
}

impl Effect {
    /// Returns the log text for an effect that failed, without the error.
    pub fn failure(&self) -> &'static str {
        match self {
            Self::TakePlan { .. } => "cannot take the plan",
            Self::LeavePlan { .. } => "cannot release the plan",
            Self::BlockTask { .. } => "cannot block the task",
            Self::Checkpoint { .. } | Self::GiveUp { .. } => "cannot record the checkpoint of the plan",
            Self::BindLoop { .. } => "cannot bind the session to the loop",
            Self::LoopWaits { .. } => "cannot record why the loop waits for a human",
            Self::LeaveClaim(_) => "cannot store the claim of a call",
            Self::DropClaim { .. } => "cannot remove the claim of a call",
            Self::CloseGate(_) => "the plan gate is closed, but its marker and its seal were not written",
            Self::OpenGate { .. } => "the plan gate is open, but its marker or its seal was not removed",
            Self::KeepDraft { .. } => "cannot store the draft",
            Self::Approve { .. } => "cannot carry out the human's approval",
            Self::Restore { .. } => "cannot restore a sealed path",
            Self::Reseal { .. } | Self::ResealTree { .. } => "cannot seal the current content",
            Self::FollowList { .. } => "cannot record the host's list",
            Self::Refine { .. } => "cannot refine the goal",
            Self::FindNeighbours => "cannot find the files that change together",
            Self::TellOwner { .. } => "cannot inform the session that its gate is open",
            Self::DropClaims => "cannot remove the claims of the session",
            Self::DrainJournal { .. } => "cannot drain the journal",
            Self::NoteProcess { .. } => "cannot store the processes of the session",
            Self::NoteTranscript { .. } => "cannot store the path of the transcript",
        }
    }

    /// Returns true for effects that are applied in the same commit that brings the journal into the ledger: exactly
    /// once, whichever process dies.
    pub fn is_applied_by_ledger(&self) -> bool {
        matches!(
            self,
            Self::LeavePlan { .. }
                | Self::BlockTask { .. }
                | Self::Checkpoint { .. }
                | Self::GiveUp { .. }
                | Self::BindLoop { .. }
                | Self::LoopWaits { .. }
        )
    }

    /// Returns true if the mode of the policy forbids the effect. A policy that only observes closes no gate and
    /// changes no task; one that only advises restores nothing.
    pub fn is_forbidden_in(&self, mode: Mode) -> bool {
        match (mode, self) {
            (Mode::Enforce, _) => false,
            (Mode::Advise, effect) => matches!(effect, Self::Restore { .. }),
            (Mode::Observe, Self::CloseGate(_) | Self::KeepDraft { .. } | Self::Approve { .. }) => true,
            (Mode::Observe, effect) => effect.is_applied_by_ledger() || matches!(effect, Self::Restore { .. }),
        }
    }
}

/// The identity of the caller of `steadfast`. It is removed when the call ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub call: ToolUseId,
    pub session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub host: Host,
    pub cwd: String,
    /// The command line of the call, which identifies the right one of two claims.
    pub command: String,
    pub at: Millis,
}
