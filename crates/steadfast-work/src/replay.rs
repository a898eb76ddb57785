//! Replays past sessions through the current rules, and collects the verdicts of the policies.

mod actions;
mod report;
mod workers;

use steadfast_engine::PolicyDecision;
use steadfast_hook::{InMemorySession, Redacted};
use steadfast_hosts::transcript::SessionEvents;
use steadfast_model::{Change, DriftChange, Event, EventKind, Goal, PolicyOpinion, Rules, State, Step, ToolCall};

pub use actions::{ReplayedAction, ReplayedActions};
pub use report::{FoundTurn, PolicyExample, PolicyRemark, SessionReport};
pub use workers::{ReplayPanic, reports};

/// A session, event by event, with the verdicts of the policies on each.
#[derive(Debug)]
pub struct Fold<E = SessionEvents> {
    events: E,
    rules: Rules,
    /// The goal of the session, if the caller sets one instead of the session's human.
    goal: Option<Goal>,
    session: Option<InMemorySession>,
}

/// An event with the decision on it.
#[derive(Debug)]
pub struct ReplayedEvent {
    pub event: Redacted,
    decision: PolicyDecision,
}

impl<E> Fold<E> {
    pub fn new(events: E, rules: Rules) -> Self {
        Self { events, rules, goal: None, session: None }
    }

    /// Sets a goal from the beginning.
    pub fn with_goal(self, goal: Option<Goal>) -> Self {
        Self { goal, ..self }
    }

    /// The state after the last event.
    pub fn state(&self) -> Option<&State> {
        self.session.as_ref().map(InMemorySession::state)
    }
}

impl Fold {
    /// Rows read so far that could not be parsed.
    pub fn damaged(&self) -> u64 {
        self.events.damaged()
    }
}

impl<E: Iterator<Item = Event>> Iterator for Fold<E> {
    type Item = ReplayedEvent;

    fn next(&mut self) -> Option<ReplayedEvent> {
        let event = Redacted::of(self.events.next()?);
        let (rules, goal) = (&self.rules, &self.goal);
        let begin = || {
            let fresh = State::new(event.session.clone(), event.host, event.at);
            InMemorySession::of_transcript(State { rules: rules.clone(), goal: goal.clone(), ..fresh })
        };
        let decision = self.session.get_or_insert_with(begin).handle(&event);
        Some(ReplayedEvent { event, decision })
    }
}

impl ReplayedEvent {
    /// The call, if the event is before a call.
    pub fn action(&self) -> Option<&ToolCall> {
        match &self.event.kind {
            EventKind::PreTool(call) => Some(call),
            _ => None,
        }
    }

    /// The call that the event is about, before or after it.
    pub fn call(&self) -> Option<&ToolCall> {
        match &self.event.kind {
            EventKind::PreTool(call) => Some(call),
            EventKind::PostTool(result) => Some(&result.call),
            _ => None,
        }
    }

    /// The score of the call, if the event is after a call that was a step.
    pub fn step(&self) -> Option<&Step> {
        self.decision.changes.iter().find_map(|change| match change {
            Change::Drift(DriftChange::Stepped(step)) => Some(&**step),
            _ => None,
        })
    }

    pub fn opinions(&self) -> &[PolicyOpinion] {
        &self.decision.opinions
    }

    /// The label of the strictest verdict.
    pub fn verdict(&self) -> &'static str {
        self.opinions().iter().map(|opinion| &opinion.verdict).max().map_or("pass", |verdict| verdict.label())
    }
}
