//! Progress of tasks: started, noted, given up by an agent that is gone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use steadfast_model::{AgentId, Millis, PlanId, SessionId, Status, Task, TaskId};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::{json, task_id, text};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::task::status::{self, Changed, StatusChange};
use crate::ledger::{Ledger, LedgerError, task};

/// The state of a task and its files when it was last started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub at: Millis,
    /// Object ids of its files by path; missing files have none.
    pub files: BTreeMap<String, Option<String>>,
    /// The reason if the files could not be read. Then no change can be measured from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// The tree of the whole checkout, if the task names no files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The session that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The time at which the last session that worked on it was found gone. The next attempt begins after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The task is not started yet: this is the state when it came into the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loaded: bool,
}

/// The state of the checkout when a plan was loaded. Changes are measured from it until a task is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Object ids of the files that the tasks must change.
    pub files: BTreeMap<String, Option<String>>,
    /// The tree of the whole checkout, for tasks without files.
    pub tree: Option<String>,
}

/// An agent ran out of context and interrupted its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub at: Millis,
    /// The number of tasks that were done or blocked at that time.
    pub closed: u32,
    /// The number of consecutive checkpoints without a closed task, including this one.
    pub without_progress: u32,
}

impl Ledger {
    pub fn start_task(&mut self, plan: &PlanId, id: &TaskId, started: &Started) -> Result<Changed, LedgerError> {
        self.write(|transaction| {
            let change = |to| StatusChange { to, reason: None, fence: None, now: started.at };
            let from = task::find(transaction, plan, id)?.status;
            if from == Status::Done {
                status::change(transaction, plan, id, &change(Status::Pending))?;
            }
            let changed = status::change(transaction, plan, id, &change(Status::InProgress))?;
            // A restart keeps the first state, if it was readable: the work of an agent that died belongs to the task.
            let is_anew = from.is_closed();
            transaction.run("UPDATE task SET started = ?3 WHERE plan = ?1 AND id = ?2
                     AND (started IS NULL OR ?4 OR json_extract(started, '$.unseen') IS NOT NULL
                          OR json_extract(started, '$.loaded') IS NOT NULL)", params![plan, id, text(started), is_anew])?;
            // The session that started it last owns it.
            transaction.change("UPDATE task SET started = json_remove(json_set(started, '$.session', ?3, '$.agent', ?4), '$.put_down')
                     WHERE plan = ?1 AND id = ?2 AND (?3 IS NOT NULL OR json_extract(started, '$.put_down') IS NOT NULL)", params![
                    plan,
                    id,
                    started.session,
                    started.agent,
                ])?;
            Ok(Changed { from, ..changed })
        })
    }

    /// Stores the state from which changes to an added task are measured until it is started.
    pub fn keep_baseline(&mut self, plan: &PlanId, id: &TaskId, baseline: &Started) -> Result<(), LedgerError> {
        self.write(|transaction| {
            transaction.run(
                "UPDATE task SET started = ?3 WHERE plan = ?1 AND id = ?2 AND started IS NULL",
                params![plan, id, text(baseline)],
            )
        })
    }

    pub fn started(&self, plan: &PlanId, id: &TaskId) -> Result<Option<Started>, LedgerError> {
        self.read(|connection| {
            task::find(connection, plan, id)?;
            started(connection, plan, id)
        })
    }

    /// Returns the task that was done last.
    pub fn last_done(&self, plan: &PlanId) -> Result<Option<Task>, LedgerError> {
        self.read(|connection| {
            let id = connection.first(
                "SELECT task FROM evidence WHERE plan = ?1 AND passed = TRUE ORDER BY at DESC, task DESC LIMIT 1",
                [plan],
                |row| task_id(row, 0),
            )?;
            let task = id.map(|id| task::find(connection, plan, &id)).transpose()?;
            // Unless it was reopened.
            Ok(task.filter(|task| task.status == Status::Done))
        })
    }

    /// The owner of the plan is gone: tasks in progress become pending, and each counts as a failed attempt. Returns their
    /// ids.
    pub fn give_up(&mut self, plan: &PlanId, now: Millis) -> Result<Vec<TaskId>, LedgerError> {
        self.write(|transaction| give_up(transaction, plan, None, now))
    }

    /// Sets the number of failed attempts of a task, when a run counts them.
    pub fn set_stuck(&mut self, plan: &PlanId, id: &TaskId, stuck: u32, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            set_stuck(transaction, plan, id, stuck, now)?;
            transaction.touch(plan);
            Ok(())
        })
    }

    /// Adds a line to the notes of a task.
    pub fn note_task(&mut self, plan: &PlanId, id: &TaskId, line: &str, now: Millis) -> Result<Task, LedgerError> {
        self.write(|transaction| {
            note(transaction, plan, id, line, now)?;
            task::find(transaction, plan, id)
        })
    }
}

pub(crate) fn note(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    line: &str,
    now: Millis,
) -> Result<(), Fault> {
    let before = task::find(transaction, plan, id)?.notes.unwrap_or_default();
    let notes = if before.is_empty() { line.to_owned() } else { format!("{before}\n{line}") };
    task::notes_within(&notes)?;
    transaction.run(
        "UPDATE task SET notes = ?3, updated_at = ?4 WHERE plan = ?1 AND id = ?2",
        params![plan, id, notes, now],
    )?;
    transaction.touch(plan);
    Ok(())
}

