//! A subagent that started a task does not stop while that task is in progress.
//!
//! A refusal counts for the session, and one subagent gets at most `max_idle`. The task that it then leaves can be
//! started again; this is counted.

use steadfast_model::{Change, Effect, Event, Facts, PlanView, State, Status, Stopping, TaskLine, Verdict};

use super::promise::{self, Promise};
use super::text::{self, Ways};
use super::{Judgement, owned_plan};

pub(super) fn stop(state: &State, event: &Event, stopping: &Stopping, facts: &Facts) -> Judgement {
    let Some(agent) = &event.agent else { return Judgement::default() };
    let Some(held) = state.tasks_of(&agent.id) else { return Judgement::default() };
    let Some(plan) = owned_plan(state, facts) else { return Judgement::default() };
    let rules = &state.rules.stop;
    let let_go = event.planning || state.interrupted || state.stop.capped;
    if !rules.check_in_progress || let_go {
        return Judgement::default();
    }
    let in_progress = |task: &&TaskLine| {
        task.status == Status::InProgress && held.tasks.contains(&task.id) && !is_checked(plan, task)
    };
    let tasks: Vec<&TaskLine> = plan.open.iter().filter(in_progress).collect();
    let Some(first) = tasks.first() else { return Judgement::default() };

    let message = stopping.last_message.as_deref().unwrap_or_default();
    match promise::promised(message, rules, plan.brief.promise.as_deref()) {
        Some(Promise::NeedsUser) => {
            let reason = promise::reason(message);
            let block = |task: &&TaskLine| Effect::BlockTask {
                plan: plan.id.clone(),
                task: task.id.clone(),
                reason: reason.clone(),
            };
            return Judgement { effects: tasks.iter().map(block).collect(), ..Judgement::default() };
        }
        Some(Promise::Checkpoint) => return gone(plan, &tasks),
        Some(Promise::Completion | Promise::Waiting) | None => {}
    }
    let limit = rules.max_cycles.saturating_add(state.stop.earned);
    if held.refused >= rules.max_idle || state.stop.refused >= limit {
        return gone(plan, &tasks);
    }
    Judgement {
        verdict: Verdict::Continue { reason: text::subagent_task_open(first, Ways::of(state, event)) },
        changes: vec![Change::SubagentRefused(agent.id.clone())],
        count: Some((state.stop.refused + 1, limit)),
        ..Judgement::default()
    }
}

fn is_checked(plan: &PlanView, task: &TaskLine) -> bool {
    plan.checking.iter().any(|check| check.task == task.id)
}

fn gone(plan: &PlanView, tasks: &[&TaskLine]) -> Judgement {
    let give_up = |task: &&TaskLine| Effect::GiveUp { plan: plan.id.clone(), task: Some(task.id.clone()) };
    Judgement { effects: tasks.iter().map(give_up).collect(), ..Judgement::default() }
}
