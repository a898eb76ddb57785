use steadfast_model::{PlanId, TaskId};

use crate::agent::{AgentUpdate, Departure};

/// What executors and the merger tell the dispatcher, each of one unit, and what a trial of checks found.
#[derive(Debug)]
pub(crate) enum Message {
    /// The plan of its worktree is in the ledger.
    Loaded(TaskId, PlanId),
    Heard(TaskId, AgentUpdate),
    /// A panel looked at what failed, and this is what it said. None: nothing that can be read.
    Advised(TaskId, Option<String>),
    /// Its agent is gone, and its checks run.
    Checking(TaskId),
    Worked(TaskId, Box<Worked>),
    /// The check of these tasks passes before any work.
    PassAlready(Vec<TaskId>),
    Merged(TaskId, Merged),
}

/// How a dispatch went.
#[derive(Debug, Default)]
pub(crate) struct Worked {
    /// None: no agent was needed.
    pub(crate) departure: Option<Departure>,
    /// The commit with all its work, when every check passed.
    pub(crate) head: Option<String>,
    /// How many of its tasks are closed.
    pub(crate) closed: u32,
    /// The first task that its check left open.
    pub(crate) open: Option<Open>,
    pub(crate) needs_human: Option<(TaskId, String)>,
    /// The run was stopped while a check ran.
    pub(crate) stopped: bool,
    /// Something on this machine stood in the way: git, the disk, the ledger.
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

/// What became of a unit that was to land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// The merge commit.
    Landed(String),
    /// In these files.
    Conflict(Vec<String>),
    /// A check that passed in the unit's worktree does not on what would land.
    Fails(Open),
    Stopped,
    Trouble(String),
}
