use std::collections::HashMap;
use std::time::{Duration, Instant};

use steadfast_engine::drift::Fit;
use steadfast_model::{Action, Event, EventKind, Outcome};

use crate::world::World;

/// What is compared: it sees the events of one session, the very ones that a replay folds, and scores actions.
///
/// A scorer is made anew for every session. It may speak before a call, after it, or both; the harsher word counts.
pub(crate) trait Scorer {
    /// `None`: not an action, or one that is free (a read).
    fn event(&mut self, event: &Event) -> Option<Scored>;
}

/// What a scorer knows when a session begins.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    /// The session's folder; every path of a file in it begins so.
    pub(crate) root: &'a str,
    pub(crate) world: World<'a>,
    pub(crate) variant: Variant<'a>,
}

/// A scorer that is not as it comes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Variant<'a> {
    /// Signals that are switched off, by name.
    pub(crate) without: &'a [&'a str],
    pub(crate) fit: Fit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    /// 1 to 10; 10 is on course.
    pub(crate) score: f64,
    /// The level is `correct` or worse, or the action is refused.
    pub(crate) correction: bool,
}

impl Start<'_> {
    pub(crate) fn uses(&self, signal: &str) -> bool {
        !self.variant.without.contains(&signal)
    }
}

impl Scored {
    /// What a yardstick says, which knows two words.
    pub(crate) const FINE: Self = Self { score: 10.0, correction: false };
    pub(crate) const STRANGE: Self = Self { score: 3.0, correction: true };

    fn harsher(self, other: Self) -> Self {
        Self { score: self.score.min(other.score), correction: self.correction || other.correction }
    }
}

/// One call, and what was said of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The event it began with.
    pub(crate) at: usize,
    /// It wrote a file, with a tool for that, and came back without an error.
    pub(crate) writes: bool,
    pub(crate) scored: Option<Scored>,
}

impl Step {
    pub(crate) fn is_corrected(self) -> bool {
        self.scored.is_some_and(|scored| scored.correction)
    }
}

/// A session through a scorer. Events of one call are one step.
pub(crate) fn steps<'e>(scorer: &mut dyn Scorer, events: impl IntoIterator<Item = &'e Event>) -> Vec<Step> {
    timed(scorer, events, &mut Vec::new())
}

/// As [`steps`]; every event of a call leaves its time.
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
