use std::convert::Infallible;

use steadfast_engine::drift::{Fit, Signal, Without, follow, written};
use steadfast_engine::{ParsedEvent, PolicyDecision};
use steadfast_hook::{Redacted, World, handle};
use steadfast_model::{
    Change, DriftChange, Effect, Event, EventKind, Fact, Facts, Level, Needs, Neighbours, PolicyName, PolicyOpinion,
    State, Step, Verdict,
};

use crate::refiner::refined;
use crate::scorer::{Scored, Scorer, Start};
use crate::world::World as Corpus;

/// The signals that can be switched off.
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
    Signal::SimilarName,
    Signal::Folders,
    Signal::Reads,
    Signal::Documents,
    Signal::Prompts,
    Signal::Streak,
    Signal::Tangent,
    Signal::Repetition,
    Signal::Content,
];

/// The least number of other sessions that wrote both files. There are fewer sessions than commits.
const OFTEN: usize = 2;

/// The score itself: the pipeline of a hook, with the facts that a transcript has.
pub(crate) struct Engine<'a> {
    world: Corpus<'a>,
    without: Vec<Signal>,
    fit: Fit,
    session: Option<State>,
    /// The measured command of `drift.refine` runs.
    refines: bool,
}

/// A session, the data of other sessions in its folder, and its last record.
struct Session<'s, 'a> {
    engine: &'s Engine<'a>,
    state: State,
    changes: Vec<Change>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(start: &Start<'a>) -> Self {
        let off = SIGNALS.iter().zip(ALL).filter(|(name, _)| !start.uses(name));
        let without = off.map(|(_, signal)| signal).collect();
        Self { world: start.world, without, fit: start.variant.fit, session: None, refines: false }
    }

    pub(crate) fn refined(self) -> Self {
        Self { refines: true, ..self }
    }

    /// Returns the command's answer to a prompt, as if it arrived before any other event.
    fn refinement(&self, state: &State, event: &Event, effects: &[Effect]) -> Option<Event> {
        let asked = effects.iter().find_map(|effect| match effect {
            Effect::Refine { prompt } => Some(*prompt),
            _ => None,
        });
        let (Some(prompt), EventKind::Prompt { text, .. }, Some(goal)) = (asked, &event.kind, &state.goal) else {
            return None;
        };
        let word = refined(text, goal, prompt, self.world.tree)?;
        Some(Event { kind: EventKind::Goal(word), ..event.clone() })
    }
}

impl World for Session<'_, '_> {
    type Error = Infallible;
    type Before = State;

    fn begin(&mut self, _event: &Event) -> State {
        self.state.clone()
    }

    /// Returns the facts that a transcript can provide: the files that other sessions wrote together.
    fn look(&self, needs: Needs, before: &State, event: &ParsedEvent<'_>, seen: Facts) -> Facts {
        if !needs.neighbours {
            return seen;
        }
        let goes_with = |file: &str, other: &str| {
            let (both, all) = self.engine.world.together(file, other);
            both >= OFTEN && 2 * both >= all
        };
        let neighbours = written(before, event, &Fact::NotAsked).into_iter().map(|path| {
            let known = before.drift.places.known.iter();
            let with = known.filter(|own| goes_with(&path, own)).cloned().collect();
            Neighbours { path, with }
        });
        Facts { neighbours: neighbours.collect(), ..seen }
    }

    /// If signals are switched off, the score is computed again without them.
    fn record(
        &mut self,
        before: State,
        event: &ParsedEvent<'_>,
        decide: impl FnOnce(&State) -> (Facts, PolicyDecision),
    ) -> Result<PolicyDecision, Self::Error> {
        let Engine { without, fit, .. } = self.engine;
        let (facts, decision) = decide(&before);
        self.changes.clone_from(&decision.changes);
        if !without.is_empty() || *fit != Fit::default() {
            self.changes.retain(|change| !matches!(change, Change::Drift(_)));
            let without = Without { signals: without, fit: *fit };
            self.changes.extend(follow(&before, event, &facts, without).changes);
        }
        self.state.advance(self.state.sequence + 1, event.at, &self.changes);
        Ok(decision)
    }

    fn act(&mut self, _event: &Event, _decision: &mut PolicyDecision) {}
}

impl Scorer for Engine<'_> {
    fn event(&mut self, event: &Event) -> Option<Scored> {
        let begin = || State::new(event.session.clone(), event.host, event.at);
        let mut state = self.session.take().unwrap_or_else(begin);
        state.rules.drift.refine = self.refines;
        let mut session = Session { engine: self, state, changes: Vec::new() };
        let Ok(decision) = handle(&mut session, &Redacted::of(event.clone()), Facts::default());
        let changes = std::mem::take(&mut session.changes);
        if let Some(refined) = self.refinement(&session.state, event, &decision.effects) {
            let Ok(_) = handle(&mut session, &Redacted::of(refined), Facts::default());
        }
        self.session = Some(session.state);
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

fn is_denied(opinion: &PolicyOpinion) -> bool {
    opinion.policy == PolicyName::Constraint && matches!(opinion.verdict, Verdict::Deny { .. })
}
