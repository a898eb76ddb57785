//! Recovers a run whose earlier runner may have died at any moment.

use std::collections::HashMap;

use steadfast_model::{RunState, Status, UnitStatus};

use super::dispatcher::Dispatcher;
use super::event::RunEvent;
use crate::agent::end_left_behind;
use crate::error::RunError;

impl Dispatcher {
    /// Ends leftover processes, records units that landed, and resets the rest.
    pub(crate) fn recover(&mut self) -> Result<(), RunError> {
        let now = self.now();
        let ended = self.end_others();
        self.context.worktrees.unlock()?;
        self.context.worktrees.begin(&self.run.base)?;
        self.verify_base()?;
        self.ledger.end_lost_dispatches(&self.run.id, "its runner died", now)?;
        let landed: HashMap<String, String> = self.context.worktrees.landed(&self.run.base)?.into_iter().collect();
        let mut found = 0;
        for index in 0..self.rows.len() {
            let row = self.rows[index].clone();
            if let (Some(commit), Some(plan), None) = (landed.get(row.unit.as_str()), &row.plan, &row.merged) {
                let leases = self.lease(index)?;
                self.close(&row.unit, plan, &leases, commit)?;
                found += 1;
            }
            self.settle(index)?;
        }
        self.before = self.ledger.sums(&self.run.id)?;
        self.asides = self.ledger.asides(&self.run.id)?;
        self.ledger.set_run_state(&self.run.id, RunState::Running, None, now)?;
        self.run = self.ledger.run(&self.run.id)?;
        if self.before.iterations > 0 {
            self.events.push(RunEvent::Resumed { landed: found, ended });
        }
        Ok(())
    }

    /// Ends agents, checks and git commands that outlived their runner.
    fn end_others(&self) -> usize {
        let mut ended = 0;
        for row in &self.rows {
            if row.agent.is_some() || matches!(row.status, UnitStatus::Running | UnitStatus::Merging) {
                ended += end_left_behind(&format!("{}/{}", self.run.id, row.unit), row.agent);
            }
        }
        ended + end_left_behind(self.run.id.as_str(), None)
    }

    /// Sets a unit's status by its tasks. Its agent is gone.
    fn settle(&mut self, index: usize) -> Result<(), RunError> {
        let (now, row) = (self.now(), self.rows[index].clone());
        let mut statuses = Vec::new();
        for task in &row.tasks {
            statuses.push(self.ledger.task(&self.run.plan, task)?.status);
        }
        let all_done = statuses.iter().all(|status| *status == Status::Done);
        let blocked = statuses.contains(&Status::Blocked);
        let status = match (all_done, blocked) {
            (true, _) => UnitStatus::Done,
            (false, true) => UnitStatus::Blocked,
            (false, false) => UnitStatus::Waiting,
        };
        if !all_done {
            super::dispatcher::reset_tasks(&mut self.ledger, &self.run.plan, &row.tasks, now)?;
        }
        let unblocked = row.status == UnitStatus::Blocked && status == UnitStatus::Waiting;
        if row.status != status || row.agent.is_some() {
            self.change(&row.unit, |row| {
                row.status = status;
                row.agent = None;
                if unblocked {
                    row.stuck = 0;
                }
            })?;
        }
        // The worktree of a landed unit is not needed any more.
        if all_done && row.directory.as_ref().is_some_and(|folder| std::path::Path::new(folder).exists()) {
            self.context.worktrees.remove(row.unit.as_str())?;
        }
        Ok(())
    }
}
