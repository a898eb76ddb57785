//! The plan and the loop of a checkout, from the ledger.

use std::path::Path;

use steadfast_model::{
    Approval, ApprovalRules, Brief, Current, DoneHere, Event, EventKind, Fact, Leased, Loop, LoopView, Millis, Needs,
    OwnerEnd, PlanView, Profile, SessionId, Stage, State, TaskFile,
};
use steadfast_plan::{LoopProgress, loop_view, resume_text};
use steadfast_store::ledger::{Ledger, LedgerError, read_slices_of};
use steadfast_store::{ApprovalQuery, ConfigFiles, Place, SessionFiles, Verifier, approval_of, is_check_running};

use super::share;
use crate::cost::cost_since;
use crate::process::is_gone;

/// Longer than any single tool call, so a working agent sends an event at least this often.
const SILENCE_MS: u64 = 4 * 60 * 60 * 1_000;

/// The most characters of a text. Messages need no more, and every stop is journalled with them.
const SAID: usize = 1_000;

/// Reads the plan of this checkout from the ledger, or from its slice if the ledger cannot be read now. If nothing is
/// open, it also checks the done tasks.
pub(super) fn look(place: &Place, config: &ConfigFiles, needs: Needs, state: &State, event: &Event) -> PlanFacts {
    if !needs.plan {
        return PlanFacts { unfinished: unfinished_alone(place, config, needs, event), ..PlanFacts::default() };
    }
    let (now, session) = (event.at, &event.session);
    let worktree = place.worktree();
    let read = Ledger::open_read_only(&place.state).and_then(|ledger| {
        ledger.map_or(Ok(PlanFacts { plan: Fact::Known(None), ..PlanFacts::default() }), |ledger| {
            let unfinished = unfinished(place, config, needs, event, &ledger);
            Ok(PlanFacts { unfinished, ..share::look(place, &ledger, &worktree, needs, state, event)? })
        })
    });
    let seen = |plan| {
        let mut plan = with_liveness(place, plan, now);
        plan.approval = approval_status(place, config, &plan, &state.rules.approval, now);
        plan
    };
    match read {
        Ok(PlanFacts { plan: Fact::Known(Some(plan)), done, leased, task_files, unfinished }) => {
            PlanFacts { plan: Fact::Known(Some(seen(plan))), done, leased, task_files, unfinished }
        }
        Ok(found) => found,
        Err(error) => {
            let (plan, done) = match read_slices_of(&place.state, &worktree, session) {
                Some(plan) => (Fact::Known(Some(seen(plan))), Fact::Unknown(error.to_string())),
                None => (Fact::Unknown(error.to_string()), Fact::NotAsked),
            };
            PlanFacts { plan, done, ..PlanFacts::default() }
        }
    }
}

/// The plan, and its other users.
#[derive(Debug, Default)]
pub(super) struct PlanFacts {
    pub(super) plan: Fact<Option<PlanView>>,
    pub(super) done: Fact<DoneHere>,
    pub(super) leased: Vec<Leased>,
    pub(super) task_files: Vec<TaskFile>,
    pub(super) unfinished: Fact<Option<LoopView>>,
}

/// Returns the text about the unfinished loop of this checkout for a new session. It is advice, so errors are ignored.
pub(super) fn looped(place: &Place, needs: Needs, event: &Event) -> Option<String> {
    if !needs.looped || !matches!(event.kind, EventKind::SessionStart { .. }) {
        return None;
    }
    let ledger = Ledger::open_read_only(&place.state).ok().flatten()?;
    let looped = ledger.unfinished_loop(&place.worktree()).ok().flatten()?;
    let reviews = ledger.reviews_of(&looped.id).ok()?;
    let tasks = looped.plan.as_ref().and_then(|plan| ledger.tasks(plan).ok()).unwrap_or_default();
    Some(resume_text(&looped, &reviews, LoopProgress::of(&tasks)))
}

/// Returns the unfinished loop of this checkout for a stop or a prompt. Without one, nothing is journalled.
fn unfinished(
    place: &Place,
    config: &ConfigFiles,
    needs: Needs,
    event: &Event,
    ledger: &Ledger,
) -> Fact<Option<LoopView>> {
    if !needs.looped {
        return Fact::NotAsked;
    }
    match loop_of(place, config, event, ledger) {
        Ok(None) => Fact::NotAsked,
        Ok(view) => Fact::Known(view),
        Err(error) => Fact::Unknown(error.to_string()),
    }
}

/// Does the same for an event that needs no plan.
fn unfinished_alone(place: &Place, config: &ConfigFiles, needs: Needs, event: &Event) -> Fact<Option<LoopView>> {
    if !needs.looped {
        return Fact::NotAsked;
    }
    match Ledger::open_read_only(&place.state) {
        Ok(None) => Fact::NotAsked,
        Ok(Some(ledger)) => unfinished(place, config, needs, event, &ledger),
        Err(error) => Fact::Unknown(error.to_string()),
    }
}

