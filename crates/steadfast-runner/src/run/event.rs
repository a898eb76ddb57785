use std::collections::BTreeMap;

use steadfast_model::{Run, RunUnit, Spent, Sums, TaskId};

/// Whoever watches a run.
pub trait Audience {
    /// Something happened, and this is how things stand.
    fn on_event(&mut self, event: &RunEvent, now: &Snapshot<'_>);
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// A run that was interrupted goes on: this many units had landed without it being written down, and this many
    /// processes were left behind.
    Resumed {
        landed: usize,
        ended: usize,
    },
    /// These done tasks do not hold on the commit that the run begins with: they are done again.
    Reopened {
        tasks: Vec<TaskId>,
    },
    /// The check of these tasks passes on the commit that the run begins with: it proves nothing about their work.
    PassAlready {
        tasks: Vec<TaskId>,
    },
    /// The decisions of a phase were written down without an agent: these, in a few words.
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
    /// The agent is gone, and its work is checked.
    Checking {
        unit: TaskId,
    },
    /// Experts looked at what failed, and the next attempt is told what they said; or they said nothing.
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
    /// It is tried again.
    Again {
        unit: TaskId,
        why: String,
    },
    /// It waits for a while: a rate limit, a budget that others hold.
    Waits {
        unit: TaskId,
        why: String,
    },
    Blocked {
        unit: TaskId,
        why: String,
    },
    /// A human stopped it, and it ends when what runs has ended. Nothing more starts.
    Stopping {
        /// The units that are ended or land. Empty: the last checks of the run.
        units: Vec<TaskId>,
    },
    /// Nothing happened, but time went by.
    Tick,
}

/// How things stand.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    pub run: &'a Run,
    pub units: &'a [RunUnit],
    pub agents: &'a BTreeMap<TaskId, Activity>,
    /// With what the running agents spent until now.
    pub sums: Sums,
    pub waves: u32,
}

/// What a unit that is worked on is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// A tool and its target, or a phase.
    pub doing: String,
    pub turns: u32,
    pub spent: Spent,
}
