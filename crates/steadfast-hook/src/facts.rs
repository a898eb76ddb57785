//! What the world says, as far as this event needs it.

use steadfast_model::{Brief, Current, Fact, Millis, Needs, NewRules, OwnerEnd, PlanView, State};
use steadfast_store::ledger::{Ledger, read_slices};
use steadfast_store::{ConfigFiles, Place, SessionFiles, is_check_running, log_line};

use crate::process::is_gone;

/// Longer than any single tool call: an agent that works is heard of at least this often.
const SILENCE_MS: u64 = 4 * 60 * 60 * 1_000;

/// More of a text is never said, and every stop is journalled with it.
const SAID: usize = 1_000;

/// The plan of this checkout: from the ledger, or, where that cannot be read just now, from its slice.
pub(crate) fn plan(place: &Place, needs: Needs, now: Millis) -> Fact<Option<PlanView>> {
    if !needs.plan {
        return Fact::NotAsked;
    }
    let worktree = place.worktree();
    let read = Ledger::open_read_only(&place.state)
        .and_then(|ledger| ledger.map_or(Ok(None), |ledger| ledger.plan_view(&worktree)));
    match read {
        Ok(plan) => Fact::Known(plan.map(|plan| heard_of(place, plan, now))),
        Err(error) => match read_slices(&place.state, &worktree) {
            Some(plan) => Fact::Known(Some(heard_of(place, plan, now))),
            None => Fact::Unknown(error.to_string()),
        },
    }
}

/// What the ledger cannot know. A host that was killed says no farewell: an owner that did nothing for long enough
/// counts as gone, and so does one whose process is. Nor does a supervisor: a check whose lock is free does not run.
fn heard_of(place: &Place, mut plan: PlanView, now: Millis) -> PlanView {
    bound(&mut plan.brief);
    plan.checking.retain(|check| is_check_running(place, &check.run));
    if let (Some(owner), None) = (&plan.owner, &plan.owner_ended) {
        let files = SessionFiles::of(place, owner);
        let last = files.peek().map_or(Millis(0), |state| state.last_at);
        // Either way: a clock that was set back leaves one that died before it in the future.
        if now.0.abs_diff(last.0) > SILENCE_MS || is_gone(&files) {
            plan.owner_ended = Some(OwnerEnd { reason: OwnerEnd::SILENT.into(), at: last });
        }
    }
    plan
}

fn bound(brief: &mut Brief) {
    let Brief { spec, objective, constraints, promise: _, phase, decisions, checkpoints: _, current } = brief;
    let mut texts: Vec<&mut String> = [spec, objective, phase].into_iter().flatten().collect();
    texts.extend(constraints.iter_mut().chain(decisions));
    if let Some(Current { files, notes, check, stuck_count: _ }) = current {
        files.truncate(SAID / 20);
        texts.extend(files.iter_mut().chain(notes).chain(check));
    }
    for text in texts {
        if let Some((end, _)) = text.char_indices().nth(SAID) {
            text.truncate(end);
        }
    }
}

/// The configuration, if it is not the one this session knows. A file that cannot be read leaves the old one standing.
pub(crate) fn rules(place: &Place, config: &ConfigFiles, state: &State, now: Millis) -> Option<NewRules> {
    let stamp = config.stamp();
    if stamp == state.rules_stamp {
        return None;
    }
    match config.load() {
        Ok(settings) => Some(NewRules { stamp, rules: settings.rules() }),
        Err(error) => {
            log_line(place, now, &format!("configuration: {error}"));
            Some(NewRules { stamp, rules: state.rules.clone() })
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