fn loop_of(
    place: &Place,
    config: &ConfigFiles,
    event: &Event,
    ledger: &Ledger,
) -> Result<Option<LoopView>, LedgerError> {
    let Some(found) = ledger.unfinished_with_counts(&place.worktree())? else { return Ok(None) };
    let reviews = match found.looped.stage {
        Stage::Review => ledger.reviews_of(&found.looped.id)?,
        _ => Vec::new(),
    };
    let mut view = loop_view(&found.looped, &reviews, found.counts, found.session_ended);
    if let (Some(session), None) = (&view.session, &view.session_ended) {
        view.session_ended = silent(place, session, event.at);
    }
    let stops = matches!(event.kind, EventKind::Stop(_));
    if stops && view.run.is_none() && view.session.as_ref() == Some(&event.session) {
        view.limit = limit(place, config, found.looped, event);
    }
    Ok(Some(view))
}

/// Returns the limit that a loop has reached, with the cost of its session so far.
fn limit(place: &Place, config: &ConfigFiles, mut looped: Loop, event: &Event) -> Option<String> {
    if looped.limits.micro_usd.is_some()
        && let Some(cost) = cost_since(place, config, &event.session, looped.started_at)
    {
        looped.spent.insert(event.session.clone(), cost);
    }
    looped.limits.spent(&looped)
}

/// Adds facts that the ledger cannot know. A killed host sends no end event, so an owner counts as gone after a long
/// silence, or when its process is gone. A killed supervisor leaves a record, so a check with a free lock does not
/// run.
fn with_liveness(place: &Place, mut plan: PlanView, now: Millis) -> PlanView {
    truncate_texts(&mut plan.brief);
    plan.checking.retain(|check| is_check_running(place, &check.run));
    if let (Some(owner), None) = (&plan.owner, &plan.owner_ended) {
        plan.owner_ended = silent(place, owner, now);
    }
    plan
}

/// Returns whether a session without an end event counts as gone.
pub fn is_silent(place: &Place, session: &SessionId, now: Millis) -> bool {
    silent_since(place, session, now).is_some()
}

/// Returns the time of the last event of a session without an end event, if it counts as gone.
pub(super) fn silent_since(place: &Place, session: &SessionId, now: Millis) -> Option<Millis> {
    let files = SessionFiles::of(place, session);
    let last = files.peek().map_or(Millis(0), |state| state.last_at);
    // The difference counts in both directions: after the clock was set back, a dead session may seem to lie in the
    // future.
    (now.0.abs_diff(last.0) > SILENCE_MS || is_gone(&files)).then_some(last)
}

/// Returns the end of a session that sent no end event.
fn silent(place: &Place, session: &SessionId, now: Millis) -> Option<OwnerEnd> {
    silent_since(place, session, now).map(|at| OwnerEnd { reason: OwnerEnd::SILENT.into(), at })
}

/// Returns the approval status of a plan.
fn approval_status(
    place: &Place,
    config: &ConfigFiles,
    plan: &PlanView,
    rules: &ApprovalRules,
    now: Millis,
) -> Approval {
    let asked = ApprovalQuery {
        hash: plan.hash.as_deref(),
        path: plan.brief.spec.as_deref(),
        added_by: plan.added_by,
        required: rules.required,
        now,
    };
    let verifier = match rules.profile {
        // Without a key nothing is signed.
        Profile::Default => Verifier::Default { user_state: config.user_state().unwrap_or(Path::new("")) },
        // A hook never waits for `ssh-keygen`. This only affects the text for the agent; `task start` verifies the
        // signature.
        Profile::Hardened => Verifier::Hardened(&|_, _| true),
    };
    approval_of(place, &asked, &verifier)
}

fn truncate_texts(brief: &mut Brief) {
    let Brief {
        spec,
        objective,
        constraints,
        criteria,
        must_nots,
        taking_back,
        promise: _,
        phase,
        decisions,
        checkpoints: _,
        current,
    } = brief;
    // A shortened path would be a different path.
    taking_back.truncate(SAID / 100);
    taking_back.iter_mut().for_each(|task| task.paths.truncate(SAID / 10));
    let mut texts: Vec<&mut String> = [spec, objective, phase].into_iter().flatten().collect();
    texts.extend(constraints.iter_mut().chain(criteria).chain(must_nots).chain(decisions));
    if let Some(Current { files, notes, check, stuck_count: _, counted: _ }) = current {
        files.truncate(SAID / 20);
        texts.extend(files.iter_mut().chain(notes).chain(check));
    }
    for text in texts {
        if let Some((end, _)) = text.char_indices().nth(SAID) {
            text.truncate(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_a_spec_is_a_stop_is_journalled_with_a_little_of_it() {
        let long = || "é".repeat(100_000);
        let mut brief = Brief {
            spec: Some("SPEC.md".into()),
            objective: Some(long()),
            constraints: vec![long(); Brief::SHOWN],
            decisions: vec![long(); Brief::SHOWN],
            current: Some(Current { files: vec!["a".into(); 1_000], notes: Some(long()), ..Current::default() }),
            ..Brief::default()
        };
        truncate_texts(&mut brief);
        let text = format!("{brief:?}");
        assert!(text.len() < 40_000, "{}", text.len());
        assert_eq!(brief.spec.as_deref(), Some("SPEC.md"));
    }
}
