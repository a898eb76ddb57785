use std::path::Path;
use std::sync::atomic::AtomicBool;

use steadfast_model::{Evidence, Millis, PlanId, RunId, RunUnit, TaskId};

/// What a run asks of the commands: closing tasks by their checks, and the time.
pub trait Desk: Send + Sync {
    /// Puts the tasks of a unit into the ledger as the plan of its worktree, with what is to be done again.
    fn load(&self, run: &RunId, unit: &RunUnit, worktree: &Path, rework: &Rework) -> Result<Loaded, String>;

    /// Closes a task of the plan in this worktree, as `steadfast task done` does. `stop` ends the waiting.
    fn close(&self, worktree: &Path, task: &TaskId, stop: &AtomicBool) -> Result<Closed, String>;

    /// Runs the check of a task once more, on the files in `folder`, and keeps what came of it as evidence of the task.
    /// None: nothing is to be run for it.
    fn check_again(
        &self,
        folder: &Path,
        plan: &PlanId,
        task: &TaskId,
        stop: &AtomicBool,
    ) -> Result<Option<Evidence>, String>;

    /// A worktree is about to go: so does what was kept for it alone.
    fn leave(&self, _worktree: &Path) {}

    fn now(&self) -> Millis;
}

/// What a unit has to do once more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rework {
    /// Its check failed on what would have landed.
    pub reopen: Option<TaskId>,
    /// Files with both sides of a conflict in them: settling them becomes a task.
    pub conflict: Vec<String>,
}

/// The plan of a unit's worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub plan: PlanId,
    /// In the order in which they are closed.
    pub tasks: Vec<TaskId>,
    /// Whether one of them is open.
    pub is_open: bool,
}

/// How a task stands after its check.
#[derive(Clone, Debug, PartialEq)]
pub enum Closed {
    Done,
    Open {
        /// One line.
        why: String,
        /// The end of what its check said.
        output: String,
    },
    /// The agent, or its check, says that a human is needed.
    NeedsHuman(String),
    /// Nobody waited for its end.
    Stopped,
}
