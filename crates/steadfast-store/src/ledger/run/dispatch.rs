use std::collections::BTreeMap;

use rusqlite::Row;
use steadfast_model::{Dispatch, Host, Millis, RunId, SessionId, Spent, Sums, TaskId, WorkSpan};

use super::unit;
use crate::ledger::database::bind::params;
use crate::ledger::database::column::{count, millis, task_id, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError};

/// An iteration that begins.
#[derive(Clone, Copy, Debug)]
pub struct NewDispatch<'a> {
    pub run: &'a RunId,
    pub unit: &'a TaskId,
    pub host: Host,
    pub session: Option<&'a SessionId>,
}

/// The end of an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DispatchEnd {
    /// A short description.
    pub ending: String,
    pub session: Option<SessionId>,
    pub spent: Spent,
    pub turns: u32,
    /// The last message of its agent.
    pub summary: Option<String>,
}

/// The name prefix for costs outside units, which are not iterations.
const ASIDE: &str = "@";

const SUMS: &str = "COUNT(CASE WHEN unit NOT LIKE '@%' THEN 1 END), COALESCE(SUM(micro_usd), 0), COALESCE(SUM(input_tokens + cached_tokens + output_tokens), 0),
     COALESCE(SUM(CASE WHEN micro_usd IS NULL AND input_tokens + cached_tokens + output_tokens > 0 THEN 1 ELSE 0 END), 0)";

impl Ledger {
    /// Starts an iteration, and returns its number in the run, from 1.
    pub fn begin_dispatch(&mut self, new: NewDispatch<'_>, now: Millis) -> Result<u32, LedgerError> {
        self.write(|transaction| {
            unit::find(transaction, new.run, new.unit)?;
            insert(transaction, new, now)
        })
    }

    /// Starts something that the run pays for but that is not a unit: a review, a spec. Returns its number, as for an
    /// iteration.
    pub fn begin_aside(&mut self, run: &RunId, what: &str, host: Host, now: Millis) -> Result<u32, LedgerError> {
        let name = TaskId::new(format!("{ASIDE}{what}"));
        self.write(|transaction| insert(transaction, NewDispatch { run, unit: &name, host, session: None }, now))
    }

    /// Replaces the cost of an iteration by its cost until now.
    pub fn spend(&mut self, run: &RunId, number: u32, spent: Spent, turns: u32) -> Result<(), LedgerError> {
        self.write(|transaction| put_spent(transaction, run, number, spent, turns))
    }

    /// Ends an iteration. If it has already ended, its time, ending and summary stay.
    pub fn end_dispatch(
        &mut self,
        run: &RunId,
        number: u32,
        end: &DispatchEnd,
        now: Millis,
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            put_spent(transaction, run, number, end.spent, end.turns)?;
            transaction.run(
                "UPDATE dispatch SET ended_at = ?3, ending = ?4, session = COALESCE(?5, session), summary = ?6
                     WHERE run = ?1 AND number = ?2 AND ended_at IS NULL",
                params![run, number, now, end.ending, end.session, end.summary],
            )
        })
    }

    /// Ends the iterations whose runner died, with this ending and their cost so far. Returns their number.
    pub fn end_lost_dispatches(&mut self, run: &RunId, ending: &str, now: Millis) -> Result<usize, LedgerError> {
        self.write(|transaction| {
            Ok(transaction.execute(
                "UPDATE dispatch SET ended_at = ?2, ending = ?3 WHERE run = ?1 AND ended_at IS NULL",
                params![run, now, ending],
            )?)
        })
    }

    /// Returns the iterations in their order.
    pub fn dispatches(&self, run: &RunId) -> Result<Vec<Dispatch>, LedgerError> {
        self.read(|connection| {
            connection.rows("SELECT number, unit, host, session, started_at, ended_at, ending, micro_usd, input_tokens, cached_tokens,
                        output_tokens, turns, summary
                 FROM dispatch WHERE run = ?1 ORDER BY number", [run], from_row)
        })
    }

    /// Returns the working time of each unit's last finished agent in milliseconds: in this run and in earlier runs of the
    /// same spec in the same worktree. Units are compared by id and title.
    pub fn unit_times(&self, run: &RunId) -> Result<BTreeMap<TaskId, u64>, LedgerError> {
        self.read(|connection| {
            connection.rows(
                "SELECT here.unit, dispatch.ended_at - dispatch.started_at FROM run_unit AS here
                 JOIN run AS this ON this.id = here.run
                 JOIN run AS other ON other.worktree = this.worktree AND other.spec = this.spec
                 JOIN run_unit AS there ON there.run = other.id AND there.unit = here.unit AND there.title = here.title
                 JOIN dispatch ON dispatch.run = there.run AND dispatch.unit = there.unit
                 WHERE here.run = ?1 AND dispatch.ending = ?2 AND dispatch.ended_at >= dispatch.started_at
                 ORDER BY dispatch.started_at, dispatch.number",
                params![run, Dispatch::FINISHED],
                |row| Ok((task_id(row, 0)?, count(row, 1)?)),
            )
        })
    }

    pub fn sums(&self, run: &RunId) -> Result<Sums, LedgerError> {
        self.read(|connection| of_run(connection, run))
    }

    /// Returns the costs outside units.
    pub fn asides(&self, run: &RunId) -> Result<Sums, LedgerError> {
        self.read(|connection| {
            let query = format!("SELECT {SUMS} FROM dispatch WHERE run = ?1 AND unit LIKE '@%'");
            connection.row(&query, [run], |row| sums(row, 0))
        })
    }

    /// Returns the costs of each unit.
    pub fn unit_sums(&self, run: &RunId) -> Result<BTreeMap<TaskId, Sums>, LedgerError> {
        self.read(|connection| of_units(connection, run))
    }
}

