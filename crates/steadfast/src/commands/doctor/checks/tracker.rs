//! A list that is kept elsewhere.

use steadfast_work::tracker::{self, HOOK, Patience};

use super::super::finding::Finding;
use super::super::here::Here;

/// In the time that a stop has for it: a list that takes longer holds nobody.
pub(super) fn tracker_unread(here: &Here) -> Vec<Finding> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let Some(tracker) = tracker::of(&settings, here.place(), here.now) else { return Vec::new() };
    let Err(error) = tracker.read(Patience::of(HOOK)) else { return Vec::new() };
    vec![Finding::warning(
        "tracker-unread",
        tracker::unread(tracker.as_ref(), &error),
        "until it can be, no session is held by its tasks; `ledger.source` names it, and `native` keeps tasks here",
    )]
}
