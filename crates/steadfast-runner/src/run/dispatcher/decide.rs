//! Writes down the decisions of a phase that the spec's author did not ask for. The runner does it without an agent.

use steadfast_model::{Task, TaskKind, UnitStatus};
use steadfast_plan::{Unit, UnitState};
use steadfast_store::ledger::LeaseError;

use super::super::event::RunEvent;
use super::Dispatcher;
use super::start::state;
use crate::error::RunError;

/// Returns the units of such decisions. A decision that the author wrote names a file, and gets an agent.
pub(super) fn without_agent(units: &[Unit], tasks: &[Task]) -> Vec<usize> {
    let is_generated = |unit: &Unit| {
        let task = tasks.iter().find(|task| task.id == unit.id);
        task.is_some_and(|task| task.kind == TaskKind::Decision && task.files.is_empty())
    };
    (0..units.len()).filter(|place| is_generated(&units[*place])).collect()
}

impl Dispatcher {
    /// Closes those whose dependencies are done. One may free the next.
    pub(super) fn write_decisions(&mut self) -> Result<(), RunError> {
        loop {
            let now = |place: usize| state(self.rows[place].status);
            let is_ready = |place: &usize| now(*place) == UnitState::Waiting && self.schedule.is_free(*place, &now);
            let (ready, later): (Vec<usize>, Vec<usize>) = self.decisions.iter().copied().partition(is_ready);
            if ready.is_empty() || self.pausing.is_some() {
                return Ok(());
            }
            self.decisions = later;
            for index in ready {
                self.write_decision(index)?;
            }
        }
    }

    fn write_decision(&mut self, index: usize) -> Result<(), RunError> {
        let unit = self.rows[index].unit.clone();
        let leases = match self.lease(index) {
            Ok(leases) => leases,
            Err(RunError::Lease(LeaseError::Held { holder, until })) => {
                self.wait_for_lease(&unit, &holder, until);
                self.decisions.push(index);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let said = self.context.tasks.write_decisions(&self.run.plan, &unit);
        self.ledger.release_leases(&leases)?;
        let said = said?;
        self.change(&unit, |row| row.status = UnitStatus::Done)?;
        self.events.push(RunEvent::Decided { unit, said });
        Ok(())
    }
}
