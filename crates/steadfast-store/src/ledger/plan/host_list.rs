//! Turns the items of a host's task list into tasks of their session's own plan. All changes come from a journal. A task
//! with a check is closed only by its check, and a task that was closed here stays closed.

use steadfast_model::{AddedBy, Check, ListItem, ListStatus, Millis, PlanId, SessionId, Status, TaskId};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::exact;
use crate::ledger::database::connection::Transaction;
use crate::ledger::error::Fault;
use crate::ledger::plan::owner::{self, Claiming};
use crate::ledger::plan::{self, NewPlan, imported_status};
use crate::ledger::task::status::{self, StatusChange};
use crate::ledger::task::{self, NewTask, evidence, proof};

/// The title of such a plan.
const TITLE: &str = "the host's task list";

/// The reason of a block for a task whose item was removed.
const GONE: &str = "it was removed from the host's task list while it was open";

/// A change of the host's task list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) plan: &'a PlanId,
    pub(crate) session: &'a SessionId,
    pub(crate) worktree: &'a str,
    pub(crate) items: &'a [ListItem],
    pub(crate) gone: &'a [TaskId],
    pub(crate) at: Millis,
}

pub(crate) fn apply(transaction: &Transaction<'_>, change: &Change<'_>) -> Result<(), Fault> {
    let Change { plan, session, worktree, items, gone, at } = *change;
    if plan::is_known(transaction, plan)? {
        // A human cleared this plan and does not want it back.
        if plan::is_cleared(transaction, plan)? {
            return Ok(());
        }
    } else if items.is_empty() {
        return Ok(());
    } else {
        let new = NewPlan { id: plan, worktree, title: TITLE, source: None, added_by: AddedBy::Agent };
        plan::insert(transaction, &new, at)?;
        transaction.touch(plan);
    }
    for item in items {
        put(transaction, plan, item, at)?;
    }
    for item in items {
        task::depend(transaction, plan, &item.id, &item.blocked_by)?;
    }
    for id in gone {
        let known = stored_item(transaction, plan, id)?;
        if let Some(StoredItem { checked: false, status: Status::Pending | Status::InProgress }) = known {
            let change = StatusChange { to: Status::Blocked, reason: Some(GONE.into()), fence: None, now: at };
            status::change(transaction, plan, id, &change)?;
        }
    }
    owner::take_late(transaction, plan, session, Claiming::UnlessHeld, at)?;
    Ok(())
}

struct StoredItem {
    status: Status,
    checked: bool,
}

fn stored_item(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId) -> Result<Option<StoredItem>, Fault> {
    let row: Option<(String, bool)> = transaction.first(
        "SELECT status, verify IS NOT NULL FROM task WHERE plan = ?1 AND id = ?2",
        params![plan, id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(row.and_then(|(status, checked)| Some(StoredItem { status: Status::parse(&status)?, checked })))
}

fn put(transaction: &Transaction<'_>, plan: &PlanId, item: &ListItem, at: Millis) -> Result<(), Fault> {
    let before = match stored_item(transaction, plan, &item.id)? {
        Some(stored) => {
            rename(transaction, plan, item, at)?;
            stored
        }
        None => {
            let new = NewTask {
                id: Some(item.id.clone()),
                verify: item.check.as_deref().map(Check::command),
                ..NewTask::new(item.subject.clone(), AddedBy::Agent)
            };
            task::new_within(&new)?;
            task::insert(transaction, plan, &item.id, &new, at)?;
            transaction.touch(plan);
            StoredItem { status: Status::Pending, checked: item.check.is_some() }
        }
    };
    let to = match (item.status, before.status, before.checked) {
        // Only its check closes this task.
        (ListStatus::Completed, _, true) => return Ok(()),
        (ListStatus::Completed, Status::Pending | Status::InProgress, false) => Status::Done,
        (ListStatus::InProgress, Status::Pending, _) => Status::InProgress,
        (ListStatus::Pending, Status::InProgress, _) => Status::Pending,
        // The agent reopened it.
        (ListStatus::Pending | ListStatus::InProgress, Status::Done, false) => Status::Pending,
        _ => return Ok(()),
    };
    status::change(transaction, plan, &item.id, &StatusChange { to, reason: None, fence: None, now: at })?;
    if to == Status::Done {
        let claim = imported_status::word("the agent completed it on the host's task list".to_owned(), at);
        evidence::insert(transaction, plan, &item.id, &claim)?;
        proof::keep(transaction, plan, &item.id, &claim)?;
    }
    Ok(())
}

/// Updates the title. An existing check stays.
fn rename(transaction: &Transaction<'_>, plan: &PlanId, item: &ListItem, at: Millis) -> Result<(), Fault> {
    let check = item.check.as_deref().map(|command| exact(&Check::command(command)));
    let rows = transaction.change(
        "UPDATE task SET title = ?3, verify = COALESCE(verify, ?4), updated_at = ?5
             WHERE plan = ?1 AND id = ?2 AND (title <> ?3 OR (verify IS NULL AND ?4 IS NOT NULL))",
        params![plan, item.id, item.subject, check, at],
    )?;
    if rows > 0 {
        transaction.touch(plan);
    }
    Ok(())
}
