//! Loops: the stage of a request on its way to a result, its scores and its reviews.

mod completed;
mod review;
mod row;
mod session;

use steadfast_model::{Loop, LoopEnd, LoopId, Millis, Objected, PlanId, RunId, Shape, Stage, Waiver};

pub use review::NewReview;
pub use session::Unfinished;
pub(super) use session::{bind, wait};

use super::database::column::{json, text, with_checks};
use super::error::Fault;
use super::plan;
use super::plan::spec::{self, Head};
use super::task::within;
use super::{Ledger, LedgerError};
use crate::ledger::database::bind::{AsGiven, Json, params};
use crate::ledger::database::connection::{Connection, Transaction};

/// The maximum length of a request, in characters. A longer text belongs in a spec file.
const REQUEST: usize = 20_000;
const WHY: usize = 1_000;

impl Ledger {
    /// Creates a loop. A worktree has at most one unfinished loop.
    pub fn create_loop(&mut self, new: &Loop) -> Result<(), LedgerError> {
        within("a request", &new.request, REQUEST)?;
        self.write(|transaction| {
            if let Some(other) = row::unfinished(transaction, &new.worktree)? {
                return Err(LedgerError::InLoop { id: other.id }.into());
            }
            row::insert(transaction, new)
        })
    }

    pub fn find_loop(&self, id: &LoopId) -> Result<Loop, LedgerError> {
        self.read(|connection| row::find(connection, id))
    }

    /// Returns the unfinished loop of this worktree.
    pub fn unfinished_loop(&self, worktree: &str) -> Result<Option<Loop>, LedgerError> {
        self.read(|connection| row::unfinished(connection, worktree))
    }

    /// Returns the loops of this worktree, the newest first.
    pub fn loops_of(&self, worktree: &str) -> Result<Vec<Loop>, LedgerError> {
        self.read(|connection| {
            row::select(connection, "worktree = ?1 ORDER BY started_at DESC, id DESC", params![AsGiven(worktree)])
        })
    }

    /// Returns the unfinished loop to which a plan belongs.
    pub fn loop_of_plan(&self, plan: &PlanId) -> Result<Option<Loop>, LedgerError> {
        let condition = "plan = ?1 AND ended IS NULL ORDER BY started_at DESC, id DESC LIMIT 1";
        self.read(|connection| Ok(row::select(connection, condition, params![plan])?.pop()))
    }

    /// Moves a loop from the stage that the caller saw to another; the last stage ends it. `false` if it was moved
    /// meanwhile.
    pub fn advance_loop(&mut self, id: &LoopId, from: Stage, to: Stage, now: Millis) -> Result<bool, LedgerError> {
        if !from.can_become(to) {
            return Err(LedgerError::StageSkipped { from, to });
        }
        self.write(|transaction| {
            let looped = find_unfinished(transaction, id)?;
            if looped.stage != from {
                return Ok(false);
            }
            if to == Stage::Complete {
                clear_must_nots(transaction, &looped)?;
            }
            let ended = (to == Stage::Complete).then_some(LoopEnd::Complete.as_str());
            transaction.execute(
                "UPDATE loop SET stage = ?2, ended = ?3, updated_at = ?4, waits = NULL WHERE id = ?1",
                params![id, to, ended, now],
            )?;
            Ok(true)
        })
    }

    /// Records that a human accepts an unclear request. The first reason stays.
    pub fn override_loop(&mut self, id: &LoopId, why: &str, now: Millis) -> Result<(), LedgerError> {
        within("the reason for an override", why, WHY)?;
        self.change_loop(id, now, |looped| {
            looped.overridden.get_or_insert_with(|| why.to_owned());
        })
    }

