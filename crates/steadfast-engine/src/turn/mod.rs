//! What a past session shows without a ledger: turns that ended with an offer to go on, claims that tests pass without a
//! test run, and calls that did what the human had forbidden.

mod message;
mod test_run;

use steadfast_model::{
    Action, Constraint, ConstraintKind, Event, EventKind, ListCall, ListStatus, Listed, Millis, Outcome, PromptOrigin,
    State, Stopping, ToolCall, ToolResult, ToolUseId,
};

use crate::ParsedEvent;
use crate::goal;
use crate::policy::breach;
use message::Message;
use test_run::may_run_tests;

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurnKind {
    /// The turn ended with an offer to go on while work was open.
    StoppedEarly,
    /// The agent said that tests pass, and ran none.
    UntestedClaim,
    /// The agent ran what the human had forbidden: a commit after "don't commit".
    Forbidden,
    /// The agent wrote outside a scope that the human had named.
    OutsideScope,
}

impl TurnKind {
    pub const ALL: [Self; 4] = [Self::StoppedEarly, Self::UntestedClaim, Self::Forbidden, Self::OutsideScope];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::StoppedEarly => "stopped_early",
            Self::UntestedClaim => "untested_claim",
            Self::Forbidden => "forbidden",
            Self::OutsideScope => "outside_scope",
        }
    }
}

/// One finding in a past session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnFinding {
    pub kind: TurnKind,
    pub at: Millis,
    /// The number of the human's prompt that began the turn.
    pub turn: u32,
    /// The words of the agent, or of the human who forbade it.
    pub quoted: String,
    /// The call, if the finding is about one.
    pub call: Option<ToolUseId>,
    /// The command or path of that call.
    pub act: String,
}

/// Collects the findings of a session, event by event.
#[derive(Debug, Default)]
pub struct TurnWatch {
    turn: u32,
    /// A human asked for a change, in this turn or before.
    wanted: bool,
    /// The agent wrote or ran something in this turn.
    acted: bool,
    wrote: bool,
    /// A call of this turn may have run tests.
    tested: bool,
    /// Tests may have run since the last write of the session.
    tested_since_write: bool,
    /// The agent's own list has open items.
    list_open: bool,
    /// Forbidden calls that have not returned.
    breaches: Vec<(Option<ToolUseId>, TurnKind, String, String)>,
}

/// The most forbidden calls that are waited for at once.
const WAITING: usize = 64;

impl TurnWatch {
    /// Adds an event. `state` is the state of the session after it; `denied`: a constraint refuses the call.
    pub fn add(&mut self, event: &Event, state: &State, denied: bool) -> Option<TurnFinding> {
        match &event.kind {
            EventKind::Prompt { text, origin: PromptOrigin::Human, .. } => {
                self.turn += 1;
                (self.acted, self.wrote, self.tested) = (false, false, false);
                self.wanted |= goal::read(text).wants_change;
                None
            }
            EventKind::PreTool(call) if denied => {
                self.breached(event, state, call);
                None
            }
            EventKind::PostTool(result) => self.returned(event, result),
            EventKind::Stop(stopping) => self.stopped(event, stopping),
            _ => None,
        }
    }

    fn breached(&mut self, event: &Event, state: &State, call: &ToolCall) {
        let Some((Constraint { kind, said, .. }, act)) = breach(state, &ParsedEvent::of(event)) else { return };
        let kind = match kind {
            ConstraintKind::Touch | ConstraintKind::Only | ConstraintKind::Write | ConstraintKind::Create => {
                TurnKind::OutsideScope
            }
            _ => TurnKind::Forbidden,
        };
        if self.breaches.len() < WAITING {
            self.breaches.push((call.id.clone(), kind, said, act));
        }
    }

    fn returned(&mut self, event: &Event, result: &ToolResult) -> Option<TurnFinding> {
        let call = &result.call;
        let found = self.breaches.iter().position(|(id, ..)| *id == call.id).map(|at| self.breaches.remove(at));
        if result.outcome != Outcome::Ok && !matches!(call.action, Action::Shell { .. }) {
            return None;
        }
        let parsed = ParsedEvent::of(event);
        let writes = matches!(call.action, Action::Write { .. });
        self.wrote |= writes;
        self.acted |= writes || matches!(call.action, Action::Shell { .. });
        self.tested_since_write &= !writes;
        if may_run_tests(call, parsed.reading()) {
            (self.tested, self.tested_since_write) = (true, true);
        }
        if let Action::List(list) = &call.action {
            self.list_open = is_open(list).unwrap_or(self.list_open);
        }
        // A call that failed or was refused broke nothing.
        let (id, kind, quoted, act) = found.filter(|_| result.outcome == Outcome::Ok)?;
        Some(TurnFinding { kind, at: event.at, turn: self.turn, quoted, call: id, act })
    }

    fn stopped(&mut self, event: &Event, stopping: &Stopping) -> Option<TurnFinding> {
        let text = stopping.last_message.as_deref().filter(|_| event.agent.is_none())?;
        let message = Message::of(text);
        let finding = |kind, quoted: &str| TurnFinding {
            kind,
            at: event.at,
            turn: self.turn,
            quoted: quoted.to_owned(),
            call: None,
            act: String::new(),
        };
        let untested = !self.tested && (self.wrote || !self.tested_since_write);
        if let Some(claim) = message.claim().filter(|_| untested && self.acted) {
            return Some(finding(TurnKind::UntestedClaim, claim));
        }
        let waits = stopping.background.iter().flatten().next().is_some() || event.planning;
        let offer = message.offer(self.list_open).filter(|_| self.wanted && self.acted && !waits)?;
        Some(finding(TurnKind::StoppedEarly, offer))
    }
}

/// Returns whether a call leaves open items in the agent's list. `None`: the call does not tell.
fn is_open(list: &ListCall) -> Option<bool> {
    let open = |status: ListStatus| status != ListStatus::Completed;
    match list {
        ListCall::Write { items, .. } => Some(items.iter().any(|Listed { status, .. }| open(*status))),
        ListCall::Told { items, .. } => Some(items.iter().any(|item| open(item.status))),
        ListCall::Add { .. } | ListCall::Edit(_) | ListCall::Look => None,
    }
}

#[cfg(test)]
mod tests;
