//! Tasks that were added to the plan of a spec. Their ids, `+1` and `+2`, are not the author's. They stay when the spec is
//! loaded again, and the open tasks of a plain list become such tasks when a spec is loaded.

use std::collections::BTreeMap;

use steadfast_model::{Millis, PlanId, TaskId};

use super::column::task_id;
use super::error::Fault;
use super::order::position;
use super::{Ledger, LedgerError, plan, run, spec, task};
use crate::ledger::bind::params;
use crate::ledger::connection::{Connection, Transaction};

/// What the id of an added task begins with.
pub(super) const ADDED: char = '+';

/// A task of the plain list that is one of the plan now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    pub before: TaskId,
    pub task: TaskId,
    pub title: String,
}

impl Ledger {
    /// Moves what is not done in the plain list of a worktree into this plan of it. A plan that a run works off is left as
    /// it is: the list joins it when the run is over.
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

/// `+1`, or one more than the highest that is there.
pub(super) fn free_id(connection: &Connection, plan: &PlanId) -> Result<TaskId, Fault> {
    let number = |id: &TaskId| id.as_str().strip_prefix(ADDED)?.parse::<u64>().ok();
    let highest = task::ids(connection, plan)?.iter().filter_map(number).max().unwrap_or(0);
    Ok(TaskId::new(format!("{ADDED}{}", highest.saturating_add(1))))
}

pub(super) fn join_list(
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
        wait_as_before(transaction, &list, plan, &moved)?;
        hand_over(transaction, &list, plan, now)?;
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

/// Copies the added tasks of a plan into the one that replaces it. Where the author uses the id of an added task now, the
/// added one gets the next free id.
pub(super) fn carry_over(transaction: &Transaction<'_>, before: &PlanId, plan: &PlanId) -> Result<(), Fault> {
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
    wait_as_before(transaction, before, plan, &ids)
}

fn select(connection: &Connection, plan: &PlanId, condition: &str) -> Result<Vec<TaskId>, Fault> {
    connection.rows(
        &format!("SELECT id FROM task WHERE plan = ?1 AND {condition} ORDER BY position, id"),
        [plan],
        |row| task_id(row, 0),
    )
}

/// A task with its evidence and what its check stands for, under another id in another plan.
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

/// Copied tasks wait for what they waited for, where it is in the plan: under its new id, or as one of the author's.
fn wait_as_before(
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
        // The rest of a list is done; what has the same id in the plan is another task.
        let kept: Vec<TaskId> = before
            .into_iter()
            .filter_map(|id| ids.get(&id).cloned().or(if is_list { None } else { Some(id) }))
            .collect();
        task::depend(transaction, to, new, &kept)?;
    }
    Ok(())
}

/// Who works on the list works on the plan, unless that has an owner.
fn hand_over(transaction: &Transaction<'_>, list: &PlanId, plan: &PlanId, now: Millis) -> Result<(), Fault> {
    transaction.run(
        "UPDATE plan SET owner = (SELECT owner FROM plan WHERE id = ?1), owner_since = ?3
             WHERE id = ?2 AND owner IS NULL AND (SELECT owner FROM plan WHERE id = ?1) IS NOT NULL",
        params![list, plan, now],
    )
}
