use serde::{Deserialize, Serialize};

use super::{BindingChange, GateState, LastStop, Release, Seen, WiringTold};
use crate::{
    AgentId, Constraint, DriftChange, ListChange, Millis, NamedPath, NewRules, Opening, TakingBack, TaskId, ToolUseId,
    Watched,
};

/// One change of a session's state.
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
    /// The answer to a stop. The same stop can arrive through another wiring.
    StopAnswered(LastStop),
    Binding(BindingChange),
    /// A closed task gives refusals back.
    Earned(u32),
    /// The agent asked for the human while other tasks were ready.
    AskedForUser,
    /// A subagent started a task.
    TaskHeld {
        agent: AgentId,
        task: TaskId,
    },
    /// The subagents no longer work on that task.
    TaskLeft(TaskId),
    SubagentRefused(AgentId),
    /// The answer to a subagent's stop. The same stop can arrive through another wiring.
    SubagentAnswered {
        agent: AgentId,
        last: LastStop,
    },
    GateClosed(GateState),
    GateOpened(Opening),
    /// A call began that may write files protected by the gate.
    CallOpened {
        call: ToolUseId,
        /// The call may continue in the background, where no process shows it.
        background: bool,
        /// The subagent that made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentId>,
    },
    CallClosed(ToolUseId),
    /// A process of a tool call still runs, or none does.
    Running(bool),
    /// A call creates another checkout of the repository, at this path.
    Copied(String),
    /// True: the agent may have changed a sealed tree since the last check of it.
    TreeUnseen(bool),
    /// True: some changes may still have to be restored.
    Unmended(bool),
    /// Our question with this hash replaces the one of this call.
    Asked {
        call: ToolUseId,
        hash: String,
    },
    /// The human reads that the gate is closed, and which draft waits; empty without one.
    GateTold(String),
    /// The host showed the dialog that leaves plan mode.
    Leaving,
    PathRefused(String),
    GoalSet {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
        /// The paths of the scope that were found by name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<NamedPath>,
    },
    GoalCleared,
    /// The additions of the user's command.
    GoalRefined {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        words: Vec<String>,
    },
    ConstraintAdded(Constraint),
    /// The constraint of this number was lifted.
    ConstraintLifted(u32),
    /// The current must-nots of its plan's unfinished loop. They replace the earlier ones.
    MustNots(Vec<Constraint>),
    TakingBack(Vec<TakingBack>),
    Drift(DriftChange),
    /// A call wrote these files. `None`: unknown files.
    Wrote {
        at: Millis,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// The last reports about changed wiring.
    WiringTold(WiringTold),
    List(ListChange),
    /// The processes of its hosts, as the hook recorded them.
    Hosted(String),
    /// A forged event arrived, described in words.
    Forged(String),
    /// The human was informed of all forged events.
    ForgedTold,
    /// A call begins whose effects Steadfast compares afterwards.
    WatchBegun(Watched),
    WatchEnded(ToolUseId),
    LanguageTold,
    /// The human reads a short line, by its mark.
    HumanTold(u64),
}
