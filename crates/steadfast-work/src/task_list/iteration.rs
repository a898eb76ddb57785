//! Counts the iterations of a loop in a session: each unit that an agent starts is one.

use steadfast_hook::cost_since;
use steadfast_model::{Status, Task, TaskKind};

use super::TaskList;
use crate::error::WorkError;
use crate::loops::LoopError;
use crate::repository::Repository;

impl TaskList {
    /// Counts an iteration if an agent starts a unit of a loop, or closes one that it never started. Refuses if the
    /// loop is at a limit; from then on, the loop waits for a human. Tasks generated around a main task belong to the
    /// same unit.
    pub(super) fn begin_unit(&mut self, task: &Task) -> Result<(), WorkError> {
        let is_head = matches!(task.kind, TaskKind::Main | TaskKind::Remediation);
        if !self.caller.is_agent() || !is_head || !matches!(task.status, Status::Pending | Status::Done) {
            return Ok(());
        }
        let Some(mut looped) = self.ledger.loop_of_plan(&task.plan)?.filter(|looped| looped.run.is_none()) else {
            return Ok(());
        };
        let Repository { place, config, .. } = &self.repository;
        if looped.limits.micro_usd.is_some()
            && let Some(session) = &self.caller.session
            && let Some(cost) = cost_since(place, config, session, looped.started_at)
        {
            self.ledger.keep_spent(&looped.id, session, cost)?;
            looped.spent.insert(session.clone(), cost);
        }
        if let Some(reached) = looped.limits.reached(&looped) {
            self.ledger.keep_waiting(&looped.id, Some(&reached))?;
            return Err(LoopError::LimitReached { id: looped.id, reached }.into());
        }
        Ok(self.ledger.count_iteration(&looped.id)?)
    }
}
