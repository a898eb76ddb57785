//! Handles the end of a dispatch, and the end of a merge.

use std::collections::BTreeMap;
use std::iter;
use std::sync::{Arc, mpsc};
use std::thread;

use steadfast_model::{Dispatch, Evidence, PlanId, Spent, Status, Sums, TaskId, UnitStatus};
use steadfast_store::ledger::{DispatchEnd, Lease, StatusChange, UnitClosing};

use super::super::begin::Until;
use super::super::event::RunEvent;
use super::super::merger::Arrival;
use super::super::message::{Merged, Worked};
use super::super::prompt::Before;
use super::super::verdict::{Next, Tried, after_merge, after_work, ending};
use super::{Dispatcher, Live, Pausing, Phase};
use crate::error::RunError;
use crate::worktrees::Landing;

impl Dispatcher {
    pub(super) fn worked(&mut self, unit: &TaskId, worked: Worked) -> Result<(), RunError> {
        let now = self.now();
        let Some(live) = self.live.get_mut(unit) else { return Ok(()) };
        let mut end = DispatchEnd { turns: live.turns, spent: live.spent, ..DispatchEnd::default() };
        if let Some(departure) = &worked.departure {
            end.ending = ending(&departure.how).unwrap_or_else(|| Dispatch::FINISHED.to_owned());
            end.session = departure.session.clone();
            end.summary = departure.said.clone();
        } else {
            end.ending = "no agent was needed".to_owned();
        }
        let (number, over_budget) = (live.dispatch, live.over_budget);
        let worked_for = live.began.elapsed();
        if end.ending == Dispatch::FINISHED {
            self.measured(unit, worked_for);
        }
        self.ledger.end_dispatch(&self.run.id, number, &end, now)?;
        add(&mut self.before, end.spent);
        let tried = self.tried(unit, over_budget);
        if let Some(live) = self.live.get_mut(unit) {
            live.phase = Phase::Merging;
        }
        self.follow(unit, after_work(tried, worked, now))
    }

    pub(super) fn merged(&mut self, unit: &TaskId, merged: Merged) -> Result<(), RunError> {
        let tried = self.tried(unit, false);
        if let Merged::Landed(commit) = &merged {
            let Some(Live { leases, plan, .. }) = self.live.remove(unit) else { return Ok(()) };
            self.activity.remove(unit);
            if let Some(plan) = plan {
                self.close(unit, &plan, &leases, commit)?;
                self.remove_worktree(unit)?;
            }
            self.events.push(RunEvent::Landed { unit: unit.clone(), commit: commit.clone() });
            self.reached = self.until == Until::Unit && self.is_more_to_do();
            return Ok(());
        }
        match after_merge(tried, merged) {
            Some(next) => self.follow(unit, next),
            None => Ok(()),
        }
    }

    /// Records that a unit landed: evidence, statuses and the merge in one transaction.
    pub(in crate::run) fn close(
        &mut self,
        unit: &TaskId,
        plan: &PlanId,
        leases: &[Lease],
        commit: &str,
    ) -> Result<(), RunError> {
        let now = self.now();
        let result = self.ledger.take_unit(&self.run.id, plan)?;
        let fences: BTreeMap<TaskId, u64> = leases.iter().map(|lease| (lease.task.clone(), lease.token)).collect();
        let evidence: Vec<(TaskId, Evidence)> =
            result.evidence.into_iter().filter(|(task, _)| fences.contains_key(task)).collect();
        let closing = UnitClosing {
            run: &self.run.id,
            unit,
            evidence: &evidence,
            decisions: &result.decisions,
            fences: &fences,
            merged: commit,
            now,
        };
        self.ledger.close_unit(&closing)?;
        self.context.tasks.render_decisions(&self.run.plan);
        self.reread(unit)
    }

    /// Removes the worktree of a landed unit in a separate thread, because a large one takes long.
    fn remove_worktree(&mut self, unit: &TaskId) -> Result<(), RunError> {
        if self.sweep.is_none() {
            let (sweep, landed) = mpsc::channel::<TaskId>();
            let context = Arc::clone(&self.context);
            let thread = thread::Builder::new().name("sweeper".to_owned()).spawn(move || {
                while let Ok(first) = landed.recv() {
                    let units: Vec<TaskId> = iter::once(first).chain(landed.try_iter()).collect();
                    for unit in &units {
                        context.tasks.leave(&context.worktrees.unit_folder(unit.as_str()));
                    }
                    // The end of the run removes what is left, and reports errors.
                    let _ = context.worktrees.remove_all(&units.iter().map(TaskId::as_str).collect::<Vec<_>>());
                }
            });
            self.watch_over(thread.map_err(RunError::Thread)?);
            self.sweep = Some(sweep);
        }
        if let Some(sweep) = &self.sweep {
            let _ = sweep.send(unit.clone());
        }
        Ok(())
    }

