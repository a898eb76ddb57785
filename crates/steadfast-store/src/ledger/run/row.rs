use rusqlite::Row;
use steadfast_model::{Host, Millis, PlanId, Process, Run, RunId, RunState};

use crate::ledger::LedgerError;
use crate::ledger::database::column::{count, json, millis, plan_id, word};
use crate::ledger::database::connection::{Connection, Parameters};
use crate::ledger::error::Fault;

const COLUMNS: &str = "id, plan, worktree, spec, host, base, branch, state, reason, limits, started_at, updated_at, ended_at, pid, pid_started";

pub(super) fn find(connection: &Connection, id: &RunId) -> Result<Run, Fault> {
    let found = connection.first(&format!("SELECT {COLUMNS} FROM run WHERE id = ?1"), [id], from_row)?;
    found.ok_or_else(|| LedgerError::UnknownRun { run: id.clone() }.into())
}

pub(super) fn select(connection: &Connection, condition: &str, parameters: impl Parameters) -> Result<Vec<Run>, Fault> {
    connection.rows(&format!("SELECT {COLUMNS} FROM run WHERE {condition}"), parameters, from_row)
}

/// Returns the unfinished run of a plan.
pub(super) fn of_plan(connection: &Connection, plan: &PlanId) -> Result<Option<Run>, Fault> {
    let condition = "plan = ?1 AND ended_at IS NULL ORDER BY started_at DESC, id DESC LIMIT 1";
    Ok(select(connection, condition, [plan])?.pop())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: RunId::new(row.get::<_, String>(0)?),
        plan: plan_id(row, 1)?,
        worktree: row.get(2)?,
        spec: row.get(3)?,
        host: word(row, 4, &Host::ALL, Host::as_str)?,
        base: row.get(5)?,
        branch: row.get(6)?,
        state: word(row, 7, &RunState::ALL, RunState::as_str)?,
        reason: row.get(8)?,
        limits: json(9, &row.get::<_, String>(9)?)?,
        started_at: millis(row, 10)?,
        updated_at: millis(row, 11)?,
        ended_at: row.get::<_, Option<i64>>(12)?.map(Millis),
        runner: process(row, 13)?,
    })
}

/// Reads a process from two columns.
pub(super) fn process(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Process>> {
    match row.get::<_, Option<u32>>(index)? {
        Some(pid) => Ok(Some(Process { pid, started: count(row, index + 1)? })),
        None => Ok(None),
    }
}
