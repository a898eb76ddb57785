//! Proofs: the evidence that closed the done tasks, in the form in which a stop compares it with the files.

use std::collections::BTreeSet;

use steadfast_model::{Evidence, Millis, PlanId, SeenFile, Status, TaskId, TaskLine, TaskLines};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::{json, millis, task_id};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError};

/// The proof of a done task, if it can become stale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProof {
    pub task: TaskId,
    /// Changes before this time do not make the proof stale.
    pub since: Millis,
    /// The check has failed since then.
    pub failed: bool,
    /// Empty if the task names no files.
    pub files: Vec<SeenFile>,
}

/// The work of the last run of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunWork {
    pub branch: String,
    /// The tasks of its merged units.
    pub tasks: BTreeSet<TaskId>,
}

/// A class in addition to those of evidence: the check of a done task has failed since.
const FAILED: &str = "failed";

impl Ledger {
    /// Returns the proofs of the done tasks, if they can become stale.
    pub fn stored_proofs(&self, plan: &PlanId) -> Result<Vec<StoredProof>, LedgerError> {
        self.read(|connection| {
            connection.rows(
                "SELECT task, since, files, class FROM proof WHERE plan = ?1
                 AND (class IN ('executed', 'artifact', 'failed') OR class = 'observed' AND files <> x'')",
                [plan],
                |row| {
                    let files = SeenFile::decode(row.get_ref(2)?.as_blob()?);
                    let failed = row.get_ref(3)?.as_str()? == FAILED;
                    Ok(StoredProof { task: task_id(row, 0)?, since: millis(row, 1)?, failed, files })
                },
            )
        })
    }

    /// Returns the main and added tasks that were closed only by the agent's word.
    pub fn claimed(&self, plan: &PlanId) -> Result<TaskLines, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT task.id, task.title FROM proof JOIN task ON task.plan = proof.plan AND task.id = proof.task
                 WHERE proof.plan = ?1 AND proof.class = 'claimed' AND task.kind IN ('main', 'remediation')
                 ORDER BY task.position, task.id",
            )?;
            let mut rows = statement.query([plan])?;
            let mut claimed = TaskLines::default();
            while let Some(row) = rows.next()? {
                claimed.push(TaskLine { id: task_id(row, 0)?, title: row.get(1)?, status: Status::Done });
            }
            Ok(claimed)
        })
    }

    /// Returns those of these tasks that are done, in the order of the plan.
    pub fn done_lines(&self, plan: &PlanId, ids: &BTreeSet<TaskId>) -> Result<TaskLines, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, title FROM task WHERE plan = ?1 AND status = 'done' ORDER BY position, id",
            )?;
            let mut rows = statement.query([plan])?;
            let mut lines = TaskLines::default();
            while let Some(row) = rows.next()? {
                let id = task_id(row, 0)?;
                if ids.contains(&id) {
                    lines.push(TaskLine { id, title: row.get(1)?, status: Status::Done });
                }
            }
            Ok(lines)
        })
    }

    /// Stores the current state of files of done tasks, after a closer check found that their proofs still hold.
    pub fn see_again(&mut self, plan: &PlanId, seen: &[(TaskId, Vec<SeenFile>)]) -> Result<(), LedgerError> {
        if seen.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            let mut statement =
                transaction.prepare_cached("UPDATE proof SET files = ?3 WHERE plan = ?1 AND task = ?2")?;
            for (task, files) in seen {
                statement.execute(params![plan, task, SeenFile::encode(files)])?;
            }
            Ok(())
        })
    }

    /// Returns the work of the last run of a plan, if there was one.
    pub fn work_of_last_run(&self, plan: &PlanId) -> Result<Option<RunWork>, LedgerError> {
        self.read(|connection| last_run(connection, plan))
    }
}

pub(crate) fn last_run(connection: &Connection, plan: &PlanId) -> Result<Option<RunWork>, Fault> {
    let run: Option<(String, String)> = connection.first(
        "SELECT id, branch FROM run WHERE plan = ?1 ORDER BY started_at DESC LIMIT 1",
        [plan],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((run, branch)) = run else { return Ok(None) };
    let sql = "SELECT tasks FROM run_unit WHERE run = ?1 AND merged IS NOT NULL";
    let units: Vec<Vec<TaskId>> = connection.rows(sql, [run], |row| json(0, &row.get::<_, String>(0)?))?;
    let tasks = units.into_iter().flatten().collect();
    Ok(Some(RunWork { branch, tasks }))
}

/// Stores the evidence that closed a task.
pub(crate) fn keep(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    evidence: &Evidence,
) -> Result<(), Fault> {
    // The check read the files when it began.
    let took = evidence.seconds.map_or(0, |seconds| (seconds * 1_000.0).ceil() as u64);
    transaction.run("INSERT INTO proof (plan, task, class, since, files) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (plan, task) DO UPDATE SET class = excluded.class, since = excluded.since, files = excluded.files", params![
            plan,
            id,
            evidence.class,
            evidence.at.before(took).0,
            SeenFile::encode(&evidence.seen)
        ])
}

/// Marks the proof of a done task as failed.
pub(crate) fn fail(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId) -> Result<(), Fault> {
    transaction.run("UPDATE proof SET class = ?3 WHERE plan = ?1 AND task = ?2", params![plan, id, FAILED])
}

/// Removes the proof of a task that is open again.
pub(crate) fn forget(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId) -> Result<(), Fault> {
    transaction.run("DELETE FROM proof WHERE plan = ?1 AND task = ?2", params![plan, id])
}
