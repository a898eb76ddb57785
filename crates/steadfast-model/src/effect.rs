use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Channel, Gate, GateScope, Host, ListItem, LoopId, Millis, Mode, Opening, PlanId, SessionId, TaskId,
    ToolUseId, Waiting,
};

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
    /// This session does not work on that plan any more: it is offered to the next.
    LeavePlan {
        plan: PlanId,
        session: SessionId,
    },
    /// The agent asks for its human: this task waits for one.
    BlockTask {
        plan: PlanId,
        task: TaskId,
        reason: String,
    },
    /// The agent ran out of context and put its work down.
    Checkpoint {
        plan: PlanId,
    },
    /// Who worked on that plan is gone: what it left in progress can be begun again, and is counted.
    GiveUp {
        plan: PlanId,
        /// This task alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// From now on that session is bound to the loop. `None`: no session is.
    BindLoop {
        id: LoopId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    },
    /// The loop waits for a human, and why. `None`: it waits no longer.
    LoopWaits {
        id: LoopId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A call is about to run `steadfast`: leave who it is for the command to find.
    LeaveClaim(Claim),
    /// That call is over.
    DropClaim {
        call: ToolUseId,
    },
    /// From now on nothing that is protected is written: the marker, and the seal on what is there now.
    CloseGate(Gate),
    OpenGate {
        scope: GateScope,
    },
    /// What plan mode is left with waits for the human's yes.
    KeepDraft {
        scope: GateScope,
        call: ToolUseId,
        text: String,
        /// How long it waits for its human, where one was shown it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiting: Option<Waiting>,
    },
    /// The human said yes: the signed record, then the draft at its path, then the gate opens.
    Approve {
        scope: GateScope,
        hash: String,
        channel: Channel,
    },
    /// Puts a sealed path back as it was. What is there now is kept aside.
    Restore {
        scope: GateScope,
        path: String,
    },
    /// What is there now is what is sealed from now on.
    Reseal {
        scope: GateScope,
        path: String,
    },
    /// The same for all that is sealed as a tree.
    ResealTree {
        scope: GateScope,
    },
    /// What the host's list has is in the ledger, when that is opened next: as tasks of the session's own plan.
    FollowList {
        plan: PlanId,
        session: SessionId,
        worktree: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<ListItem>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<TaskId>,
    },
    /// Run the user's command for the goal of this prompt, in the background, after the host has its answer.
    Refine {
        prompt: u64,
    },
    /// Read from history which files change together, in the background, after the host has its answer.
    FindNeighbours,
    /// A human opened the gate of another session here: without this event that session would close it again.
    TellOwner {
        session: SessionId,
        opening: Opening,
    },
    /// No call of this session runs any more: remove its claims.
    DropClaims,
    /// Bring the journal of this session into the ledger if it is longer than this.
    DrainJournal {
        over_bytes: u64,
    },
    /// Keep the processes of the session's hosts beside its journal.
    NoteProcess {
        hosts: String,
    },
    /// Keep where the host writes the session down.
    NoteTranscript {
        path: String,
    },
}

impl Effect {
    /// What is so when it could not be done.
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

    /// It is done where the journal goes into the ledger, in the same commit: exactly once, whoever dies when.
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

    /// It is the hand of a policy, and tied with it: who only observes closes no gate and touches no task, who only
    /// advises puts nothing back.
    pub fn is_tied(&self, mode: Mode) -> bool {
        match (mode, self) {
            (Mode::Enforce, _) => false,
            (Mode::Advise, effect) => matches!(effect, Self::Restore { .. }),
            (Mode::Observe, Self::CloseGate(_) | Self::KeepDraft { .. } | Self::Approve { .. }) => true,
            (Mode::Observe, effect) => effect.is_ledgers() || matches!(effect, Self::Restore { .. }),
        }
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
