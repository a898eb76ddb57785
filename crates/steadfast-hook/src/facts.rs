//! What the world says, as far as this event needs it.

use steadfast_model::{Fact, Millis, Needs, NewRules, PlanView, State};
use steadfast_store::ledger::{Ledger, read_slices};
use steadfast_store::{ConfigFiles, Place, log_line};

/// The plan of this checkout: from the ledger, or, where that cannot be read just now, from its slice.
pub(crate) fn plan(place: &Place, needs: Needs) -> Fact<Option<PlanView>> {
    if !needs.plan {
        return Fact::NotAsked;
    }
    let worktree = place.worktree();
    let read = Ledger::open_read_only(&place.state)
        .and_then(|ledger| ledger.map_or(Ok(None), |ledger| ledger.plan_view(&worktree)));
    match read {
        Ok(plan) => Fact::Known(plan),
        Err(error) => match read_slices(&place.state, &worktree) {
            Some(plan) => Fact::Known(Some(plan)),
            None => Fact::Unknown(error.to_string()),
        },
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
            Some(NewRules { stamp, rules: state.rules })
        }
    }
}
