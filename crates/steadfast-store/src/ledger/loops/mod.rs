//! Loops: where a request stands on its way to a result, and what it was found to be worth.

mod completed;
mod review;
mod row;
mod session;

use steadfast_model::{Loop, LoopEnd, LoopId, Millis, Objected, PlanId, RunId, Shape, Stage, Waiver};

pub use review::NewReview;
pub use session::Unfinished;
pub(super) use session::{bind, wait};

use super::column::{json, text, with_checks};
use super::error::Fault;
use super::spec::Head;
use super::task::within;
use super::{Ledger, LedgerError, plan, spec};
use crate::ledger::bind::{AsGiven, Json, params};
use crate::ledger::connection::{Connection, Transaction};

/// How long a request may be, in characters. A spec is a file, not a request.
const REQUEST: usize = 20_000;
const WHY: usize = 1_000;

impl Ledger {
    /// Puts it down as it is given. A worktree has one that is not finished, at most.
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

    /// The one of this worktree that is not over.
    pub fn unfinished_loop(&self, worktree: &str) -> Result<Option<Loop>, LedgerError> {
        self.read(|connection| row::unfinished(connection, worktree))
    }

    /// The newest first.
    pub fn loops_of(&self, worktree: &str) -> Result<Vec<Loop>, LedgerError> {
        self.read(|connection| {
            row::select(connection, "worktree = ?1 ORDER BY started_at DESC, id DESC", params![AsGiven(worktree)])
        })
    }

    /// The one that a plan belongs to, and that is not over.
    pub fn loop_of_plan(&self, plan: &PlanId) -> Result<Option<Loop>, LedgerError> {
        let condition = "plan = ?1 AND ended IS NULL ORDER BY started_at DESC, id DESC LIMIT 1";
        self.read(|connection| Ok(row::select(connection, condition, params![plan])?.pop()))
    }

    /// From the stage it was seen in to another; the last one ends it. `false`: somebody else moved it meanwhile.
    pub fn advance_loop(&mut self, id: &LoopId, from: Stage, to: Stage, now: Millis) -> Result<bool, LedgerError> {
        if !from.can_become(to) {
            return Err(LedgerError::StageSkipped { from, to });
        }
        self.write(|transaction| {
            let looped = going(transaction, id)?;
            if looped.stage != from {
                return Ok(false);
            }
            if to == Stage::Complete {
                release(transaction, &looped)?;
            }
            let ended = (to == Stage::Complete).then_some(LoopEnd::Complete.as_str());
            transaction.execute(
                "UPDATE loop SET stage = ?2, ended = ?3, updated_at = ?4, waits = NULL WHERE id = ?1",
                params![id, to, ended, now],
            )?;
            Ok(true)
        })
    }

    /// A human takes a request that is not clear enough. The first reason stays.
    pub fn override_loop(&mut self, id: &LoopId, why: &str, now: Millis) -> Result<(), LedgerError> {
        within("the reason of an override", why, WHY)?;
        self.change_loop(id, now, |looped| {
            looped.overridden.get_or_insert_with(|| why.to_owned());
        })
    }

