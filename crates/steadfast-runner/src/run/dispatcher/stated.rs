//! The checks from the human's own words, at the end of a run.

use std::sync::atomic::AtomicBool;

use steadfast_work::task_list::StatedEnd;

use super::super::begin::Until;
use super::Dispatcher;
use crate::error::RunError;

impl Dispatcher {
    /// Runs each stated check on the final tree. Returns why the run is not complete, or `None`. In a loop the gate
    /// does this.
    pub(super) fn stated_checks_fail(&self, stop: &AtomicBool) -> Result<Option<String>, RunError> {
        const NAME: &str = "stated";
        let checks = self.ledger.stated_checks(&self.run.plan)?;
        if self.until != Until::End || checks.is_empty() {
            return Ok(None);
        }
        let tasks = self.ledger.tasks(&self.run.plan)?;
        let work: Vec<String> = tasks.into_iter().flat_map(|task| task.files).collect();
        let worktrees = &self.context.worktrees;
        let tip = worktrees.tip()?.ok_or_else(|| RunError::BranchGone(worktrees.branch()))?;
        let folder = worktrees.read_only_worktree(NAME, &tip)?;
        let mut failed = Vec::new();
        for check in &checks {
            match self.context.tasks.check_stated(&folder, check, &work, stop)? {
                StatedEnd::Passed => {}
                StatedEnd::Failed { how, .. } => failed.push(format!("you said \"{}\": {how}", check.said)),
                StatedEnd::Changed { difference } => failed.push(format!(
                    "you said \"{}\": `{}` runs something else now: {difference}",
                    check.said, check.command
                )),
                StatedEnd::Stopped => failed.push(format!("`{}` did not finish", check.command)),
            }
        }
        worktrees.remove_read_only(NAME)?;
        Ok((!failed.is_empty()).then(|| format!("not complete: {}", failed.join("; "))))
    }
}
