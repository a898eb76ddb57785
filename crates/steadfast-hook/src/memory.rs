//! Sessions in memory: of transcripts, without any facts, and of journals, with their recorded facts. Effects are not
//! carried out.

use std::convert::Infallible;

use steadfast_engine::{ParsedEvent, PolicyDecision};
use steadfast_model::{Change, Entry, Event, Fact, Facts, Needs, PolicyName, PolicyOpinion, Record, State};
use steadfast_store::Line;

use crate::pipeline::{World, handle};
use crate::redacted::Redacted;

#[derive(Clone, Debug)]
pub struct InMemorySession {
    state: State,
    source: Source,
}

/// The source of the facts of a session in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A transcript has no facts, so there is no plan.
    Transcript,
    /// A journal has the facts of each event.
    Journal,
}

impl InMemorySession {
    /// A session of which only the coming events are known.
    pub fn of_transcript(state: State) -> Self {
        Self { state, source: Source::Transcript }
    }

    pub fn handle(&mut self, event: &Redacted) -> PolicyDecision {
        let Ok(decision) = handle(self, event, Facts::default());
        decision
    }
}

impl World for InMemorySession {
    type Error = Infallible;
    type Before = State;

    fn begin(&mut self, _event: &Event) -> State {
        self.state.clone()
    }

    fn look(&self, needs: Needs, _before: &State, _event: &ParsedEvent<'_>, seen: Facts) -> Facts {
        match self.source {
            Source::Transcript if needs.plan => Facts { plan: Fact::Known(None), ..seen },
            Source::Transcript | Source::Journal => seen,
        }
    }

    fn record(
        &mut self,
        before: State,
        event: &ParsedEvent<'_>,
        decide: impl FnOnce(&State) -> (Facts, PolicyDecision),
    ) -> Result<PolicyDecision, Infallible> {
        let (_, decision) = decide(&before);
        self.state.advance(self.state.sequence + 1, event.at, &decision.changes);
        Ok(decision)
    }

    fn act(&mut self, _event: &Event, _decision: &mut PolicyDecision) {}
}

/// A record of a journal, with the decision of today's rules for the same event, state and facts.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub sequence: u64,
    pub recorded: Record,
    pub decision: PolicyDecision,
}

impl Replayed {
    /// Returns whether the rules decide as they did, as far as the journal can show it. For an event that the journal
    /// abridged, the drift score does not count, because it depends on words that no journal keeps. If the journal has
    /// only the start of a command or prompt, nothing can be compared.
    pub fn is_same(&self) -> bool {
        let Record { event, facts: _, opinions, answer, changes, effects } = &self.recorded;
        let now = &self.decision;
        if event.is_shortened() {
            return true;
        }
        if !event.abridged {
            return *opinions == now.opinions
                && *answer == now.answer
                && *changes == now.changes
                && *effects == now.effects;
        }
        let others = |all: &[PolicyOpinion]| -> Vec<PolicyOpinion> {
            all.iter().filter(|opinion| opinion.policy != PolicyName::Drift).cloned().collect()
        };
        let elsewhere = |all: &[Change]| -> Vec<Change> {
            // Its line for the human leaves a mark.
            let of_drift = |change: &&Change| matches!(change, Change::Drift(_) | Change::HumanTold(_));
            all.iter().filter(|change| !of_drift(change)).cloned().collect()
        };
        let drift_spoke = others(opinions).len() < opinions.len() || others(&now.opinions).len() < now.opinions.len();
        others(opinions) == others(&now.opinions)
            && (drift_spoke || *answer == now.answer)
            && elsewhere(changes) == elsewhere(&now.changes)
            && *effects == now.effects
    }
}

/// Replays a journal with its recorded facts. Each event meets the recorded state, so a difference does not spread to
/// later events. Lines before the first snapshot or event of a session are skipped.
pub fn replay_journal(lines: impl IntoIterator<Item = Line>) -> impl Iterator<Item = Replayed> {
    let mut state: Option<State> = None;
    lines.into_iter().filter_map(move |line| {
        let record = match line.entry {
            Entry::Snapshot(snapshot) => {
                state = Some(*snapshot);
                return None;
            }
            Entry::Record(record) => *record,
        };
        let event = &record.event;
        let before = state.take().unwrap_or_else(|| State::new(event.session.clone(), event.host, event.at));
        let mut memory = InMemorySession { state: before.clone(), source: Source::Journal };
        let Ok(decision) = handle(&mut memory, &Redacted::of(event.clone()), record.facts.clone());
        let mut after = before;
        after.advance(line.sequence, event.at, &record.changes);
        state = Some(after);
        Some(Replayed { sequence: line.sequence, recorded: record, decision })
    })
}
