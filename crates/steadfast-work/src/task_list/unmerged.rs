//! What a run did is on its branch until a human merges it: the files of this checkout say nothing about it.

use std::collections::BTreeSet;
use std::time::Duration;

use steadfast_model::{PlanId, RunId, TaskId};
use steadfast_observe::GitCommand;

use super::TaskList;
use crate::error::WorkError;

const QUICK: Duration = Duration::from_secs(2);

/// Tasks that are done on a branch which is not in this checkout.
#[derive(Debug, Default)]
pub(super) struct UnmergedTasks {
    pub(super) branch: String,
    pub(super) tasks: BTreeSet<TaskId>,
}

impl TaskList {
    /// By the last run of a plan.
    pub(super) fn unmerged_tasks(&self, plan: &PlanId) -> Result<UnmergedTasks, WorkError> {
        self.unmerged_tasks_but(plan, None)
    }

    /// The same of the last run but this one.
    pub(super) fn unmerged_tasks_but(&self, plan: &PlanId, but: Option<&RunId>) -> Result<UnmergedTasks, WorkError> {
        let runs = self.ledger.runs_of(&self.worktree)?;
        let Some(run) = runs.into_iter().find(|run| run.plan == *plan && Some(&run.id) != but) else {
            return Ok(UnmergedTasks::default());
        };
        let branch = format!("refs/heads/{}", run.branch);
        let asked =
            GitCommand::at(&self.repository.place.root).call("merge-base").args(["--is-ancestor", &branch, "HEAD"]);
        // A branch that is gone was merged or thrown away; the files decide then.
        if !matches!(asked.outcome(&[0, 1], QUICK), Ok((1, _))) {
            return Ok(UnmergedTasks::default());
        }
        let landed = self.ledger.units(&run.id)?.into_iter().filter(|unit| unit.merged.is_some());
        Ok(UnmergedTasks { branch: run.branch, tasks: landed.flat_map(|unit| unit.tasks).collect() })
    }
}
