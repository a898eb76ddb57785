use steadfast_model::{AddedBy, Millis, PlanId, Status, Task, TaskId};

use crate::ledger::database::bind::params;
use crate::ledger::database::connection::Transaction;
use crate::ledger::error::Fault;
use crate::ledger::task::lease::{self, Fence};
use crate::ledger::task::{self, proof};
use crate::ledger::{Ledger, LedgerError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    pub to: Status,
    /// The reason for a block; removed when the task is unblocked.
    pub reason: Option<String>,
    /// The lease under which the change is made; none for a human.
    pub fence: Option<Fence>,
    pub now: Millis,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The task after the change.
    pub task: Task,
    pub from: Status,
    /// The task was closed for the first time, and a human had added it to the plan.
    pub earned: bool,
}

impl Ledger {
    /// Changes the status of a task. Setting its current status does nothing. The caller decides who may unblock a task.
    pub fn set_status(&mut self, plan: &PlanId, id: &TaskId, change: StatusChange) -> Result<Changed, LedgerError> {
        task::reason_within(change.reason.as_deref().unwrap_or_default())?;
        self.write(|transaction| self::change(transaction, plan, id, &change))
    }
}

pub(crate) fn change(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    change: &StatusChange,
) -> Result<Changed, Fault> {
    let task = task::find(transaction, plan, id)?;
    let from = task.status;
    if let Some(fence) = change.fence {
        lease::check(transaction, plan, id, fence)?;
    }
    if from == change.to {
        return Ok(Changed { task, from, earned: false });
    }
    if !is_legal(from, change.to) {
        return Err(LedgerError::IllegalMove { task: id.clone(), from, to: change.to }.into());
    }
    let earned = close_first(transaction, &task, change)? && task.added_by == AddedBy::Human;
    update(transaction, &task, change)?;
    match (from == Status::Done, change.to == Status::Done) {
        (false, true) => adjust_dependents(transaction, &task, -1)?,
        (true, false) => {
            adjust_dependents(transaction, &task, 1)?;
            proof::forget(transaction, plan, id)?;
        }
        _ => {}
    }
    transaction.touch(plan);
    Ok(Changed { task: task::find(transaction, plan, id)?, from, earned })
}

/// Changes the number of unfinished dependencies of the tasks that depend on this one.
fn adjust_dependents(transaction: &Transaction<'_>, task: &Task, more: i64) -> Result<(), Fault> {
    transaction.run(
        "UPDATE task SET waits = waits + ?3
             WHERE plan = ?1 AND id IN (SELECT task FROM dependency WHERE plan = ?1 AND blocked_by = ?2)",
        params![task.plan, task.id, more],
    )
}

fn is_legal(from: Status, to: Status) -> bool {
    use Status::{Blocked, Done, InProgress, Pending};
    match from {
        Pending => matches!(to, InProgress | Done | Blocked),
        InProgress => matches!(to, Done | Blocked | Pending),
        Blocked => matches!(to, Pending | InProgress),
        Done => matches!(to, Pending),
    }
}

/// Returns true if this change closes the task for the first time.
fn close_first(transaction: &Transaction<'_>, task: &Task, change: &StatusChange) -> Result<bool, Fault> {
    if !change.to.is_closed() {
        return Ok(false);
    }
    let rows = transaction.change(
        "UPDATE task SET first_closed_at = ?3 WHERE plan = ?1 AND id = ?2 AND first_closed_at IS NULL",
        params![task.plan, task.id, change.now],
    )?;
    Ok(rows == 1)
}

fn update(transaction: &Transaction<'_>, task: &Task, change: &StatusChange) -> Result<(), Fault> {
    let reason = change.reason.as_deref().filter(|_| change.to == Status::Blocked);
    transaction.run(
        "UPDATE task SET status = ?3, block_reason = ?4, updated_at = ?5 WHERE plan = ?1 AND id = ?2",
        params![task.plan, task.id, change.to, reason, change.now],
    )
}
