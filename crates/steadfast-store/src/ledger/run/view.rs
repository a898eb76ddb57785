use std::collections::BTreeMap;

use steadfast_model::{PlanId, RunId, RunView, TaskId};

use super::{dispatch, row, unit};
use crate::ledger::database::column::task_id;
use crate::ledger::database::connection::Connection;
use crate::ledger::error::Fault;
use crate::ledger::task::{self, evidence};
use crate::ledger::{Ledger, LedgerError};

impl Ledger {
    /// Returns everything about a run for display, from one moment.
    pub fn run_view(&self, run: &RunId) -> Result<RunView, LedgerError> {
        self.read(|connection| {
            let run = row::find(connection, run)?;
            let title = connection.row("SELECT title FROM plan WHERE id = ?1", [&run.plan], |row| row.get(0))?;
            Ok(RunView {
                title,
                units: unit::all(connection, &run.id)?,
                tasks: task::all(connection, &run.plan)?,
                evidence: evidence::last_of_each(connection, &run.plan)?,
                blocked: reasons(connection, &run.plan)?,
                sums: dispatch::of_run(connection, &run.id)?,
                unit_sums: dispatch::of_units(connection, &run.id)?,
                spans: dispatch::spans(connection, &run.id)?,
                run,
            })
        })
    }
}

fn reasons(connection: &Connection, plan: &PlanId) -> Result<BTreeMap<TaskId, String>, Fault> {
    connection.rows(
        "SELECT id, block_reason FROM task WHERE plan = ?1 AND status = 'blocked' AND block_reason IS NOT NULL",
        [plan],
        |row| Ok((task_id(row, 0)?, row.get(1)?)),
    )
}