    pub(super) fn tried(&self, unit: &TaskId, over_budget: bool) -> Tried {
        let row = self.row(unit);
        let before = row.and_then(|row| row.last_failure.as_deref()).and_then(|kept| serde_json::from_str(kept).ok());
        Tried {
            unit: unit.clone(),
            attempts: row.map_or(0, |row| row.attempts),
            stuck: row.map_or(0, |row| row.stuck),
            before: before.unwrap_or_default(),
            over_budget,
        }
    }

    pub(super) fn follow(&mut self, unit: &TaskId, next: Next) -> Result<(), RunError> {
        match next {
            Next::Merge { head } => self.merge(unit, head)?,
            Next::Again { why, before, stuck } => {
                self.wait(unit, &why, &before, Some(stuck))?;
                self.ledger.set_stuck(&self.run.plan, unit, stuck, self.now())?;
                self.events.push(RunEvent::Again { unit: unit.clone(), why });
            }
            Next::Later { mut why, until, before } => {
                if until > self.now() {
                    why += &format!(" until {}", self.context.tasks.moment(until));
                }
                self.wait(unit, &why, &before, None)?;
                self.not_before.insert(unit.clone(), until);
                self.events.push(RunEvent::Waits { unit: unit.clone(), why });
            }
            Next::Block { task, why, stuck } => {
                if let Some(stuck) = stuck {
                    self.change(unit, |row| row.stuck = stuck)?;
                    self.ledger.set_stuck(&self.run.plan, unit, stuck, self.now())?;
                }
                self.block(unit, &task, why)?;
            }
            Next::Pause { why } => {
                self.reset_unit(unit)?;
                self.pausing = Some(Pausing::Now(why));
            }
            Next::Stopped => {
                self.release(unit)?;
                self.change(unit, |row| row.status = UnitStatus::Waiting)?;
            }
        }
        Ok(())
    }

    fn merge(&mut self, unit: &TaskId, head: String) -> Result<(), RunError> {
        let kept = head.clone();
        self.change(unit, |row| {
            row.status = UnitStatus::Merging;
            row.head = Some(kept);
            row.agent = None;
        })?;
        self.doing(unit, "lands".to_owned());
        self.events.push(RunEvent::Merging { unit: unit.clone() });
        let (Some(live), Some(row)) = (self.live.get(unit), self.row(unit)) else { return Ok(()) };
        let Some(plan) = live.plan.clone() else { return Ok(()) };
        let lease = live.leases.iter().map(|lease| lease.token).max().unwrap_or(0);
        let landing = Landing { unit: unit.to_string(), title: row.title.clone(), lease, head };
        let arrival = Arrival { unit: unit.clone(), plan, tasks: row.tasks.clone(), landing };
        // If the merger is gone, so is the dispatcher.
        let _ = self.arrive.send(arrival);
        Ok(())
    }

    fn wait(&mut self, unit: &TaskId, why: &str, before: &Before, stuck: Option<u32>) -> Result<(), RunError> {
        self.release(unit)?;
        let kept = serde_json::to_string(before).ok();
        self.change(unit, |row| {
            row.status = UnitStatus::Waiting;
            row.stuck = stuck.unwrap_or(row.stuck);
            row.note = Some(why.to_owned());
            row.last_failure = kept;
            row.agent = None;
        })
    }

    pub(super) fn block(&mut self, unit: &TaskId, task: &TaskId, why: String) -> Result<(), RunError> {
        let now = self.now();
        // The task of a conflict is in the unit's own plan. The run's plan only has the unit.
        let of_run = self.row(unit).is_some_and(|row| row.tasks.contains(task));
        let task = if of_run { task } else { unit };
        let reason = Some(why.clone());
        self.ledger.set_status(&self.run.plan, task, StatusChange { to: Status::Blocked, reason, fence: None, now })?;
        self.release(unit)?;
        let note = why.clone();
        self.change(unit, |row| {
            row.status = UnitStatus::Blocked;
            row.note = Some(note);
            row.agent = None;
        })?;
        self.events.push(RunEvent::Blocked { unit: unit.clone(), why });
        Ok(())
    }

    /// Gives up the unit's leases, so that others may work on it.
    pub(super) fn release(&mut self, unit: &TaskId) -> Result<(), RunError> {
        self.activity.remove(unit);
        if let Some(live) = self.live.remove(unit) {
            self.ledger.release_leases(&live.leases)?;
        }
        Ok(())
    }
}

fn add(sums: &mut Sums, spent: Spent) {
    sums.iterations = sums.iterations.saturating_add(1);
    sums.micro_usd = sums.micro_usd.saturating_add(spent.micro_usd.unwrap_or(0));
    sums.tokens = sums.tokens.saturating_add(spent.tokens());
}
