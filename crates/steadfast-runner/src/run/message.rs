use steadfast_model::{PlanId, TaskId};

use crate::agent::{AgentUpdate, Departure};

/// Messages of executors, the merger and the trial of checks to the dispatcher.
#[derive(Debug)]
pub(crate) enum Message {
    /// The plan of the unit's worktree is in the ledger.
    Loaded(TaskId, PlanId),
    Heard(TaskId, AgentUpdate),
    /// The advice of a panel. `None`: no readable answer.
    Advised(TaskId, Option<String>),
    /// The agent is gone, and its checks run.
    Checking(TaskId),
    Worked(TaskId, Box<Worked>),
    /// The checks of these tasks pass before any work.
    PassAlready(Vec<TaskId>),
    Merged(TaskId, Merged),
}

/// The result of a dispatch.
#[derive(Debug, Default)]
pub(crate) struct Worked {
    /// `None`: no agent was needed.
    pub(crate) departure: Option<Departure>,
    /// The commit with all its work, if every check passed.
    pub(crate) head: Option<String>,
    /// The number of its closed tasks.
    pub(crate) closed: u32,
    /// The first task that its check left open.
    pub(crate) open: Option<Open>,
    pub(crate) needs_human: Option<(TaskId, String)>,
    /// The run was stopped while a check ran.
    pub(crate) stopped: bool,
    /// An error of this machine: git, the disk or the ledger.
    pub(crate) trouble: Option<String>,
}

impl Worked {
    pub(crate) fn trouble(why: String) -> Self {
        Self { trouble: Some(why), ..Self::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) task: TaskId,
    /// One line.
    pub(crate) why: String,
    pub(crate) output: String,
}

/// The result of landing a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// The merge commit.
    Landed(String),
    /// The files in conflict.
    Conflict(Vec<String>),
    /// A check that passed in the unit's worktree fails on the candidate.
    Fails(Open),
    Stopped,
    Trouble(String),
}
