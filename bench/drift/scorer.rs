use std::collections::HashMap;
use std::time::{Duration, Instant};

use steadfast_engine::drift::Fit;
use steadfast_model::{Action, Event, EventKind, Outcome};

use crate::world::World;

/// A scorer in the comparison. It receives the events of one session, the same ones that a replay folds, and scores
/// actions.
///
/// Every session has a new scorer. A scorer may judge before a call, after it, or both; the lower score counts.
pub(crate) trait Scorer {
    /// Returns `None` for events that are not actions and for free ones (a read).
    fn event(&mut self, event: &Event) -> Option<Scored>;
}

/// The data that a scorer has at the start of a session.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    /// The session's folder, the prefix of every file in it.
    pub(crate) root: &'a str,
    pub(crate) world: World<'a>,
    pub(crate) variant: Variant<'a>,
}

/// A scorer with changed settings.
#[derive(Clone, Copy, Default)]
pub(crate) struct Variant<'a> {
    /// The names of the switched-off signals.
    pub(crate) without: &'a [&'a str],
    pub(crate) fit: Fit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    /// From 1 to 10; 10 is on course.
    pub(crate) score: f64,
    /// The level is at least `correct`, or the action is refused.
    pub(crate) correction: bool,
}

impl Start<'_> {
    pub(crate) fn uses(&self, signal: &str) -> bool {
        !self.variant.without.contains(&signal)
    }
}

impl Scored {
    /// The good score of a yardstick, which knows only two scores.
    pub(crate) const FINE: Self = Self { score: 10.0, correction: false };
    pub(crate) const STRANGE: Self = Self { score: 3.0, correction: true };

    fn harsher(self, other: Self) -> Self {
        Self { score: self.score.min(other.score), correction: self.correction || other.correction }
    }
}

/// One call and its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The index of its first event.
    pub(crate) at: usize,
    /// It wrote a file with a write tool and returned without an error.
    pub(crate) writes: bool,
    pub(crate) scored: Option<Scored>,
}

impl Step {
    pub(crate) fn is_corrected(self) -> bool {
        self.scored.is_some_and(|scored| scored.correction)
    }
}

/// Runs a scorer over a session. The events of one call are one step.
pub(crate) fn steps<'e>(scorer: &mut dyn Scorer, events: impl IntoIterator<Item = &'e Event>) -> Vec<Step> {
    timed(scorer, events, &mut Vec::new())
}

/// As [`steps`], and records the time of every event of a call.
pub(crate) fn timed<'e>(
    scorer: &mut dyn Scorer,
    events: impl IntoIterator<Item = &'e Event>,
    times: &mut Vec<Duration>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, event) in events.into_iter().enumerate() {
        let began = Instant::now();
        let scored = scorer.event(event);
        let took = began.elapsed();
        let (call, writes) = match &event.kind {
            EventKind::PreTool(call) => (call, false),
            EventKind::PostTool(result) => (&result.call, writes(&result.call.action, &result.outcome)),
            _ => continue,
        };
        times.push(took);
        let id = call.id.as_ref().map_or("", |id| id.as_str());
        let number = match open.get(id) {
            Some(number) if matches!(event.kind, EventKind::PostTool(_)) => *number,
            _ => {
                steps.push(Step { at, writes: false, scored: None });
                open.insert(id, steps.len() - 1);
                steps.len() - 1
            }
        };
        let step = &mut steps[number];
        step.writes |= writes;
        step.scored = match (step.scored, scored) {
            (Some(one), Some(other)) => Some(one.harsher(other)),
            (one, other) => one.or(other),
        };
    }
    steps
}

fn writes(action: &Action, outcome: &Outcome) -> bool {
    matches!(action, Action::Write { .. }) && *outcome == Outcome::Ok
}
