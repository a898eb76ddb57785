//! The plans of a worktree, and which of them is in force.

use steadfast_model::PlanId;
use steadfast_store::ledger::{LedgerError, PlanLine, PlanRow};

use super::{PlanError, TaskList};
use crate::error::WorkError;

/// The plans of a worktree, with the one in force first.
#[derive(Debug)]
pub struct Plans {
    pub lines: Vec<PlanLine>,
    pub in_force: Option<PlanId>,
}

impl TaskList {
    pub fn plans(&self) -> Result<Plans, WorkError> {
        let in_force = self.view()?.map(|view| view.id);
        let mut lines = self.ledger.plans(&self.worktree)?;
        lines.sort_by_key(|line| Some(&line.id) != in_force.as_ref());
        Ok(Plans { lines, in_force })
    }

    /// Puts a plan in force. A finished plan may not hide one with open tasks.
    pub fn use_plan(&mut self, plan: &PlanId) -> Result<PlanRow, WorkError> {
        let Plans { lines, in_force } = self.plans()?;
        let Some(line) = lines.iter().find(|line| line.id == *plan) else {
            let known = lines.into_iter().map(|line| line.id).collect();
            return Err(PlanError::Unknown { plan: plan.clone(), known }.into());
        };
        if let Some(run) = &line.run {
            return Err(LedgerError::InRun { plan: plan.clone(), run: run.clone() }.into());
        }
        let other = lines.iter().find(|line| Some(&line.id) == in_force.as_ref() && line.counts.open() > 0);
        if let Some(other) = other.filter(|_| line.counts.open() + line.counts.blocked == 0) {
            return Err(PlanError::AllDone { plan: plan.clone(), other: other.id.clone() }.into());
        }
        self.ledger.use_plan(plan, self.caller.by, self.now())?;
        self.render_decisions();
        Ok(self.ledger.plan_row(plan)?)
    }
}
