use serde::{Deserialize, Serialize};

use super::{BindingChange, GateState, LastStop, Release, Seen, WiringTold};
use crate::{
    AgentId, Constraint, DriftChange, ListChange, Millis, NamedPath, NewRules, Opening, TakingBack, TaskId, ToolUseId,
    Watched,
};

/// One step of a session's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Started,
    Ended {
        reason: String,
    },
    RulesChanged(NewRules),
    HumanSpoke,
    ToolCalled,
    Answered(Seen),
    SubagentStarted(AgentId),
    SubagentStopped(AgentId),
    Interrupted,
    Attended(bool),
    Paused(Option<Millis>),
    StopRefused,
    StopReleased(Release),
    /// The answer to a stop, for the same stop through another wiring.
    StopAnswered(LastStop),
    Binding(BindingChange),
    /// A task closed and gives refusals back.
    Earned(u32),
    /// The agent asked for the human while there was something else to do.
    AskedForUser,
    /// A subagent started a task.
    TaskHeld {
        agent: AgentId,
        task: TaskId,
    },
    /// No subagent works on that task any more.
    TaskLeft(TaskId),
    SubagentRefused(AgentId),
    /// The answer to a subagent's stop, for the same stop through another wiring.
    SubagentAnswered {
        agent: AgentId,
        last: LastStop,
    },
    GateClosed(GateState),
    GateOpened(Opening),
    /// A call that may write what the gate protects begins.
    CallOpened {
        call: ToolUseId,
        /// Something of it may go on where no process shows it.
        background: bool,
        /// The subagent that makes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentId>,
    },
    CallClosed(ToolUseId),
    /// Whether something runs that a tool call had started.
    Running(bool),
    /// A call makes another checkout of the repository, at this path.
    Copied(String),
    /// Whether something of the agent's may have changed what is sealed as a tree without anybody having looked since.
    TreeUnseen(bool),
    /// Whether something may be left of what was to be put back.
    Unmended(bool),
    /// Our question with this hash stands in for the one of this call.
    Asked {
        call: ToolUseId,
        hash: String,
    },
    /// The host showed the dialog that leaves plan mode.
    Leaving,
    /// A write to this protected path was refused.
    PathRefused(String),
    GoalSet {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
        /// Which of them stand for a name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<NamedPath>,
    },
    GoalCleared,
    /// The user's command added to it.
    GoalRefined {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        words: Vec<String>,
    },
    ConstraintAdded(Constraint),
    /// The constraint of this number no longer holds.
    ConstraintLifted(u32),
    /// What must not happen while the loop of its plan goes on, instead of what was known of it.
    MustNots(Vec<Constraint>),
    TakingBack(Vec<TakingBack>),
    Drift(DriftChange),
    /// A call wrote these files. None: not known which.
    Wrote {
        at: Millis,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// What was said of a changed wiring.
    WiringTold(WiringTold),
    List(ListChange),
    /// The processes of its hosts, as the hook noted them.
    Hosted(String),
    /// An event came that no host sent. In words.
    Forged(String),
    /// The human was told of all of them.
    ForgedTold,
    /// A call begins of which it is looked at afterwards what it did.
    WatchBegun(Watched),
    WatchEnded(ToolUseId),
    LanguageTold,
}
