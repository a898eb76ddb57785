//! The plan of a unit's worktree: its tasks alone, checked as the run's plan says.

use std::collections::BTreeMap;

use steadfast_model::{AddedBy, Check, Evidence, Millis, PlanId, RunId, Status, Task, TaskId};

use super::super::column::{plan_id, text, word};
use super::super::decision::{self, Decision};
use super::super::error::Fault;
use super::super::plan::{self, NewPlan};
use super::super::progress::{self, Baseline};
use super::super::spec;
use super::super::status::{self, StatusChange};
use super::super::{Ledger, LedgerError, evidence, task};
use super::row;
use crate::ledger::bind::{AsGiven, params};
use crate::ledger::connection::{Connection, Transaction};

/// A unit on its way into its worktree.
#[derive(Clone, Copy, Debug)]
pub struct UnitLoading<'a> {
    pub run: &'a RunId,
    pub unit: &'a TaskId,
    /// In the order they are worked on.
    pub tasks: &'a [TaskId],
    /// Where its agent works.
    pub worktree: &'a str,
    pub title: &'a str,
    /// How many attempts in a row came to nothing.
    pub stuck: u32,
    /// How that worktree stands now.
    pub baseline: &'a Baseline,
    pub now: Millis,
}

/// What came of a unit in its worktree.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitResult {
    /// As they stand there; also those that its agent added.
    pub tasks: Vec<Task>,
    /// The last of each task that has any.
    pub evidence: BTreeMap<TaskId, Evidence>,
    /// Those that the run's plan does not have.
    pub decisions: Vec<Decision>,
}

impl Ledger {
    /// The plan of this worktree, made of these tasks of the run's plan. One that is there already stays: its agent may
    /// have come far before the runner died.
    pub fn load_unit(&mut self, loading: &UnitLoading<'_>) -> Result<PlanId, LedgerError> {
        self.write(|transaction| {
            let whole = row::find(transaction, loading.run)?.plan;
            let id = match place_for(transaction, loading)? {
                Place::Present(id) => {
                    // What was decided since it was loaded.
                    decision::add_missing(transaction, &id, &decision::all(transaction, &whole)?)?;
                    begin_again(transaction, &id, loading)?;
                    transaction.touch(&id);
                    return Ok(id);
                }
                Place::Free(id) => id,
            };
            put(transaction, &whole, &id, loading)?;
            if loading.stuck > 0 {
                begin_again(transaction, &id, loading)?;
            }
            transaction.touch(&id);
            Ok(id)
        })
    }

    /// What came of it. Asking changes nothing.
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

    /// Archives it, with what else its agent kept for that worktree: nobody is held by it then. Twice is once.
    pub fn drop_unit(&mut self, unit_plan: &PlanId, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            plan::require(transaction, unit_plan)?;
            put_away(transaction, unit_plan, now)
        })
    }
}

/// The agent that was at it is gone. It may have run a failing check many times: that was one attempt.
fn begin_again(transaction: &Transaction<'_>, id: &PlanId, loading: &UnitLoading<'_>) -> Result<(), Fault> {
    let open = task::all(transaction, id)?.into_iter().filter(|task| !task.status.is_closed());
    for (index, task) in open.enumerate() {
        // An agent that did nothing at all came to nothing at the first.
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

pub(super) fn put_away(transaction: &Transaction<'_>, unit_plan: &PlanId, now: Millis) -> Result<(), Fault> {
    for id in beside(transaction, unit_plan)? {
        spec::put_away(transaction, &id, now)?;
        transaction.touch(&id);
    }
    Ok(())
}

/// The plans of its worktree that are not put away, itself among them.
fn beside(connection: &Connection, unit_plan: &PlanId) -> Result<Vec<PlanId>, Fault> {
    connection.rows(
        "SELECT id FROM plan WHERE cleared_at IS NULL AND worktree = (SELECT worktree FROM plan WHERE id = ?1)",
        [unit_plan],
        |row| plan_id(row, 0),
    )
}

/// What a unit's plan is called.
enum Place {
    /// It is there, for this very worktree.
    Present(PlanId),
    Free(PlanId),
}

/// `r-1a2b3c4d-1.2`; the next worktree of the same unit gets a number.
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
    // What it waits for outside the unit is done by the time it is dispatched.
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

/// As it stands in the whole plan, but nobody is at it yet.
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
