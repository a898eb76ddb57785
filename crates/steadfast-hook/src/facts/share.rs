//! The plan, as seen by one of the sessions that share it.

use std::path::Path;

use steadfast_model::{DoneHere, Event, EventKind, Fact, Facts, Needs, PlanView, State, TaskFile};
use steadfast_store::Place;
use steadfast_store::ledger::{Ledger, LedgerError};

use super::plan::{PlanFacts, silent_since};
use super::{done, from_root};

/// Reads the plan in force. At a stop, if this session is not bound to it or has no open task in it, returns another
/// unfinished plan of the session.
pub(super) fn look(
    place: &Place,
    ledger: &Ledger,
    worktree: &str,
    needs: Needs,
    state: &State,
    event: &Event,
) -> Result<PlanFacts, LedgerError> {
    let mut plan = ledger.plan_view_of(worktree, &event.session)?;
    let stops = matches!(event.kind, EventKind::Stop(_) | EventKind::SubagentStop(_));
    let is_held = |plan: &PlanView| state.is_bound(plan) && plan.counts.open() > 0;
    if stops && !plan.as_ref().is_some_and(is_held) {
        for id in state.binding.plans.iter().rev() {
            let other = ledger.view_of(id)?.filter(|other| other.worktree == worktree && is_held(other));
            if other.is_some() {
                plan = other;
                break;
            }
        }
    }
    let mut done = Fact::NotAsked;
    if matches!(event.kind, EventKind::Stop(_)) && event.agent.is_none() {
        (plan, done) = worst(place, ledger, worktree, plan, state, event)?;
    }
    let Some(plan) = plan else { return Ok(PlanFacts { plan: Fact::Known(None), ..PlanFacts::default() }) };
    let shared = matches!(event.kind, EventKind::Stop(_) | EventKind::Prompt { .. }) && plan.counts.in_progress > 0;
    let mut leased = if shared { ledger.leased_to_others(&plan.id, Some(&event.session))? } else { Vec::new() };
    leased.retain(|lease| silent_since(place, &lease.session, event.at).is_none());
    let task_files = if needs.task_files { files(place, ledger, &plan, state, event)? } else { Vec::new() };
    Ok(PlanFacts { plan: Fact::Known(Some(plan)), done, leased, task_files, unfinished: Fact::NotAsked })
}

/// If no task can start: returns the first plan of this session with a done task that no longer holds.
fn worst(
    place: &Place,
    ledger: &Ledger,
    worktree: &str,
    plan: Option<PlanView>,
    state: &State,
    event: &Event,
) -> Result<(Option<PlanView>, Fact<DoneHere>), LedgerError> {
    let owned = plan.as_ref().filter(|plan| state.is_bound(plan));
    if owned.is_some_and(|plan| !plan.open.is_empty()) {
        return Ok((plan, Fact::NotAsked));
    }
    let clean = Fact::Known(DoneHere::default());
    let own = owned.map(|plan| plan.id.clone());
    let mut found = own.as_ref().map_or(Fact::NotAsked, |id| done::here(place, ledger, id, state, event));
    if own.is_some() && found != clean {
        return Ok((plan, found));
    }
    for id in state.binding.plans.iter().rev().filter(|id| Some(*id) != own.as_ref()) {
        let Some(other) = ledger.view_of(id)?.filter(|other| other.worktree == worktree) else { continue };
        found = done::here(place, ledger, id, state, event);
        if found != clean {
            return Ok((Some(other), found));
        }
    }
    Ok((plan, found))
}

fn files(
    place: &Place,
    ledger: &Ledger,
    plan: &PlanView,
    state: &State,
    event: &Event,
) -> Result<Vec<TaskFile>, LedgerError> {
    if plan.counts.open() == 0 || plan.run.is_some() {
        return Ok(Vec::new());
    }
    let root = if state.drift.root.is_empty() { &event.cwd } else { &state.drift.root };
    let told = |file: TaskFile| TaskFile { path: from_root(place, root, Path::new(&file.path)), ..file };
    Ok(ledger.open_files(&plan.id, Facts::TASK_FILES)?.into_iter().map(told).collect())
}