fn started(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<Option<Started>, Fault> {
    let found: Option<String> =
        connection.row("SELECT started FROM task WHERE plan = ?1 AND id = ?2", params![plan, id], |row| row.get(0))?;
    Ok(found.map(|found| json(0, &found)).transpose()?)
}

/// Blocks an open task at a past time, from a journal. A task that was deleted or changed since stays unchanged.
pub(crate) fn block_late(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    reason: &str,
    then: Millis,
) -> Result<(), Fault> {
    let open: bool = transaction.row(
        "SELECT EXISTS (SELECT 1 FROM task WHERE plan = ?1 AND id = ?2
                            AND status IN ('pending', 'in_progress') AND updated_at <= ?3)",
        params![plan, id, then],
        |row| row.get(0),
    )?;
    if open {
        let change = StatusChange { to: Status::Blocked, reason: Some(reason.to_owned()), fence: None, now: then };
        status::change(transaction, plan, id, &change)?;
    }
    Ok(())
}

/// Makes tasks pending whose agent is gone, and counts a failed attempt. `None` means all tasks in progress. A task that was
/// changed after `now` stays unchanged, because `now` may be a past time from a journal.
pub(crate) fn give_up(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    task: Option<&TaskId>,
    now: Millis,
) -> Result<Vec<TaskId>, Fault> {
    let ids: Vec<TaskId> = transaction.rows(
        "SELECT id FROM task WHERE plan = ?1 AND status = 'in_progress' AND (?2 IS NULL OR id = ?2)
             AND updated_at <= ?3 ORDER BY position, id",
        params![plan, task, now],
        |row| task_id(row, 0),
    )?;
    for id in &ids {
        if !has_failed_since_start(transaction, plan, id)? {
            stuck(transaction, plan, id, now)?;
        }
        transaction.run(
            "UPDATE task SET started = json_set(started, '$.given_up', ?3) WHERE plan = ?1 AND id = ?2",
            params![plan, id, now],
        )?;
        let change = StatusChange { to: Status::Pending, reason: None, fence: None, now };
        status::change(transaction, plan, id, &change)?;
    }
    Ok(ids)
}

/// Returns true if a check of the task failed since it was started: then the attempt is already counted.
pub(crate) fn has_failed_since_start(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<bool, Fault> {
    let Some(Started { at, loaded: false, given_up, .. }) = started(connection, plan, id)? else { return Ok(false) };
    let at = given_up.map_or(at, |given_up| given_up.max(at));
    connection.row(
        "SELECT EXISTS (SELECT 1 FROM evidence WHERE plan = ?1 AND task = ?2 AND passed = 0 AND at >= ?3)",
        params![plan, id, at],
        |row| row.get(0),
    )
}

pub(crate) fn set_stuck(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    stuck: u32,
    now: Millis,
) -> Result<(), Fault> {
    transaction.run(
        "UPDATE task SET stuck_count = ?3, updated_at = ?4 WHERE plan = ?1 AND id = ?2",
        params![plan, id, stuck, now],
    )
}

pub(crate) fn stuck(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId, now: Millis) -> Result<(), Fault> {
    transaction.run(
        "UPDATE task SET stuck_count = stuck_count + 1, updated_at = ?3 WHERE plan = ?1 AND id = ?2",
        params![plan, id, now],
    )?;
    transaction.touch(plan);
    Ok(())
}

/// Stores a checkpoint. From the second one without progress, each counts as a failed attempt of the task in progress.
pub(crate) fn checkpoint(transaction: &Transaction<'_>, plan: &PlanId, now: Millis) -> Result<Checkpoint, Fault> {
    let before = last_checkpoint(transaction, plan)?;
    let closed = transaction.row(
        "SELECT COUNT(*) FROM task WHERE plan = ?1 AND status IN ('done', 'blocked')",
        [plan],
        |row| row.get(0),
    )?;
    let without_progress =
        before.filter(|before| before.closed >= closed).map_or(0, |before| before.without_progress) + 1;
    let kept = Checkpoint { at: now, closed, without_progress };
    transaction.run("UPDATE plan SET checkpoint = ?2 WHERE id = ?1", params![plan, text(&kept)])?;
    transaction.touch(plan);
    if without_progress > 1 {
        let sql = "SELECT id FROM task WHERE plan = ?1 AND status = 'in_progress'";
        let current: Vec<TaskId> = transaction.rows(sql, [plan], |row| task_id(row, 0))?;
        for id in &current {
            stuck(transaction, plan, id, now)?;
        }
    }
    Ok(kept)
}

pub(crate) fn last_checkpoint(connection: &Connection, plan: &PlanId) -> Result<Option<Checkpoint>, Fault> {
    let found: Option<String> =
        connection.row("SELECT checkpoint FROM plan WHERE id = ?1", [plan], |row| row.get(0))?;
    Ok(found.map(|found| json(0, &found)).transpose()?)
}
