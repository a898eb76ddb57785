//! An event that no host sent: written down, shown to the human, and nothing else.

use steadfast_model::{Change, Event, EventKind, Forged, Mode, Opinion, PolicyName, State, Verdict};

use crate::Decision;

/// What follows from a forged event: it is written down. Whoever sent it is answered nothing.
pub(crate) fn noted(forged: &Forged) -> Decision {
    let told = forged.told();
    let opinion = Opinion { policy: PolicyName::Integrity, mode: Mode::Enforce, verdict: Verdict::Note(told.clone()) };
    Decision { opinions: vec![opinion], changes: vec![Change::Forged(told)], ..Decision::default() }
}

/// What the human reads of forged events at the next stop.
pub(crate) fn told(state: &State, event: &Event) -> Option<String> {
    if !matches!(event.kind, EventKind::Stop(_)) {
        return None;
    }
    let forged = state.forged.as_ref().filter(|forged| forged.told < forged.count)?;
    Some(match forged.count - forged.told {
        1 => forged.last.clone(),
        new => format!("{new} forged events, the last: {} `steadfast log` shows them all.", forged.last),
    })
}