pub(super) fn of_run(connection: &Connection, run: &RunId) -> Result<Sums, Fault> {
    connection.row(&format!("SELECT {SUMS} FROM dispatch WHERE run = ?1"), [run], |row| sums(row, 0))
}

pub(super) fn of_units(connection: &Connection, run: &RunId) -> Result<BTreeMap<TaskId, Sums>, Fault> {
    connection.rows(&format!("SELECT unit, {SUMS} FROM dispatch WHERE run = ?1 GROUP BY unit"), [run], |row| {
        Ok((task_id(row, 0)?, sums(row, 1)?))
    })
}

pub(super) fn spans(connection: &Connection, run: &RunId) -> Result<Vec<WorkSpan>, Fault> {
    connection.rows(
        "SELECT unit, started_at, ended_at FROM dispatch WHERE run = ?1 ORDER BY started_at, number",
        [run],
        |row| {
            let ended_at = row.get::<_, Option<i64>>(2)?.map(Millis);
            Ok(WorkSpan { unit: task_id(row, 0)?, started_at: millis(row, 1)?, ended_at })
        },
    )
}

fn insert(transaction: &Transaction<'_>, new: NewDispatch<'_>, now: Millis) -> Result<u32, Fault> {
    let number: u32 =
        transaction
            .row("SELECT COALESCE(MAX(number), 0) + 1 FROM dispatch WHERE run = ?1", [&new.run], |row| row.get(0))?;
    transaction.run(
        "INSERT INTO dispatch (run, number, unit, host, session, started_at, input_tokens, cached_tokens,
                                   output_tokens, turns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, 0, 0)",
        params![new.run, number, new.unit, new.host, new.session, now],
    )?;
    Ok(number)
}

fn put_spent(transaction: &Transaction<'_>, run: &RunId, number: u32, spent: Spent, turns: u32) -> Result<(), Fault> {
    let rows = transaction.change(
        "UPDATE dispatch SET micro_usd = ?3, input_tokens = ?4, cached_tokens = ?5, output_tokens = ?6, turns = ?7
             WHERE run = ?1 AND number = ?2",
        params![run, number, spent.micro_usd, spent.input_tokens, spent.cached_tokens, spent.output_tokens, turns],
    )?;
    if rows == 1 { Ok(()) } else { Err(LedgerError::UnknownDispatch { run: run.clone(), number }.into()) }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Dispatch> {
    let micro_usd = match row.get::<_, Option<i64>>(7)? {
        Some(_) => Some(count(row, 7)?),
        None => None,
    };
    Ok(Dispatch {
        number: row.get(0)?,
        unit: task_id(row, 1)?,
        host: word(row, 2, &Host::ALL, Host::as_str)?,
        session: row.get::<_, Option<String>>(3)?.map(SessionId::new),
        started_at: millis(row, 4)?,
        ended_at: row.get::<_, Option<i64>>(5)?.map(Millis),
        ending: row.get(6)?,
        spent: Spent {
            micro_usd,
            input_tokens: count(row, 8)?,
            cached_tokens: count(row, 9)?,
            output_tokens: count(row, 10)?,
        },
        turns: row.get(11)?,
        summary: row.get(12)?,
    })
}

fn sums(row: &Row<'_>, index: usize) -> rusqlite::Result<Sums> {
    Ok(Sums {
        iterations: row.get(index)?,
        micro_usd: count(row, index + 1)?,
        tokens: count(row, index + 2)?,
        unpriced: row.get(index + 3)?,
    })
}
