use steadfast_engine::decide;
use steadfast_engine::drift::{Signal, Without, follow};
use steadfast_model::{Change, DriftChange, Event, Facts, Level, Opinion, PolicyName, State, Step, Verdict};

use crate::scorer::{Scored, Scorer, Start};

/// What can be switched off.
pub(crate) const SIGNALS: [&str; 10] =
    ["named", "words", "companions", "kin", "folders", "reads", "prompts", "streak", "tangent", "repetition"];

const ALL: [Signal; 10] = [
    Signal::Named,
    Signal::Words,
    Signal::Companions,
    Signal::Kin,
    Signal::Folders,
    Signal::Reads,
    Signal::Prompts,
    Signal::Streak,
    Signal::Tangent,
    Signal::Repetition,
];

/// The score itself: the same fold as in a hook, with the facts that a transcript has.
pub(crate) struct Engine {
    without: Vec<Signal>,
    state: Option<State>,
    sequence: u64,
}

impl Engine {
    pub(crate) fn new(start: &Start<'_>) -> Self {
        let off = SIGNALS.iter().zip(ALL).filter(|(name, _)| !start.uses(name));
        Self { without: off.map(|(_, signal)| signal).collect(), state: None, sequence: 0 }
    }
}

impl Scorer for Engine {
    fn event(&mut self, event: &Event) -> Option<Scored> {
        let state = self.state.get_or_insert_with(|| State::new(event.session.clone(), event.host, event.at));
        let decision = decide(state, event, &Facts::default());
        let mut changes = decision.changes;
        if !self.without.is_empty() {
            changes.retain(|change| !matches!(change, Change::Drift(_)));
            changes.extend(follow(state, event, &Facts::default(), Without(&self.without)).changes);
        }
        self.sequence += 1;
        state.advance(self.sequence, event.at, &changes);
        let denied = decision.opinions.iter().any(is_denied);
        let step = changes.iter().find_map(step);
        (denied || step.is_some()).then(|| Scored {
            score: if denied { 1.0 } else { step.map_or(10.0, |step| f64::from(step.score.get())) },
            correction: denied || step.is_some_and(|step| step.level >= Level::Correct),
        })
    }
}

fn step(change: &Change) -> Option<&Step> {
    match change {
        Change::Drift(DriftChange::Stepped(step)) => Some(step),
        _ => None,
    }
}

fn is_denied(opinion: &Opinion) -> bool {
    opinion.policy == PolicyName::Constraint && matches!(opinion.verdict, Verdict::Deny { .. })
}
