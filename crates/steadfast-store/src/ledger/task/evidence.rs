//! Evidence for tasks. A piece of evidence and the status change that it causes are one commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use steadfast_model::{CheckEnd, Checking, Evidence, Millis, PlanId, Status, TaskId, fnv};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::{json, millis, task_id, text};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::task::status::{self, Changed, StatusChange};
use crate::ledger::task::{self, proof};
use crate::ledger::{Ledger, LedgerError};

/// The number of pieces of evidence to keep per task; the oldest are dropped.
const KEPT: i64 = 20;

/// A check that is running, or whose supervisor died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    pub task: TaskId,
    /// The name of its folder and of the lock that its supervisor holds.
    pub name: String,
    pub started_at: Millis,
}

/// The effect of evidence on its task.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub changed: Changed,
    /// The number of consecutive failures of the same kind.
    pub same_failure: u32,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Failure {
    kind: u64,
    times: u32,
}

impl Ledger {
    /// Registers a running check. Returns the other one as `Err` if the task is already being checked.
    pub fn begin_check(
        &mut self,
        plan: &PlanId,
        id: &TaskId,
        name: &str,
        now: Millis,
    ) -> Result<Result<(), Running>, LedgerError> {
        self.write(|transaction| {
            task::find(transaction, plan, id)?;
            if let Some(running) = running(transaction, plan, id)? {
                return Ok(Err(running));
            }
            transaction.run(
                "INSERT INTO running (plan, task, name, started_at) VALUES (?1, ?2, ?3, ?4)",
                params![plan, id, name, now],
            )?;
            transaction.touch(plan);
            Ok(Ok(()))
        })
    }

    /// Removes a check whose supervisor died without a result.
    pub fn drop_check(&mut self, plan: &PlanId, id: &TaskId, name: &str) -> Result<bool, LedgerError> {
        self.write(|transaction| {
            transaction.touch(plan);
            forget(transaction, plan, id, name)
        })
    }

    pub fn running(&self, plan: &PlanId) -> Result<Vec<Running>, LedgerError> {
        self.read(|connection| all_running(connection, plan))
    }

    /// Stores evidence. Passed evidence closes its task; failed evidence leaves it open and counts as a failure.
    pub fn record(&mut self, plan: &PlanId, id: &TaskId, evidence: &Evidence) -> Result<Recorded, LedgerError> {
        self.write(|transaction| keep(transaction, plan, id, evidence))
    }

    /// Records evidence for several tasks of a plan at once.
    pub fn record_all(&mut self, plan: &PlanId, all: &[(TaskId, Evidence)]) -> Result<(), LedgerError> {
        self.write(|transaction| {
            for (id, evidence) in all {
                keep(transaction, plan, id, evidence)?;
            }
            Ok(())
        })
    }

    /// Records the result of this running check. Returns `None` if the check was dropped meanwhile.
    pub fn record_run(
        &mut self,
        plan: &PlanId,
        id: &TaskId,
        name: &str,
        evidence: &Evidence,
    ) -> Result<Option<Recorded>, LedgerError> {
        self.write(|transaction| {
            if !forget(transaction, plan, id, name)? {
                return Ok(None);
            }
            keep(transaction, plan, id, evidence).map(Some)
        })
    }

    /// Returns the last evidence of each task that has any.
    pub fn evidence(&self, plan: &PlanId) -> Result<BTreeMap<TaskId, Evidence>, LedgerError> {
        self.read(|connection| last_of_each(connection, plan))
    }

    /// Returns the number of consecutive failures of the same kind, including the last one.
    pub fn same_failure(&self, plan: &PlanId, id: &TaskId) -> Result<u32, LedgerError> {
        self.read(|connection| {
            task::find(connection, plan, id)?;
            Ok(failure(connection, plan, id)?.times)
        })
    }

    /// Returns the stored evidence of one task, the oldest first.
    pub fn evidence_of(&self, plan: &PlanId, id: &TaskId) -> Result<Vec<Evidence>, LedgerError> {
        self.read(|connection| {
            connection.rows(
                "SELECT body FROM evidence WHERE plan = ?1 AND task = ?2 ORDER BY number",
                params![plan, id],
                |row| json(0, &row.get::<_, String>(0)?),
            )
        })
    }
}

pub(crate) fn last_of_each(connection: &Connection, plan: &PlanId) -> Result<BTreeMap<TaskId, Evidence>, Fault> {
    connection.rows(
        "SELECT task, body FROM evidence WHERE plan = ?1 AND number = (
            SELECT MAX(number) FROM evidence AS last WHERE last.plan = evidence.plan AND last.task = evidence.task)",
        [plan],
        |row| Ok((task_id(row, 0)?, json(1, &row.get::<_, String>(1)?)?)),
    )
}

