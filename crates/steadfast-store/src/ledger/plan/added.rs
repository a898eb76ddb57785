//! Tasks that were added to a plan compiled from a spec. Their ids, `+1` and `+2`, cannot collide with the author's. They
//! stay when the spec is loaded again. When a spec is loaded, the open tasks of the plain list become such tasks.

use std::collections::BTreeMap;

use steadfast_model::{Millis, PlanId, TaskId};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::task_id;
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::plan::{self, spec};
use crate::ledger::task::order::position;
use crate::ledger::{Ledger, LedgerError, run, task};

/// The first character of an added task's id.
pub(crate) const ADDED: char = '+';

/// A task that was moved from the plain list into a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    pub before: TaskId,
    pub task: TaskId,
    pub title: String,
}

impl Ledger {
    /// Moves the unfinished tasks of a worktree's plain list into this plan. Does nothing while a run works on the plan: the
    /// list joins it when the run has ended.
    pub fn join_list(&mut self, worktree: &str, plan: &PlanId, now: Millis) -> Result<Vec<Joined>, LedgerError> {
        self.write(|transaction| {
            plan::require(transaction, plan)?;
            match run::of_plan(transaction, plan)? {
                Some(_) => Ok(Vec::new()),
                None => join_list(transaction, worktree, plan, now),
            }
        })
    }
}

/// Returns `+1`, or one more than the highest existing number.
pub(crate) fn free_id(connection: &Connection, plan: &PlanId) -> Result<TaskId, Fault> {
    let number = |id: &TaskId| id.as_str().strip_prefix(ADDED)?.parse::<u64>().ok();
    let highest = task::ids(connection, plan)?.iter().filter_map(number).max().unwrap_or(0);
    Ok(TaskId::new(format!("{ADDED}{}", highest.saturating_add(1))))
}

pub(crate) fn join_list(
    transaction: &Transaction<'_>,
    worktree: &str,
    plan: &PlanId,
    now: Millis,
) -> Result<Vec<Joined>, Fault> {
    let mut joined = Vec::new();
    for list in plan::lists(transaction, worktree)? {
        let mut moved = BTreeMap::new();
        for id in select(transaction, &list, "status <> 'done'")? {
            let new = free_id(transaction, plan)?;
            copy(transaction, &list, &id, plan, &new)?;
            joined.push(Joined {
                title: task::find(transaction, plan, &new)?.title,
                before: id.clone(),
                task: new.clone(),
            });
            moved.insert(id, new);
        }
        if moved.is_empty() {
            continue;
        }
        copy_dependencies(transaction, &list, plan, &moved)?;
        transfer_owner(transaction, &list, plan, now)?;
        for id in moved.keys() {
            let which = params![list, id];
            transaction.run("DELETE FROM evidence WHERE plan = ?1 AND task = ?2", which)?;
            transaction.run("DELETE FROM task WHERE plan = ?1 AND id = ?2", which)?;
        }
        transaction.touch(&list);
        transaction.touch(plan);
    }
    if !joined.is_empty() {
        spec::count_all_waits(transaction, plan)?;
    }
    Ok(joined)
}

/// Copies the added tasks of a plan into the plan that replaces it. If the author now uses the id of an added task, the
/// added task gets the next free id.
pub(crate) fn carry_over(transaction: &Transaction<'_>, before: &PlanId, plan: &PlanId) -> Result<(), Fault> {
    let mut ids = BTreeMap::new();
    let mut taken = Vec::new();
    for id in select(transaction, before, "phase IS NULL")? {
        if task::exists(transaction, plan, &id)? {
            taken.push(id);
        } else {
            copy(transaction, before, &id, plan, &id)?;
            ids.insert(id.clone(), id);
        }
    }
    for id in taken {
        let new = free_id(transaction, plan)?;
        copy(transaction, before, &id, plan, &new)?;
        ids.insert(id, new);
    }
    copy_dependencies(transaction, before, plan, &ids)
}

fn select(connection: &Connection, plan: &PlanId, condition: &str) -> Result<Vec<TaskId>, Fault> {
    connection.rows(
        &format!("SELECT id FROM task WHERE plan = ?1 AND {condition} ORDER BY position, id"),
        [plan],
        |row| task_id(row, 0),
    )
}

/// Copies a task with its evidence and the definition of its check to another plan and id.
fn copy(transaction: &Transaction<'_>, from: &PlanId, id: &TaskId, to: &PlanId, new: &TaskId) -> Result<(), Fault> {
    let ids = params![from, id, to, new];
    transaction.run(
        "INSERT INTO task (plan, id, position, title, kind, type, phase, item, files, notes, verify, status,
                               block_reason, stuck_count, wave, started, failure, first_closed_at, added_by, created_at,
                               updated_at)
             SELECT ?3, ?4, ?5, title, kind, type, phase, item, files, notes, verify, status, block_reason, stuck_count,
                    wave, started, failure, first_closed_at, added_by, created_at, updated_at
             FROM task WHERE plan = ?1 AND id = ?2",
        params![from, id, to, new, position(new)],
    )?;
    transaction.run(
        "INSERT INTO evidence (plan, task, number, class, passed, at, body)
             SELECT ?3, ?4, number, class, passed, at, body FROM evidence WHERE plan = ?1 AND task = ?2",
        ids,
    )?;
    transaction.run(
        "INSERT INTO proof (plan, task, class, since, files)
             SELECT ?3, ?4, class, since, files FROM proof WHERE plan = ?1 AND task = ?2",
        ids,
    )?;
    transaction.run(
        "INSERT INTO frozen (plan, command, definition, at)
             SELECT ?3, command, definition, at FROM frozen WHERE plan = ?1 AND command = (
                 SELECT json_extract(verify, '$.command.command') FROM task WHERE plan = ?1 AND id = ?2)
             ON CONFLICT (plan, command) DO NOTHING",
        params![from, id, to],
    )
}

/// Copies the dependencies of copied tasks, as far as the other task is in the plan, under its new id or as an authored one.
fn copy_dependencies(
    transaction: &Transaction<'_>,
    from: &PlanId,
    to: &PlanId,
    ids: &BTreeMap<TaskId, TaskId>,
) -> Result<(), Fault> {
    let mut statement =
        transaction.prepare_cached("SELECT blocked_by FROM dependency WHERE plan = ?1 AND task = ?2")?;
    let is_list = !plan::is_authored(transaction, from)?;
    for (id, new) in ids {
        let rows = statement.query_map(params![from, id], |row| task_id(row, 0))?;
        let before: Vec<TaskId> = rows.collect::<Result<_, _>>()?;
        // The other tasks of a list are done. A task with the same id in the plan is a different one.
        let kept: Vec<TaskId> = before
            .into_iter()
            .filter_map(|id| ids.get(&id).cloned().or(if is_list { None } else { Some(id) }))
            .collect();
        task::depend(transaction, to, new, &kept)?;
    }
    Ok(())
}

/// Makes the owner of the list the owner of the plan, unless the plan has one.
fn transfer_owner(transaction: &Transaction<'_>, list: &PlanId, plan: &PlanId, now: Millis) -> Result<(), Fault> {
    transaction.run(
        "UPDATE plan SET owner = (SELECT owner FROM plan WHERE id = ?1), owner_since = ?3
             WHERE id = ?2 AND owner IS NULL AND (SELECT owner FROM plan WHERE id = ?1) IS NOT NULL",
        params![list, plan, now],
    )
}
