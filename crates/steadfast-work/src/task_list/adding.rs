//! Adds tasks: to the plan in force, or to the plain list of a worktree without one.

use steadfast_model::{AddedBy, Approval, Check, PlanId, Run, RunState, Stage, Status, Task};
use steadfast_store::ledger::{Claiming, Joined, NewTask, Started, StatusChange};

use super::{TaskError, TaskList, freeze};
use crate::error::WorkError;

/// The title of the plain list of a worktree.
const TITLE: &str = "tasks";

/// The place of an added task.
enum Target {
    /// The plan of a spec or of an external tracker.
    Plan(PlanId),
    List(PlanId),
}

impl TaskList {
    pub fn add(&mut self, new: impl FnOnce(AddedBy) -> NewTask) -> Result<Task, WorkError> {
        let now = self.now();
        let new = new(self.caller.by);
        if new.title.trim().is_empty() {
            return Err(TaskError::NoTitle.into());
        }
        let target = self.where_to_add()?;
        let (Target::Plan(plan) | Target::List(plan)) = &target;
        let command = new.verify.as_ref().and_then(Check::as_command).map(str::to_owned);
        let frozen = freeze(&self.repository.place.root, command.as_deref())?;
        if let Target::Plan(plan) = &target {
            self.join_list(plan)?;
        }
        let task = self.ledger.add_task(plan, new, now)?;
        self.ledger.freeze(plan, &frozen, now)?;
        if task.verify.is_none() {
            // The baseline until the task is started.
            let baseline = Started { session: None, agent: None, loaded: true, ..self.baseline_of(&task) };
            self.ledger.keep_baseline(plan, &task.id, &baseline)?;
        }
        match &target {
            Target::Plan(plan) if self.needs_yes_to_add(plan)? => {
                let reason = format!("an agent added it; a human accepts it with `steadfast task unblock {}`", task.id);
                let change = StatusChange { to: Status::Blocked, reason: Some(reason), fence: None, now };
                Ok(self.ledger.set_status(plan, &task.id, change)?.task)
            }
            // Adding one task does not bind the session to the whole plan.
            Target::Plan(_) => Ok(task),
            Target::List(list) => {
                self.take(list, Claiming::UnlessHeld)?;
                Ok(task)
            }
        }
    }

    /// The plan of the loop in progress, else the plan in force. Only the runner changes the plan of its run; while the
    /// run waits for a human, that human may add to it.
    fn where_to_add(&mut self) -> Result<Target, WorkError> {
        let plan = match self.plan_of_loop()? {
            Some(plan) => Some(plan),
            None => self.ledger.own_plan_view(&self.worktree)?.filter(|view| view.brief.spec.is_some()).map(|v| v.id),
        };
        if let Some(plan) = plan {
            let waits_for_human = |run: Run| matches!(run.state, RunState::Paused | RunState::NeedsReview);
            let run = self.ledger.run_of_plan(&plan)?;
            if run.is_none_or(|run| waits_for_human(run) && !self.caller.is_agent()) {
                return Ok(Target::Plan(plan));
            }
        }
        Ok(Target::List(self.ledger.list_plan(&self.worktree, TITLE, self.caller.by, self.now())?))
    }

    fn plan_of_loop(&self) -> Result<Option<PlanId>, WorkError> {
        let looped = self.ledger.unfinished_loop(&self.worktree)?;
        let at_work = looped.filter(|looped| matches!(looped.stage, Stage::Executing | Stage::Review));
        Ok(at_work.and_then(|looped| looped.plan))
    }

    /// Returns true if a task that an agent adds needs approval: where plans require approval, the human approved only
    /// the original tasks. In a run, the task is part of the unit, which was approved.
    fn needs_yes_to_add(&self, plan: &PlanId) -> Result<bool, WorkError> {
        if !self.caller.is_agent() || self.repository.environment.in_run {
            return Ok(false);
        }
        let approval = self.approval(&self.ledger.plan_row(plan)?)?;
        Ok(self.approval_rules()?.required || approval != Approval::NotRequired)
    }

    /// Moves the open tasks of the plain list into a plan, because only one of the two lists is shown.
    pub(super) fn join_list(&mut self, plan: &PlanId) -> Result<(), WorkError> {
        let joined = self.ledger.join_list(&self.worktree, plan, self.now())?;
        let line = |Joined { before, task, title }: &Joined| {
            format!("task {before} of the list is now task {task} of plan {plan}: {title}")
        };
        self.lines.extend(joined.iter().map(line));
        Ok(())
    }
}
