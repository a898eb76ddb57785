//! Tasks that a run did on a branch which is not merged yet, so that the files of this checkout say nothing about them.

use std::collections::BTreeSet;
use std::time::Duration;

use steadfast_model::{PlanId, RunId, TaskId};
use steadfast_observe::GitCommand;

use super::TaskList;
use crate::error::WorkError;

const QUICK: Duration = Duration::from_secs(2);

/// Done tasks of a branch that is not merged into this checkout.
#[derive(Debug, Default)]
pub(super) struct UnmergedTasks {
    pub(super) branch: String,
    pub(super) tasks: BTreeSet<TaskId>,
}

impl TaskList {
    /// The unmerged tasks of the last run of a plan.
    pub(super) fn unmerged_tasks(&self, plan: &PlanId) -> Result<UnmergedTasks, WorkError> {
        self.unmerged_tasks_but(plan, None)
    }

    /// The same, ignoring one run.
    pub(super) fn unmerged_tasks_but(&self, plan: &PlanId, but: Option<&RunId>) -> Result<UnmergedTasks, WorkError> {
        let runs = self.ledger.runs_of(&self.worktree)?;
        let Some(run) = runs.into_iter().find(|run| run.plan == *plan && Some(&run.id) != but) else {
            return Ok(UnmergedTasks::default());
        };
        let branch = format!("refs/heads/{}", run.branch);
        let asked =
            GitCommand::at(&self.repository.place.root).call("merge-base").args(["--is-ancestor", &branch, "HEAD"]);
        // A missing branch was merged or deleted; then the files decide.
        if !matches!(asked.outcome(&[0, 1], QUICK), Ok((1, _))) {
            return Ok(UnmergedTasks::default());
        }
        let landed = self.ledger.units(&run.id)?.into_iter().filter(|unit| unit.merged.is_some());
        Ok(UnmergedTasks { branch: run.branch, tasks: landed.flat_map(|unit| unit.tasks).collect() })
    }
}
