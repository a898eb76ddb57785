//! The plan of a unit's worktree: only the tasks of the unit, with the checks of the run's plan.

use std::collections::BTreeMap;

use steadfast_model::{AddedBy, Check, Evidence, Millis, PlanId, RunId, Status, Task, TaskId};

use super::row;
use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::column::{plan_id, text, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::decision::{self, Decision};
use crate::ledger::error::Fault;
use crate::ledger::plan::{self, NewPlan, spec};
use crate::ledger::task::progress::{self, Baseline};
use crate::ledger::task::status::{self, StatusChange};
use crate::ledger::task::{self, evidence};
use crate::ledger::{Ledger, LedgerError};

/// A unit to load into its worktree.
#[derive(Clone, Copy, Debug)]
pub struct UnitLoading<'a> {
    pub run: &'a RunId,
    pub unit: &'a TaskId,
    /// In working order.
    pub tasks: &'a [TaskId],
    /// The worktree of its agent.
    pub worktree: &'a str,
    pub title: &'a str,
    /// The number of consecutive failed attempts.
    pub stuck: u32,
    /// The current state of that worktree.
    pub baseline: &'a Baseline,
    pub now: Millis,
}

/// The result of a unit in its worktree.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitResult {
    /// With the statuses of the worktree, including the tasks that its agent added.
    pub tasks: Vec<Task>,
    /// The last evidence of each task that has any.
    pub evidence: BTreeMap<TaskId, Evidence>,
    /// Decisions that the run's plan does not have.
    pub decisions: Vec<Decision>,
}

impl Ledger {
    /// Creates the plan of a unit's worktree from tasks of the run's plan. An existing plan stays, because its agent may
    /// have made progress before the runner died.
    pub fn load_unit(&mut self, loading: &UnitLoading<'_>) -> Result<PlanId, LedgerError> {
        self.write(|transaction| {
            let whole = row::find(transaction, loading.run)?.plan;
            let id = match place_for(transaction, loading)? {
                Place::Present(id) => {
                    // Decisions made since it was loaded.
                    decision::add_missing(transaction, &id, &decision::all(transaction, &whole)?)?;
                    reset_open_tasks(transaction, &id, loading)?;
                    transaction.touch(&id);
                    return Ok(id);
                }
                Place::Free(id) => id,
            };
            put(transaction, &whole, &id, loading)?;
            if loading.stuck > 0 {
                reset_open_tasks(transaction, &id, loading)?;
            }
            transaction.touch(&id);
            Ok(id)
        })
    }

    /// Reads the result of a unit. Changes nothing.
    pub fn take_unit(&self, run: &RunId, unit_plan: &PlanId) -> Result<UnitResult, LedgerError> {
        self.read(|connection| {
            plan::require(connection, unit_plan)?;
            let whole = row::find(connection, run)?.plan;
            let known = decision::all(connection, &whole)?;
            let mut decisions = decision::all(connection, unit_plan)?;
            decisions.retain(|decision| !known.contains(decision));
            Ok(UnitResult {
                tasks: task::all(connection, unit_plan)?,
                evidence: evidence::last_of_each(connection, unit_plan)?,
                decisions,
            })
        })
    }

    /// Archives the plan, and the other plans of that worktree, so that no session there is blocked by it. Repeating it does
    /// nothing.
    pub fn drop_unit(&mut self, unit_plan: &PlanId, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            plan::require(transaction, unit_plan)?;
            archive(transaction, unit_plan, now)
        })
    }
}

/// Resets the open tasks after their agent is gone. Many failed checks in its session count as one attempt.
fn reset_open_tasks(transaction: &Transaction<'_>, id: &PlanId, loading: &UnitLoading<'_>) -> Result<(), Fault> {
    let open = task::all(transaction, id)?.into_iter().filter(|task| !task.status.is_closed());
    for (index, task) in open.enumerate() {
        // An agent that did nothing at all failed at the first task.
        if index > 0 && task.status != Status::InProgress && task.stuck_count == 0 {
            continue;
        }
        progress::set_stuck(transaction, id, &task.id, loading.stuck, loading.now)?;
        if task.status == Status::InProgress {
            let change = StatusChange { to: Status::Pending, reason: None, fence: None, now: loading.now };
            status::change(transaction, id, &task.id, &change)?;
        }
    }
    Ok(())
}

pub(super) fn archive(transaction: &Transaction<'_>, unit_plan: &PlanId, now: Millis) -> Result<(), Fault> {
    for id in plans_of_worktree(transaction, unit_plan)? {
        spec::archive(transaction, &id, now)?;
        transaction.touch(&id);
    }
    Ok(())
}