    pub fn keep_shape(&mut self, id: &LoopId, shape: &Shape, now: Millis) -> Result<(), LedgerError> {
        let shape = shape.clone();
        self.write(|transaction| {
            let mut looped = going(transaction, id)?;
            if let Some(plan) = &looped.plan {
                hold(transaction, plan, shape.limits())?;
            }
            looped.shape = Some(shape);
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    pub fn attach_spec(&mut self, id: &LoopId, spec: &str, now: Millis) -> Result<(), LedgerError> {
        self.change_loop(id, now, |looped| looped.spec = Some(spec.to_owned()))
    }

    /// Its plan from now on, and with it what must not happen: whoever works on that plan is held to it.
    pub fn attach_plan(&mut self, id: &LoopId, plan: &PlanId, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut looped = going(transaction, id)?;
            let must_nots = looped.shape.as_ref().map(Shape::limits).unwrap_or_default();
            hold(transaction, plan, must_nots)?;
            looped.plan = Some(plan.clone());
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    pub fn attach_run(&mut self, id: &LoopId, run: &RunId, now: Millis) -> Result<(), LedgerError> {
        self.change_loop(id, now, |looped| looped.run = Some(run.clone()))
    }

    /// What the gate objected to just now.
    pub fn keep_objections(&mut self, id: &LoopId, objections: &[Objected], now: Millis) -> Result<(), LedgerError> {
        self.change_loop(id, now, |looped| {
            looped.objections = objections.to_vec();
        })
    }

    /// A human takes an objection of the gate as it is. A loop that is capped goes on with its gate then.
    pub fn waive_objection(&mut self, id: &LoopId, waiver: &Waiver, now: Millis) -> Result<(), LedgerError> {
        within("the reason of a waiver", &waiver.why, WHY)?;
        self.write(|transaction| {
            let mut looped = going_again(transaction, id)?;
            looped.waived.retain(|known| known.objection != waiver.objection);
            looped.waived.push(waiver.clone());
            looped.objections.retain(|objected| objected.id != waiver.objection);
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    /// Ends it at the stage it is in. Its plan and its run are left as they are, but nobody is held to its must-nots.
    pub fn end_loop(&mut self, id: &LoopId, end: LoopEnd, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut looped = going(transaction, id)?;
            release(transaction, &looped)?;
            looped.ended = Some(end);
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }

    /// Reads it, changes it and keeps it, with nobody in between.
    fn change_loop<T>(
        &mut self,
        id: &LoopId,
        now: Millis,
        change: impl FnOnce(&mut Loop) -> T,
    ) -> Result<T, LedgerError> {
        self.write(|transaction| {
            let mut looped = going(transaction, id)?;
            let value = change(&mut looped);
            looped.updated_at = now;
            keep(transaction, &looped)?;
            Ok(value)
        })
    }
}

fn hold(transaction: &Transaction<'_>, plan: &PlanId, must_nots: Vec<String>) -> Result<(), Fault> {
    plan::require(transaction, plan)?;
    let head = spec::head(transaction, plan)?;
    if head.must_nots != must_nots {
        spec::put_head(transaction, plan, &Head { must_nots, ..head })?;
        transaction.touch(plan);
    }
    Ok(())
}

fn release(transaction: &Transaction<'_>, looped: &Loop) -> Result<(), Fault> {
    match &looped.plan {
        // A plan that is gone holds nobody.
        Some(plan) if plan::worktree_of(transaction, plan)?.is_some() => hold(transaction, plan, Vec::new()),
        _ => Ok(()),
    }
}

/// What must not happen in a checkout, from the moment its loop has a plan until it is over. Asked with every stop.
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

/// A spec that was loaded anew is the same loop's.
pub(super) fn follow_plan(transaction: &Transaction<'_>, before: &PlanId, now: &PlanId) -> Result<(), Fault> {
    transaction.run("UPDATE loop SET plan = ?2 WHERE plan = ?1 AND ended IS NULL", params![before, now])
}

fn shape_text(shape: &Shape) -> Json {
    with_checks(shape, &shape.checks)
}

/// What is over is changed by nobody.
fn going(transaction: &Transaction<'_>, id: &LoopId) -> Result<Loop, Fault> {
    let looped = row::find(transaction, id)?;
    match looped.ended {
        Some(_) => Err(LedgerError::LoopIsOver { id: id.clone() }.into()),
        None => Ok(looped),
    }
}

/// One that was capped is under way again: a human says something to what it was capped for.
fn going_again(transaction: &Transaction<'_>, id: &LoopId) -> Result<Loop, Fault> {
    let mut looped = row::find(transaction, id)?;
    if looped.ended != Some(LoopEnd::Capped) {
        return going(transaction, id);
    }
    if let Some(other) = row::unfinished(transaction, &looped.worktree)? {
        return Err(LedgerError::InLoop { id: other.id }.into());
    }
    looped.ended = None;
    if let Some(plan) = looped.plan.as_ref().filter(|plan| matches!(plan::worktree_of(transaction, plan), Ok(Some(_))))
    {
        let limits = looped.shape.as_ref().map(Shape::limits).unwrap_or_default();
        hold(transaction, plan, limits)?;
    }
    Ok(looped)
}

/// All that changes but its stage: that is moved by who saw it.
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
