use steadfast_engine::drift::{Fit, Signal, Without, follow, written};
use steadfast_engine::{Heard, decide};
use steadfast_model::{
    Change, DriftChange, Effect, Event, EventKind, Fact, Facts, Level, Neighbours, Opinion, PolicyName, State, Step,
    Verdict,
};

use crate::refiner::refined;
use crate::scorer::{Scored, Scorer, Start};
use crate::world::World;

/// What can be switched off.
pub(crate) const SIGNALS: [&str; 13] = [
    "named",
    "words",
    "companions",
    "neighbours",
    "kin",
    "folders",
    "reads",
    "documents",
    "prompts",
    "streak",
    "tangent",
    "repetition",
    "content",
];

const ALL: [Signal; 13] = [
    Signal::Named,
    Signal::Words,
    Signal::Companions,
    Signal::Neighbours,
    Signal::Kin,
    Signal::Folders,
    Signal::Reads,
    Signal::Documents,
    Signal::Prompts,
    Signal::Streak,
    Signal::Tangent,
    Signal::Repetition,
    Signal::Content,
];

/// Other sessions that wrote both files, before that says anything. There are fewer of them than commits.
const OFTEN: usize = 2;

/// The score itself: the same fold as in a hook, with the facts that a transcript has.
pub(crate) struct Engine<'a> {
    world: World<'a>,
    without: Vec<Signal>,
    fit: Fit,
    state: Option<State>,
    sequence: u64,
    /// Whether the command is asked that is measured.
    refines: bool,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(start: &Start<'a>) -> Self {
        let off = SIGNALS.iter().zip(ALL).filter(|(name, _)| !start.uses(name));
        let without = off.map(|(_, signal)| signal).collect();
        Self { world: start.world, without, fit: start.variant.fit, state: None, sequence: 0, refines: false }
    }

    pub(crate) fn refined(self) -> Self {
        Self { refines: true, ..self }
    }

    /// The command's answer to a prompt, as if it came before anything else happened.
    fn refine(&mut self, state: &mut State, event: &Event, effects: &[Effect]) {
        let asked = effects.iter().find_map(|effect| match effect {
            Effect::Refine { prompt } => Some(*prompt),
            _ => None,
        });
        let (Some(prompt), EventKind::Prompt { text, .. }, Some(goal)) = (asked, &event.kind, &state.goal) else {
            return;
        };
        let Some(word) = refined(text, goal, prompt, self.world.tree) else { return };
        let said = Event { kind: EventKind::Goal(word), ..event.clone() };
        self.sequence += 1;
        let changes = decide(state, &said, &Facts::default()).changes;
        state.advance(self.sequence, said.at, &changes);
    }

    /// The facts of a hook that a transcript can stand in for: what other sessions wrote together.
    fn facts(&self, state: &State, event: &Heard<'_>) -> Facts {
        if !event.needs(state).neighbours {
            return Facts::default();
        }
        let goes_with = |file: &str, other: &str| {
            let (both, all) = self.world.together(file, other);
            both >= OFTEN && 2 * both >= all
        };
        let neighbours = written(state, event, &Fact::NotAsked).into_iter().map(|path| {
            let known = state.drift.places.known.iter();
            let with = known.filter(|own| goes_with(&path, own)).cloned().collect();
            Neighbours { path, with }
        });
        Facts { neighbours: neighbours.collect(), ..Facts::default() }
    }
}

impl Scorer for Engine<'_> {
    fn event(&mut self, event: &Event) -> Option<Scored> {
        let mut state = self.state.take().unwrap_or_else(|| State::new(event.session.clone(), event.host, event.at));
        state.rules.drift.refine = self.refines;
        let heard = Heard::of(event);
        let facts = self.facts(&state, &heard);
        let decision = heard.decide(&state, &facts);
        let mut changes = decision.changes;
        if !self.without.is_empty() || self.fit != Fit::default() {
            changes.retain(|change| !matches!(change, Change::Drift(_)));
            changes.extend(follow(&state, &heard, &facts, Without { signals: &self.without, fit: self.fit }).changes);
        }
        self.sequence += 1;
        state.advance(self.sequence, event.at, &changes);
        self.refine(&mut state, event, &decision.effects);
        self.state = Some(state);
        let denied = decision.opinions.iter().any(is_denied);
        let step = changes.iter().find_map(step);
        (denied || step.is_some()).then(|| Scored {
            score: if denied { 1.0 } else { step.map_or(10.0, |step| f64::from(step.score.get())) },
            correction: denied || step.is_some_and(|step| step.level >= Level::Correct && step.correction.is_some()),
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
