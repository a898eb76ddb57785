use rusqlite::Row;
use steadfast_model::{Millis, PlanId, RunId, RunUnit, SessionId, TaskId, UnitStatus};

use super::row;
use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::column::{json, millis, task_id, text, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError};

const COLUMNS: &str = "unit, title, tasks, wave, status, attempts, stuck, branch, directory, plan, pid, pid_started, session, leases, head, merged, note, last_failure, updated_at";

impl Ledger {
    /// Stores the units of a run in their order, and sets the waves of the plan's tasks. An existing unit keeps everything
    /// but its title, tasks and wave, because tasks may have been added to the plan.
    pub fn put_units(&mut self, run: &RunId, units: &[RunUnit], now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let plan = row::find(transaction, run)?.plan;
            for (number, unit) in units.iter().enumerate() {
                transaction.run("INSERT INTO run_unit (run, unit, number, title, tasks, wave, status, attempts, stuck, leases, updated_at)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                         ON CONFLICT (run, unit) DO UPDATE
                         SET number = excluded.number, title = excluded.title, tasks = excluded.tasks, wave = excluded.wave", params![
                        run,
                        unit.unit,
                        number,
                        unit.title,
                        text(&unit.tasks),
                        unit.wave,
                        unit.status,
                        unit.attempts,
                        unit.stuck,
                        text(&unit.leases),
                        now,
                    ])?;
                put_wave(transaction, &plan, unit)?;
            }
            Ok(())
        })
    }

    /// Returns the units in the order of the plan.
    pub fn units(&self, run: &RunId) -> Result<Vec<RunUnit>, LedgerError> {
        self.read(|connection| {
            row::find(connection, run)?;
            all(connection, run)
        })
    }

    pub fn unit(&self, run: &RunId, unit: &TaskId) -> Result<RunUnit, LedgerError> {
        self.read(|connection| find(connection, run, unit))
    }

    /// Reads a unit, changes it and stores it in one transaction. Returns the changed unit.
    pub fn change_unit(
        &mut self,
        run: &RunId,
        unit: &TaskId,
        now: Millis,
        change: impl FnOnce(&mut RunUnit),
    ) -> Result<RunUnit, LedgerError> {
        self.write(|transaction| {
            let mut changed = find(transaction, run, unit)?;
            change(&mut changed);
            changed.updated_at = now;
            keep(transaction, run, &changed)?;
            Ok(changed)
        })
    }
}

pub(super) fn all(connection: &Connection, run: &RunId) -> Result<Vec<RunUnit>, Fault> {
    connection.rows(&format!("SELECT {COLUMNS} FROM run_unit WHERE run = ?1 ORDER BY number"), [run], from_row)
}

fn put_wave(transaction: &Transaction<'_>, plan: &PlanId, unit: &RunUnit) -> Result<(), Fault> {
    let mut statement = transaction.prepare_cached("UPDATE task SET wave = ?3 WHERE plan = ?1 AND id = ?2")?;
    for task in &unit.tasks {
        statement.execute(params![plan, task, unit.wave])?;
    }
    Ok(())
}

pub(super) fn find(connection: &Connection, run: &RunId, unit: &TaskId) -> Result<RunUnit, Fault> {
    let found = connection.first(
        &format!("SELECT {COLUMNS} FROM run_unit WHERE run = ?1 AND unit = ?2"),
        params![run, unit],
        from_row,
    )?;
    found.ok_or_else(|| LedgerError::UnknownUnit { run: run.clone(), unit: unit.clone() }.into())
}

/// Stores every changeable column. The tasks of a unit do not change.
pub(super) fn keep(transaction: &Transaction<'_>, run: &RunId, unit: &RunUnit) -> Result<(), Fault> {
    transaction.run(
        "UPDATE run_unit SET wave = ?3, status = ?4, attempts = ?5, stuck = ?6, branch = ?7, directory = ?8, plan = ?9,
                    pid = ?10, pid_started = ?11, session = ?12, leases = ?13, head = ?14, merged = ?15, note = ?16,
                    last_failure = ?17, updated_at = ?18
             WHERE run = ?1 AND unit = ?2",
        params![
            run,
            unit.unit,
            unit.wave,
            unit.status,
            unit.attempts,
            unit.stuck,
            unit.branch.as_deref().map(AsGiven),
            unit.directory.as_deref().map(AsGiven),
            unit.plan,
            unit.agent.map(|process| process.pid),
            unit.agent.map(|process| process.started),
            unit.session,
            text(&unit.leases),
            unit.head,
            unit.merged,
            unit.note,
            unit.last_failure,
            unit.updated_at,
        ],
    )
}

fn from_row(columns: &Row<'_>) -> rusqlite::Result<RunUnit> {
    Ok(RunUnit {
        unit: task_id(columns, 0)?,
        title: columns.get(1)?,
        tasks: json(2, &columns.get::<_, String>(2)?)?,
        wave: columns.get(3)?,
        status: word(columns, 4, &UnitStatus::ALL, UnitStatus::as_str)?,
        attempts: columns.get(5)?,
        stuck: columns.get(6)?,
        branch: columns.get(7)?,
        directory: columns.get(8)?,
        plan: columns.get::<_, Option<String>>(9)?.map(PlanId::new),
        agent: row::process(columns, 10)?,
        session: columns.get::<_, Option<String>>(12)?.map(SessionId::new),
        leases: json(13, &columns.get::<_, String>(13)?)?,
        head: columns.get(14)?,
        merged: columns.get(15)?,
        note: columns.get(16)?,
        last_failure: columns.get(17)?,
        updated_at: millis(columns, 18)?,
    })
}
