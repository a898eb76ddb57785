//! What the world says, as far as this event needs it.

use steadfast_model::{Fact, Millis, Needs, NewRules, OwnerEnd, PlanView, State};
use steadfast_store::ledger::{Ledger, read_slices};
use steadfast_store::{ConfigFiles, Place, SessionFiles, log_line};

/// Longer than any single tool call: an agent that works is heard of at least this often.
const SILENCE_MS: u64 = 4 * 60 * 60 * 1_000;

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

/// A host that was killed says no farewell: an owner that did nothing for long enough counts as gone.
fn heard_of(place: &Place, mut plan: PlanView, now: Millis) -> PlanView {
    if let (Some(owner), None) = (&plan.owner, &plan.owner_ended) {
        let last = SessionFiles::of(place, owner).peek().map_or(Millis(0), |state| state.last_at);
        // Either way: a clock that was set back leaves one that died before it in the future.
        if now.0.abs_diff(last.0) > SILENCE_MS {
            plan.owner_ended = Some(OwnerEnd { reason: OwnerEnd::SILENT.into(), at: last });
        }
    }
    plan
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
            Some(NewRules { stamp, rules: state.rules })
        }
    }
}