/// Lists the plans of its worktree that are not archived, including itself.
fn plans_of_worktree(connection: &Connection, unit_plan: &PlanId) -> Result<Vec<PlanId>, Fault> {
    connection.rows(
        "SELECT id FROM plan WHERE cleared_at IS NULL AND worktree = (SELECT worktree FROM plan WHERE id = ?1)",
        [unit_plan],
        |row| plan_id(row, 0),
    )
}

/// The id for a unit's plan.
enum Place {
    /// The plan exists for this worktree.
    Present(PlanId),
    Free(PlanId),
}

/// Returns an id like `r-1a2b3c4d-1.2`. Later worktrees of the same unit get a number.
fn place_for(connection: &Connection, loading: &UnitLoading<'_>) -> Result<Place, Fault> {
    let mut number = 1;
    loop {
        let name = format!("{}-{}", loading.run, loading.unit);
        let id = PlanId::new(if number == 1 { name } else { format!("{name}-{number}") });
        match plan::worktree_of(connection, &id)? {
            None => return Ok(Place::Free(id)),
            Some(worktree) if worktree == loading.worktree && !plan::is_cleared(connection, &id)? => {
                return Ok(Place::Present(id));
            }
            Some(_) => number += 1,
        }
    }
}

fn put(transaction: &Transaction<'_>, whole: &PlanId, id: &PlanId, loading: &UnitLoading<'_>) -> Result<(), Fault> {
    let &UnitLoading { worktree, title, now, .. } = loading;
    let (source, added_by): (Option<String>, AddedBy) =
        transaction.row("SELECT source, added_by FROM plan WHERE id = ?1", [whole], |row| {
            Ok((row.get(0)?, word(row, 1, &AddedBy::ALL, AddedBy::as_str)?))
        })?;
    plan::insert(transaction, &NewPlan { id, worktree, title, source: source.as_deref(), added_by }, now)?;
    transaction
        .run("UPDATE plan SET head = (SELECT head FROM plan WHERE id = ?2) WHERE id = ?1", params![id, whole])?;
    for task in loading.tasks {
        put_task(transaction, whole, id, task, loading)?;
    }
    // Tasks outside the unit are done before the unit is dispatched, so dependencies on them are dropped.
    transaction.change(
        "INSERT INTO dependency (plan, task, blocked_by)
         SELECT ?1, dependency.task, dependency.blocked_by FROM dependency
         JOIN task ON task.plan = ?1 AND task.id = dependency.task
         JOIN task AS before ON before.plan = ?1 AND before.id = dependency.blocked_by
         WHERE dependency.plan = ?2",
        params![id, whole],
    )?;
    spec::count_all_waits(transaction, id)?;
    transaction.run(
        "INSERT INTO decision (plan, number, phase, what, why, added_by, at)
         SELECT ?1, number, phase, what, why, added_by, at FROM decision WHERE plan = ?2",
        params![id, whole],
    )
}

/// Copies a task from the run's plan. Unless it is done, it becomes pending.
fn put_task(
    transaction: &Transaction<'_>,
    whole: &PlanId,
    id: &PlanId,
    task: &TaskId,
    loading: &UnitLoading<'_>,
) -> Result<(), Fault> {
    let found = task::find(transaction, whole, task)?;
    let started = spec::at_load(found.verify.as_ref(), &found.files, loading.baseline, loading.now);
    transaction.run(
        "INSERT INTO task (plan, id, position, title, kind, type, phase, item, files, notes, verify, status,
                               stuck_count, wave, started, added_by, created_at, updated_at, first_closed_at)
             SELECT ?1, id, position, title, kind, type, phase, item, files, notes, verify,
                    CASE status WHEN 'done' THEN 'done' ELSE 'pending' END,
                    stuck_count, wave, ?4, added_by, ?5, ?5, first_closed_at
             FROM task WHERE plan = ?2 AND id = ?3",
        params![id, whole, task, started.as_ref().map(text), loading.now],
    )?;
    if let Some(command) = found.verify.as_ref().and_then(Check::as_command) {
        transaction.run(
            "INSERT INTO frozen (plan, command, definition, at)
                 SELECT ?1, command, definition, at FROM frozen WHERE plan = ?2 AND command = ?3
                 ON CONFLICT (plan, command) DO NOTHING",
            params![id, whole, AsGiven(command)],
        )?;
    }
    Ok(())
}
