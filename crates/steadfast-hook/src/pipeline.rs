//! The pipeline of an event: redact, look, decide, record, act. Hooks, commands, replays and the drift bench use it,
//! each with its own [`World`].

use std::borrow::Borrow;

use steadfast_engine::drift::leads_astray;
use steadfast_engine::{ParsedEvent, PolicyDecision};
use steadfast_model::{Event, Fact, Facts, Needs, State};

use crate::redacted::Redacted;

/// The environment of a session: a checkout on disk, nothing at all, or a journal.
pub trait World {
    type Error;
    /// The state before an event, as far as it can be read without a lock.
    type Before: Borrow<State>;

    /// Prepares for an event of a session.
    fn begin(&mut self, event: &Event) -> Self::Before;

    /// Reads the facts that the rules need. `seen` are the facts that arrived with the event.
    fn look(&self, needs: Needs, before: &State, event: &ParsedEvent<'_>, seen: Facts) -> Facts;

    /// Decides on the current state, and records the decision. On an error there is no decision.
    fn record(
        &mut self,
        before: Self::Before,
        event: &ParsedEvent<'_>,
        decide: impl FnOnce(&State) -> (Facts, PolicyDecision),
    ) -> Result<PolicyDecision, Self::Error>;

    /// Carries out the effects of a recorded decision. Their results may go into the answer.
    fn act(&mut self, event: &Event, decision: &mut PolicyDecision);
}

/// Handles one event of a session. `seen` are facts that arrived with it and cannot be read later.
pub fn handle<W: World>(world: &mut W, event: &Redacted, seen: Facts) -> Result<PolicyDecision, W::Error> {
    let before = world.begin(event);
    let event = ParsedEvent::of(event);
    let state = before.borrow();
    let looked_at = state.sequence;
    let facts = world.look(event.needs(state), state, &event, seen);
    let mut decision = world.record(before, &event, |state| {
        let facts = if state.sequence == looked_at { facts } else { still_needed(state, &event, facts) };
        let decision = event.decide(state, &facts);
        (facts, decision)
    })?;
    world.act(&event, &mut decision);
    Ok(decision)
}

/// Adapts facts that were read before the lock to the state under it, after another event came between. A gate marker
/// that appeared meanwhile counts from the next event on.
fn still_needed(state: &State, event: &ParsedEvent<'_>, facts: Facts) -> Facts {
    let needs = event.needs(state);
    let needs = if needs.changed { needs.and(of_changes(state, event, &facts.changed)) } else { needs };
    Facts {
        rules: facts.rules.filter(|new| new.stamp != state.rules_stamp),
        plan: match (needs.plan, facts.plan) {
            (false, _) => Fact::NotAsked,
            (true, Fact::NotAsked) => Fact::Unknown("it was not looked up in time".into()),
            (true, plan) => plan,
        },
        task_files: if needs.task_files { facts.task_files } else { Vec::new() },
        changed: if needs.changed { facts.changed } else { Fact::NotAsked },
        neighbours: if needs.neighbours { facts.neighbours } else { Vec::new() },
        found: if needs.found { facts.found } else { Fact::NotAsked },
        unfinished: if needs.looped { facts.unfinished } else { Fact::NotAsked },
        ..facts
    }
}

/// Returns what else is needed for files that a command turned out to change.
pub(crate) fn of_changes(state: &State, event: &ParsedEvent<'_>, changed: &Fact<Vec<String>>) -> Needs {
    let astray = match changed {
        Fact::Known(paths) if !paths.is_empty() => leads_astray(state, event, paths),
        _ => false,
    };
    Needs { plan: astray, neighbours: astray, ..Needs::default() }
}
