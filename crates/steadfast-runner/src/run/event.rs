use std::collections::BTreeMap;

use steadfast_model::{Run, RunUnit, Spent, Sums, TaskId};

/// An observer of a run.
pub trait Audience {
    /// Receives an event, and the state after it.
    fn on_event(&mut self, event: &RunEvent, now: &Snapshot<'_>);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// An interrupted run continues. This many units had landed without a record, and this many processes were left
    /// behind.
    Resumed {
        landed: usize,
        ended: usize,
    },
    /// These done tasks do not pass on the commit that the run starts with, so they are open again.
    Reopened {
        tasks: Vec<TaskId>,
    },
    /// The check of these tasks passes before any work, so it proves nothing about the work.
    PassAlready {
        tasks: Vec<TaskId>,
    },
    /// The runner recorded the decisions of a phase without an agent. `said` summarizes them.
    Decided {
        unit: TaskId,
        said: String,
    },
    /// The first unit of a wave starts.
    Wave {
        number: u32,
        units: Vec<TaskId>,
    },
    Started {
        unit: TaskId,
        attempt: u32,
    },
    /// The agent is gone, and Steadfast checks its work.
    Checking {
        unit: TaskId,
    },
    /// Experts examined a failure. `advice` goes into the next attempt; `None`: no readable answer.
    Advised {
        unit: TaskId,
        advice: Option<String>,
    },
    Merging {
        unit: TaskId,
    },
    Landed {
        unit: TaskId,
        commit: String,
    },
    /// The unit will be tried again.
    Again {
        unit: TaskId,
        why: String,
    },
    /// The unit waits, for a rate limit or for budget that others hold.
    Waits {
        unit: TaskId,
        why: String,
    },
    Blocked {
        unit: TaskId,
        why: String,
    },
    /// A human stopped the run. It ends when running work has ended, and no unit starts.
    Stopping {
        /// Units that are stopped or landing. Empty: the run's final checks.
        units: Vec<TaskId>,
    },
    /// Time passed without an event.
    Tick,
}

/// The state of a run.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    pub run: &'a Run,
    pub units: &'a [RunUnit],
    pub agents: &'a BTreeMap<TaskId, Activity>,
    /// Includes the cost of running agents so far.
    pub sums: Sums,
    pub waves: u32,
}

/// The current activity of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// A tool with its target, or a phase.
    pub doing: String,
    pub turns: u32,
    pub spent: Spent,
}
