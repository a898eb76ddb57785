//! The plan of a checkout and its loop, from the ledger.

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

/// Longer than any single tool call: an agent that works is heard of at least this often.
const SILENCE_MS: u64 = 4 * 60 * 60 * 1_000;

/// More of a text is never said, and every stop is journalled with it.
const SAID: usize = 1_000;

/// The plan of this checkout: from the ledger, or, where that cannot be read just now, from its slice. With it, where
/// nothing is open, how its done tasks stand here.
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
        let mut plan = heard_of(place, plan, now);
        plan.approval = standing(place, config, &plan, &state.rules.approval, now);
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

/// The plan, and how it is shared.
#[derive(Debug, Default)]
pub(super) struct PlanFacts {
    pub(super) plan: Fact<Option<PlanView>>,
    pub(super) done: Fact<DoneHere>,
    pub(super) leased: Vec<Leased>,
    pub(super) task_files: Vec<TaskFile>,
    pub(super) unfinished: Fact<Option<LoopView>>,
}

/// What a new session is told of the loop of this checkout that is not finished. Advice: what cannot be read is not said.
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

/// The loop of this checkout that is not finished, as a stop or a prompt needs it. Where there is none, nothing is written
/// down of it.
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

/// The same for an event that asks for no plan.
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

/// Which limit a loop has reached, with what its session cost until now.
fn limit(place: &Place, config: &ConfigFiles, mut looped: Loop, event: &Event) -> Option<String> {
    if looped.limits.micro_usd.is_some()
        && let Some(cost) = cost_since(place, config, &event.session, looped.started_at)
    {
        looped.spent.insert(event.session.clone(), cost);
    }
    looped.limits.spent(&looped)
}

/// What the ledger cannot know. A host that was killed says no farewell: an owner that did nothing for long enough
/// counts as gone, and so does one whose process is. Nor does a supervisor: a check whose lock is free does not run.
fn heard_of(place: &Place, mut plan: PlanView, now: Millis) -> PlanView {
    bound(&mut plan.brief);
    plan.checking.retain(|check| is_check_running(place, &check.run));
    if let (Some(owner), None) = (&plan.owner, &plan.owner_ended) {
        plan.owner_ended = silent(place, owner, now);
    }
    plan
}

/// Whether a session whose end was not seen counts as gone.
pub fn is_silent(place: &Place, session: &SessionId, now: Millis) -> bool {
    silent_since(place, session, now).is_some()
}

/// When a session whose end was not seen was heard of last, if it counts as gone.
pub(super) fn silent_since(place: &Place, session: &SessionId, now: Millis) -> Option<Millis> {
    let files = SessionFiles::of(place, session);
    let last = files.peek().map_or(Millis(0), |state| state.last_at);
    // Either way: a clock that was set back leaves one that died before it in the future.
    (now.0.abs_diff(last.0) > SILENCE_MS || is_gone(&files)).then_some(last)
}

/// The end of a session that nobody saw end.
fn silent(place: &Place, session: &SessionId, now: Millis) -> Option<OwnerEnd> {
    silent_since(place, session, now).map(|at| OwnerEnd { reason: OwnerEnd::SILENT.into(), at })
}

/// How a plan stands with its human.
fn standing(place: &Place, config: &ConfigFiles, plan: &PlanView, rules: &ApprovalRules, now: Millis) -> Approval {
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
        // No hook waits for `ssh-keygen`. Here it is about what the agent is told; `task start` looks at the signature.
        Profile::Hardened => Verifier::Hardened(&|_, _| true),
    };
    approval_of(place, &asked, &verifier)
}

fn bound(brief: &mut Brief) {
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
    // A path that is cut is another path.
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
        bound(&mut brief);
        let text = format!("{brief:?}");
        assert!(text.len() < 40_000, "{}", text.len());
        assert_eq!(brief.spec.as_deref(), Some("SPEC.md"));
    }
}
