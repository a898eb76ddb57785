//! Evidence belongs to a tree: done tasks are checked on the tree a run starts with, and on the one it ends with.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_model::{EvidenceSubject, Millis, PlanId, Status, TaskId, UnitStatus};
use steadfast_store::ledger::{Ledger, StatusChange};
use steadfast_work::task_list::{DoneOn, NotHeld};

use super::super::event::RunEvent;
use super::super::message::{Merged, Open};
use super::super::verdict::after_merge;
use super::Dispatcher;
use crate::error::RunError;

/// The name of the worktree.
const NAME: &str = "done";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verified {
    Holds,
    /// The units of failing tasks wait again.
    Reopened,
    Stopped,
}

impl Dispatcher {
    /// Before the run starts, reopens done tasks that fail on its base, and tasks that another run did on a branch
    /// that is not merged here.
    pub(in crate::run) fn verify_base(&mut self) -> Result<(), RunError> {
        let is_begun = self.rows.iter().any(|row| row.attempts > 0 || row.merged.is_some());
        if is_begun {
            return Ok(());
        }
        let (plan, base) = (self.run.plan.clone(), self.run.base.clone());
        let elsewhere = self.context.tasks.done_elsewhere(self.context.worktrees.checkout(), &plan, &self.run.id)?;
        let mut open: Vec<TaskId> = Vec::new();
        let stop = Arc::clone(&self.stop);
        if let DoneOn::Not(failed) = self.done_on(&base, &stop)? {
            open.extend(failed.into_iter().map(|NotHeld { task, .. }| task));
        }
        for task in elsewhere {
            // A task whose check just ran on the base and passed is done, whichever run did it.
            let subject = self.ledger.evidence_of(&plan, &task)?.pop().map(|last| last.subject());
            if subject == Some(EvidenceSubject::Nothing) && !open.contains(&task) {
                open.push(task);
            }
        }
        let now = self.now();
        for task in &open {
            reopen(&mut self.ledger, &plan, task, now)?;
        }
        if !open.is_empty() {
            self.events.push(RunEvent::Reopened { tasks: open });
        }
        self.begin_trial()
    }

    /// After the last unit landed, runs each distinct check whose evidence is for another tree.
    pub(super) fn verify_tip(&mut self, stop: &AtomicBool) -> Result<Verified, RunError> {
        let Some(tip) = self.context.worktrees.tip()? else { return Ok(Verified::Holds) };
        let failed = match self.done_on(&tip, stop)? {
            DoneOn::All => return Ok(Verified::Holds),
            DoneOn::Stopped => return Ok(Verified::Stopped),
            DoneOn::Not(failed) => failed,
        };
        let (plan, now) = (self.run.plan.clone(), self.now());
        for NotHeld { task, why, output } in failed {
            let Some(unit) = self.rows.iter().find(|row| row.tasks.contains(&task)).map(|row| row.unit.clone()) else {
                continue;
            };
            reopen(&mut self.ledger, &plan, &task, now)?;
            self.change(&unit, |row| {
                row.status = UnitStatus::Waiting;
                row.merged = None;
                row.plan = None;
            })?;
            let open = Open { task, why, output };
            let tried = self.tried(&unit, false);
            if let Some(next) = after_merge(tried, Merged::Fails(open)) {
                self.follow(&unit, next)?;
            }
        }
        Ok(Verified::Reopened)
    }

    fn done_on(&mut self, commit: &str, stop: &AtomicBool) -> Result<DoneOn, RunError> {
        let worktrees = &self.context.worktrees;
        let (plan, checkout) = (&self.run.plan, worktrees.checkout());
        let tree = worktrees.tree_of(commit)?;
        if !self.context.tasks.is_about_other_tree(checkout, plan, &tree)? {
            return Ok(DoneOn::All);
        }
        let folder: PathBuf = worktrees.read_only_worktree(NAME, commit)?;
        let held = self.context.tasks.done_on(&folder, plan, stop);
        self.context.tasks.leave(&folder);
        worktrees.remove_read_only(NAME)?;
        Ok(held?)
    }
}

fn reopen(ledger: &mut Ledger, plan: &PlanId, task: &TaskId, now: Millis) -> Result<(), RunError> {
    let change = StatusChange { to: Status::Pending, reason: None, fence: None, now };
    ledger.set_status(plan, task, change)?;
    Ok(())
}