    pub fn keep_shape(&mut self, id: &LoopId, shape: &Shape, now: Millis) -> Result<(), LedgerError> {
        let shape = shape.clone();
        self.write(|transaction| {
            let mut looped = find_unfinished(transaction, id)?;
            if let Some(plan) = &looped.plan {
                set_must_nots(transaction, plan, shape.limits())?;
            }
            looped.shape = Some(shape);
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    pub fn attach_spec(&mut self, id: &LoopId, spec: &str, now: Millis) -> Result<(), LedgerError> {
        self.change_loop(id, now, |looped| looped.spec = Some(spec.to_owned()))
    }

    /// Gives the loop its plan. The plan gets the loop's must-nots, so that they are enforced for its agents.
    pub fn attach_plan(&mut self, id: &LoopId, plan: &PlanId, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut looped = find_unfinished(transaction, id)?;
            let must_nots = looped.shape.as_ref().map(Shape::limits).unwrap_or_default();
            set_must_nots(transaction, plan, must_nots)?;
            looped.plan = Some(plan.clone());
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    pub fn attach_run(&mut self, id: &LoopId, run: &RunId, now: Millis) -> Result<(), LedgerError> {
        self.change_loop(id, now, |looped| looped.run = Some(run.clone()))
    }

    /// Replaces the objections of the gate.
    pub fn keep_objections(&mut self, id: &LoopId, objections: &[Objected], now: Millis) -> Result<(), LedgerError> {
        self.change_loop(id, now, |looped| {
            looped.objections = objections.to_vec();
        })
    }

    /// Records that a human accepts an objection of the gate. A capped loop then continues with its gate.
    pub fn waive_objection(&mut self, id: &LoopId, waiver: &Waiver, now: Millis) -> Result<(), LedgerError> {
        within("the reason for a waiver", &waiver.why, WHY)?;
        self.write(|transaction| {
            let mut looped = find_resumed(transaction, id)?;
            looped.waived.retain(|known| known.objection != waiver.objection);
            looped.waived.push(waiver.clone());
            looped.objections.retain(|objected| objected.id != waiver.objection);
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    /// Ends a loop at its current stage. Its plan and its run stay, but its must-nots are no longer enforced.
    pub fn end_loop(&mut self, id: &LoopId, end: LoopEnd, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut looped = find_unfinished(transaction, id)?;
            clear_must_nots(transaction, &looped)?;
            looped.ended = Some(end);
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    /// Reads a loop, changes it and stores it in one transaction.
    fn change_loop<T>(
        &mut self,
        id: &LoopId,
        now: Millis,
        change: impl FnOnce(&mut Loop) -> T,
    ) -> Result<T, LedgerError> {
        self.write(|transaction| {
            let mut looped = find_unfinished(transaction, id)?;
            let value = change(&mut looped);
            looped.updated_at = now;
            keep(transaction, &looped)?;
            Ok(value)
        })
    }
}

fn set_must_nots(transaction: &Transaction<'_>, plan: &PlanId, must_nots: Vec<String>) -> Result<(), Fault> {
    plan::require(transaction, plan)?;
    let head = spec::head(transaction, plan)?;
    if head.must_nots != must_nots {
        spec::put_head(transaction, plan, &Head { must_nots, ..head })?;
        transaction.touch(plan);
    }
    Ok(())
}

fn clear_must_nots(transaction: &Transaction<'_>, looped: &Loop) -> Result<(), Fault> {
    match &looped.plan {
        // A plan that was deleted has no must-nots.
        Some(plan) if plan::worktree_of(transaction, plan)?.is_some() => set_must_nots(transaction, plan, Vec::new()),
        _ => Ok(()),
    }
}

/// Returns the must-nots of a checkout, while its loop has a plan and has not ended. Every stop asks for them.
pub(super) fn must_nots(connection: &Connection, worktree: &str) -> Result<Vec<String>, Fault> {
    let shape: Option<String> = connection
        .first(
            "SELECT shape FROM loop WHERE worktree = ?1 AND ended IS NULL AND plan IS NOT NULL",
            [AsGiven(worktree)],
            |row| row.get(0),
        )?
        .flatten();
    let shape: Option<Shape> = shape.map(|text| json(0, &text)).transpose()?;
    Ok(shape.map(|shape| shape.limits()).unwrap_or_default())
}

/// Moves the loop from a plan to the plan that replaces it.
pub(super) fn follow_plan(transaction: &Transaction<'_>, before: &PlanId, now: &PlanId) -> Result<(), Fault> {
    transaction.run("UPDATE loop SET plan = ?2 WHERE plan = ?1 AND ended IS NULL", params![before, now])
}

fn shape_text(shape: &Shape) -> Json {
    with_checks(shape, &shape.checks)
}

/// Finds a loop, and rejects one that has ended.
fn find_unfinished(transaction: &Transaction<'_>, id: &LoopId) -> Result<Loop, Fault> {
    let looped = row::find(transaction, id)?;
    match looped.ended {
        Some(_) => Err(LedgerError::LoopIsOver { id: id.clone() }.into()),
        None => Ok(looped),
    }
}

/// Finds a loop, and resumes it if it was capped: a human has answered the reason for which it was capped.
fn find_resumed(transaction: &Transaction<'_>, id: &LoopId) -> Result<Loop, Fault> {
    let mut looped = row::find(transaction, id)?;
    if looped.ended != Some(LoopEnd::Capped) {
        return find_unfinished(transaction, id);
    }
    if let Some(other) = row::unfinished(transaction, &looped.worktree)? {
        return Err(LedgerError::InLoop { id: other.id }.into());
    }
    looped.ended = None;
    if let Some(plan) = looped.plan.as_ref().filter(|plan| matches!(plan::worktree_of(transaction, plan), Ok(Some(_))))
    {
        let limits = looped.shape.as_ref().map(Shape::limits).unwrap_or_default();
        set_must_nots(transaction, plan, limits)?;
    }
    Ok(looped)
}

/// Stores every changeable column except the stage: only [`Ledger::advance_loop`] changes that.
fn keep(transaction: &Transaction<'_>, looped: &Loop) -> Result<(), Fault> {
    transaction.run(
        "UPDATE loop SET spec = ?2, scores = ?3, overridden = ?4, shape = ?5, recall = ?6, plan = ?7, run = ?8,
                rounds = ?9, ended = ?10, updated_at = ?11, objections = ?12, waived = ?13
         WHERE id = ?1",
        params![
            looped.id,
            looped.spec.as_deref().map(AsGiven),
            looped.scores.as_ref().map(text),
            looped.overridden,
            looped.shape.as_ref().map(shape_text),
            text(&looped.recall_surfaced),
            looped.plan,
            looped.run,
            looped.rounds,
            looped.ended,
            looped.updated_at,
            text(&looped.objections),
            text(&looped.waived),
        ],
    )
}
