//! The one way of an event: redact, look, decide, record, act. Hooks, commands, replays and the drift bench take it; they
//! differ in their [`World`].

use std::borrow::Borrow;

use steadfast_engine::drift::leads_astray;
use steadfast_engine::{ParsedEvent, PolicyDecision};
use steadfast_model::{Event, Fact, Facts, Needs, State};

use crate::redacted::Redacted;

/// What surrounds a session: a checkout on the disk, nothing at all, or a journal.
pub trait World {
    type Error;
    /// The state before an event, as far as it is known without a lock.
    type Before: Borrow<State>;

    /// Prepares for an event of a session.
    fn begin(&mut self, event: &Event) -> Self::Before;

    /// Looks up what the rules need. `seen` is what came with the event.
    fn look(&self, needs: Needs, before: &State, event: &ParsedEvent<'_>, seen: Facts) -> Facts;

    /// Decides on the state as it is now, and writes the decision down. On an error nothing was decided.
    fn record(
        &mut self,
        before: Self::Before,
        event: &ParsedEvent<'_>,
        decide: impl FnOnce(&State) -> (Facts, PolicyDecision),
    ) -> Result<PolicyDecision, Self::Error>;

    /// Carries out the effects of a decision that was written down. What comes of them may belong into the answer.
    fn act(&mut self, event: &Event, decision: &mut PolicyDecision);
}

/// Takes a session one event further. `seen` is what came with the event and cannot be looked up later.
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

/// The facts that were looked up before the lock, for the state under it: another event came between. A marker of a gate
/// that came since counts from the next event on.
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

/// What the files need that a command turned out to change.
pub(crate) fn of_changes(state: &State, event: &ParsedEvent<'_>, changed: &Fact<Vec<String>>) -> Needs {
    let astray = match changed {
        Fact::Known(paths) if !paths.is_empty() => leads_astray(state, event, paths),
        _ => false,
    };
    Needs { plan: astray, neighbours: astray, ..Needs::default() }
}