pub(crate) fn last_of(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<Option<Evidence>, Fault> {
    connection.first(
        "SELECT body FROM evidence WHERE plan = ?1 AND task = ?2 ORDER BY number DESC LIMIT 1",
        params![plan, id],
        |row| json(0, &row.get::<_, String>(0)?),
    )
}

pub(crate) fn keep(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    evidence: &Evidence,
) -> Result<Recorded, Fault> {
    transaction.touch(plan);
    let before = task::find(transaction, plan, id)?;
    insert(transaction, plan, id, evidence)?;
    if evidence.passed {
        let change = StatusChange { to: Status::Done, reason: None, fence: None, now: evidence.at };
        transaction.run("UPDATE task SET failure = NULL WHERE plan = ?1 AND id = ?2", params![plan, id])?;
        let changed = status::change(transaction, plan, id, &change)?;
        proof::keep(transaction, plan, id, evidence)?;
        return Ok(Recorded { changed, same_failure: 0 });
    }
    if before.status == Status::Done {
        proof::fail(transaction, plan, id)?;
    }
    let same_failure = count_failure(transaction, plan, id, evidence)?;
    let changed = Changed { from: before.status, task: task::find(transaction, plan, id)?, earned: false };
    Ok(Recorded { changed, same_failure })
}

pub(crate) fn all_running(connection: &Connection, plan: &PlanId) -> Result<Vec<Running>, Fault> {
    connection.rows("SELECT task, name, started_at FROM running WHERE plan = ?1 ORDER BY started_at", [plan], |row| {
        Ok(Running { task: task_id(row, 0)?, name: row.get(1)?, started_at: millis(row, 2)? })
    })
}

fn running(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<Option<Running>, Fault> {
    connection.first("SELECT name, started_at FROM running WHERE plan = ?1 AND task = ?2", params![plan, id], |row| {
        Ok(Running { task: id.clone(), name: row.get(0)?, started_at: millis(row, 1)? })
    })
}

fn forget(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId, name: &str) -> Result<bool, Fault> {
    let rows = transaction
        .change("DELETE FROM running WHERE plan = ?1 AND task = ?2 AND name = ?3", params![plan, id, name])?;
    Ok(rows == 1)
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    evidence: &Evidence,
) -> Result<(), Fault> {
    transaction.run(
        "INSERT INTO evidence (plan, task, number, class, passed, at, body)
             SELECT ?1, ?2, COALESCE(MAX(number), 0) + 1, ?3, ?4, ?5, ?6 FROM evidence WHERE plan = ?1 AND task = ?2",
        params![plan, id, evidence.class, evidence.passed, evidence.at, text(evidence)],
    )?;
    transaction.run(
        "DELETE FROM evidence WHERE plan = ?1 AND task = ?2 AND number <= (
                SELECT MAX(number) - ?3 FROM evidence AS last WHERE last.plan = ?1 AND last.task = ?2)",
        params![plan, id, KEPT],
    )
}

fn count_failure(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId, evidence: &Evidence) -> Result<u32, Fault> {
    let kind = kind_of(evidence);
    let before = failure(transaction, plan, id)?;
    let times = if before.kind == kind { before.times.saturating_add(1) } else { 1 };
    transaction.run(
        "UPDATE task SET stuck_count = stuck_count + 1, failure = ?3, updated_at = ?4 WHERE plan = ?1 AND id = ?2",
        params![plan, id, text(&Failure { kind, times }), evidence.at],
    )?;
    Ok(times)
}

fn failure(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<Failure, Fault> {
    let found: Option<String> =
        connection.row("SELECT failure FROM task WHERE plan = ?1 AND id = ?2", params![plan, id], |row| row.get(0))?;
    Ok(found.map(|text| json(0, &text)).transpose()?.unwrap_or_default())
}

/// Hashes a failure, so that equal failures have equal hashes. Times and other numbers in the output are ignored.
fn kind_of(evidence: &Evidence) -> u64 {
    /// The last lines of the output, where test runners print their summary.
    const LINES: usize = 12;
    let tail = evidence.output_tail.as_deref().unwrap_or_default();
    let mut words = String::new();
    for line in tail.lines().rev().filter(|line| !line.trim().is_empty()).take(LINES) {
        words.extend(line.chars().filter(|c| !c.is_ascii_digit() && *c != '.'));
        words.push('\n');
    }
    let end = match evidence.end {
        CheckEnd::Exited(code) => format!("exited {code}"),
        end => format!("{end:?}"),
    };
    // If nothing was executed, only the note describes the failure.
    let note = evidence.note.as_deref().filter(|_| evidence.end == CheckEnd::Looked).unwrap_or_default();
    fnv([end.as_bytes(), words.as_bytes(), note.as_bytes()])
}

/// Lists the tasks that are being checked, for the slice of the plan.
pub(crate) fn checking(connection: &Connection, plan: &PlanId) -> Result<Vec<Checking>, Fault> {
    let all = all_running(connection, plan)?.into_iter();
    Ok(all.map(|Running { task, name, .. }| Checking { task, run: name }).collect())
}
