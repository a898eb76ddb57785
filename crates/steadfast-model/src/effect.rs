use serde::{Deserialize, Serialize};

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
    /// Carries out the human's approval: writes the signed record, then the draft at its path, then opens the gate.
    Approve {
        scope: GateScope,
        hash: String,
        channel: Channel,
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
    /// Describes the state after the effect failed.
    pub fn undone(&self) -> &'static str {
        match self {
            Self::TakePlan { .. } => "the plan was not taken",
            Self::LeavePlan { .. } => "the plan was not left",
            Self::BlockTask { .. } => "the task was not blocked",
            Self::Checkpoint { .. } | Self::GiveUp { .. } => "the plan was not put down",
            Self::BindLoop { .. } => "the session was not bound to the loop",
            Self::LoopWaits { .. } => "whether the loop waits for a human was not kept",
            Self::LeaveClaim(_) => "who is behind a call was not left for it",
            Self::DropClaim { .. } => "who was behind a call was not taken away",
            Self::CloseGate(_) => "the plan gate is closed without its marker and its seal",
            Self::OpenGate { .. } => "the plan gate is open, but its marker or its seal is still there",
            Self::KeepDraft { .. } => "the draft was not kept",
            Self::Approve { .. } => "the human's yes was not carried out",
            Self::Restore { .. } => "what is sealed was not put back",
            Self::Reseal { .. } | Self::ResealTree { .. } => "what is there now was not sealed",
            Self::FollowList { .. } => "the host's list was not taken over",
            Self::Refine { .. } => "the goal was not refined",
            Self::FindNeighbours => "the files that change together were not looked up",
            Self::TellOwner { .. } => "the owner of the gate was not told that it is open",
            Self::DropClaims => "the claims of the session were not removed",
            Self::DrainJournal { .. } => "the journal was not drained",
            Self::NoteProcess { .. } => "the processes of the session were not kept",
            Self::NoteTranscript { .. } => "the path of the transcript was not kept",
        }
    }

    /// Returns true for effects that are applied in the same commit that brings the journal into the ledger: exactly
    /// once, whichever process dies.
    pub fn is_ledgers(&self) -> bool {
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
    pub fn is_tied(&self, mode: Mode) -> bool {
        match (mode, self) {
            (Mode::Enforce, _) => false,
            (Mode::Advise, effect) => matches!(effect, Self::Restore { .. }),
            (Mode::Observe, Self::CloseGate(_) | Self::KeepDraft { .. } | Self::Approve { .. }) => true,
            (Mode::Observe, effect) => effect.is_ledgers() || matches!(effect, Self::Restore { .. }),
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
