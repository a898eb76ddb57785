//! The plan gate: no protected path is written before a human approves the plan, and then only the approved plan is.
//!
//! A gate is closed if the session's state says so or if a marker of it exists. Removing the marker or losing the state
//! does not open it. Only an opening does: a human's yes or no, a human's unlock, or its expiry. Writes that the
//! reading of a call misses are found by the seal, and undone.

mod channel;
mod nearly;
mod program;
mod seal;
mod text;
mod write;

pub(super) use write::may_do_anything;

use steadfast_model::{
    Action, Change, Direction, Effect, Event, EventKind, Fact, Facts, Gate, GateScope, GateState, Mode, Needs, Opening,
    PolicyName, PromptOrigin, Rules, StartSource, State, ToolCall, ToolResult, Trigger, Verdict,
};

use super::{Judgement, Policy};
use crate::ParsedEvent;

#[derive(Debug)]
pub(super) struct Approval;

impl Policy for Approval {
    fn name(&self) -> PolicyName {
        PolicyName::Approval
    }

    fn direction(&self) -> Direction {
        Direction::Gate
    }

    fn mode(&self, rules: &Rules) -> Mode {
        rules.approval_mode
    }

    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs {
        // A session without a closed gate must not wait for one.
        let closed = state.gate.is_some();
        let (gate, seal, tree) = match &event.kind {
            EventKind::PreTool(ToolCall { action, .. })
            | EventKind::PostTool(ToolResult { call: ToolCall { action, .. }, .. }) => {
                let looks = !matches!(action, Action::Read { .. } | Action::Skill { .. });
                (looks, looks, closed && may_do_anything(event, action))
            }
            EventKind::Prompt { .. } | EventKind::Stop(_) => (true, true, true),
            EventKind::SubagentStop(_) => (closed, closed, closed),
            EventKind::SessionStart { .. }
            | EventKind::Command { .. }
            | EventKind::Permission(_)
            | EventKind::SubagentStart => (true, false, false),
            _ => (false, false, false),
        };
        // Processes left by a call, or running before it, are looked for until none is left.
        let running = match (&event.kind, &state.gate) {
            (EventKind::PostTool(result), Some(known)) => {
                known.running || write::may_write(event, &result.call.action).is_some()
            }
            (_, Some(known)) => seal && known.running,
            (EventKind::GateClosed(_), None) => true,
            (_, None) => triggered(state, event).is_some(),
        };
        // The end of a process and the files that it may have left are asked about together. Otherwise the next look
        // would find the files and no process that could have written them.
        let tree = tree || running && state.gate.as_ref().is_some_and(|known| known.running);
        let before = closed && matches!(event.kind, EventKind::PreTool(_));
        let aliases = before && !event.unknown_git_words().is_empty();
        // An alias is not resolved yet and may be a stash.
        let uncommitted = before && (aliases || write::stashes(event));
        Needs { gate, seal, tree, running, uncommitted, aliases, ..Needs::default() }
    }

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement {
        match &event.kind {
            EventKind::GateClosed(gate) => {
                let known = GateState { running: facts.running != Fact::Known(false), ..GateState::of(gate) };
                return Judgement { changes: vec![Change::GateClosed(known)], ..Judgement::default() };
            }
            EventKind::GateOpened(opening) => return opened(state, opening),
            _ => {}
        }
        if !self.needs(state, event).gate {
            // The marker was not looked for, so its absence does not mean that it was removed.
            return Judgement::default();
        }
        if let Some(gate) = state.gate.as_ref().filter(|gate| gate.expires_at.is_some_and(|at| event.at >= at)) {
            let scope = gate.scope.clone();
            let note = Verdict::Note("The plan gate of this checkout has expired, and is open.".into());
            return Judgement {
                verdict: note,
                changes: vec![Change::GateOpened(Opening::Expired)],
                effects: vec![Effect::OpenGate { scope }],
                ..Judgement::default()
            };
        }
        let is_anothers = |gate: &GateState| gate.scope.belongs_to_other(&event.session);
        if facts.gate.is_none() && state.gate.as_ref().is_some_and(is_anothers) {
            // Another session's draft was answered there, or has expired.
            return Judgement {
                changes: vec![Change::GateOpened(Opening::Unlocked)],
                line: Some(text::OPEN_LINE.to_owned()),
                ..Judgement::default()
            };
        }
        match Closed::before(state, event, facts) {
            Some(closed) => closed.judge(),
            None => triggered(state, event)
                .map_or_else(Judgement::default, |gate| Closed::by(state, event, facts, gate).judge()),
        }
    }
}

fn opened(state: &State, opening: &Opening) -> Judgement {
    let effects = state.gate.iter().map(|gate| Effect::OpenGate { scope: gate.scope.clone() }).collect();
    Judgement { changes: vec![Change::GateOpened(opening.clone())], effects, ..Judgement::default() }
}

/// Returns the gate that this event closes, if it closes one.
fn triggered(state: &State, event: &Event) -> Option<Gate> {
    // This runs for every call, so the triggers are compared only for events that can be one.
    let starts = |source: &StartSource| !matches!(source, StartSource::Resume | StartSource::Compact);
    let possible = match &event.kind {
        EventKind::Command { .. } | EventKind::SubagentStart => true,
        EventKind::SessionStart { source } => event.role.is_some() && starts(source),
        // A subagent whose start the host did not report.
        EventKind::PreTool(_) => {
            event.planning || event.agent.as_ref().is_some_and(|agent| !state.subagents.contains(&agent.id))
        }
        _ => event.planning,
    };
    if !possible {
        return None;
    }
    let rules = &state.rules.approval;
    let trigger = rules.triggers().find(|trigger| match (trigger, &event.kind) {
        (Trigger::PlanMode, EventKind::PreTool(_) | EventKind::Prompt { origin: PromptOrigin::Human, .. }) => {
            event.planning && event.agent.is_none()
        }
        (Trigger::Command(wanted), EventKind::Command { name }) => {
            let plain = name.trim_start_matches('/');
            plain == wanted || plain.rsplit(':').next() == Some(wanted)
        }
        (Trigger::Agent(role), EventKind::SubagentStart | EventKind::PreTool(_)) => {
            event.agent.as_ref().is_some_and(|agent| is_named(&agent.agent_type, role))
        }
        (Trigger::Agent(role), EventKind::SessionStart { .. }) => {
            event.role.as_ref().is_some_and(|own| is_named(own, role))
        }
        _ => false,
    })?;
    Some(Gate {
        trigger,
        root: event.cwd.clone(),
        protected: rules.protected().map(str::to_owned).collect(),
        ..Gate::new(GateScope::Session(event.session.clone()), text::CLOSED, event.at)
    })
}

/// Compares an agent's type with a role, with or without the name of its plugin.
fn is_named(agent_type: &str, role: &str) -> bool {
    agent_type == role || agent_type.rsplit(':').next() == Some(role)
}

/// A closed gate and the event to judge.
struct Closed<'a> {
    state: &'a State,
    event: &'a ParsedEvent<'a>,
    facts: &'a Facts,
    gate: Gate,
    /// The session's memory of the gate; `None` if the session sees it for the first time.
    known: Option<&'a GateState>,
    /// The marker has to be written: it is new, or it was removed.
    unmarked: bool,
}

impl<'a> Closed<'a> {
    fn before(state: &'a State, event: &'a ParsedEvent<'a>, facts: &'a Facts) -> Option<Self> {
        let known = state.gate.as_ref();
        let (gate, unmarked) = match (&facts.gate, known) {
            (Some(gate), _) => (readable(state, event, gate), false),
            (None, Some(known)) => (remembered(state, event, known), true),
            (None, None) => return None,
        };
        Some(Self { state, event, facts, gate, known, unmarked })
    }

    fn by(state: &'a State, event: &'a ParsedEvent<'a>, facts: &'a Facts, gate: Gate) -> Self {
        Self { state, event, facts, gate, known: None, unmarked: true }
    }

    fn judge(self) -> Judgement {
        let mut judgement = match &self.event.kind {
            EventKind::PreTool(call) => self.before_call(call),
            EventKind::PostTool(result) => self.after_call(result),
            EventKind::Permission(ToolCall { action: Action::LeavePlan, .. }) if self.event.agent.is_none() => {
                Judgement { changes: vec![Change::Leaving], ..Judgement::default() }
            }
            EventKind::Prompt { text, origin: PromptOrigin::Human, .. } if self.event.agent.is_none() => {
                self.on_prompt(text)
            }
            EventKind::SessionStart { .. } if self.planner().is_some() => self.subagent(),
            EventKind::SessionStart { .. } => Judgement::of(Verdict::Context(text::closed(&self.gate))),
            EventKind::SubagentStart => self.subagent(),
            EventKind::Command { .. } if self.known.is_none() => {
                Judgement::of(Verdict::Context(text::closed(&self.gate)))
            }
            EventKind::Stop(_) => self.between_calls(),
            EventKind::SubagentStop(_) => self.subagent_ends(),
            _ => Judgement::default(),
        };
        let heard = matches!(self.event.kind, EventKind::SessionStart { .. } | EventKind::Prompt { .. });
        if self.known.is_none() && heard && self.gate.scope.belongs_to_other(&self.event.session) {
            let waits = text::waits(&self.gate);
            judgement.note = Some(judgement.note.map_or_else(|| waits.clone(), |note| format!("{waits} {note}")));
        }
        if self.known.is_none() && self.state.gate.is_none() {
            judgement.changes.insert(0, Change::GateClosed(self.remembered()));
        }
        let opens = judgement.changes.iter().any(|change| matches!(change, Change::GateOpened(_)));
        if !opens {
            self.tell_closed(&mut judgement);
        }
        if self.unmarked && !opens {
            judgement.effects.insert(0, Effect::CloseGate(self.gate));
        }
        judgement
    }

    /// Tells the human once that the gate is closed, and once of each draft.
    fn tell_closed(&self, judgement: &mut Judgement) {
        let draft = self.gate.draft.as_ref();
        let hash = draft.map(|draft| draft.hash.clone()).unwrap_or_default();
        let told = self.known.and_then(|known| known.told.as_ref());
        // A draft that is gone is no news, and the host itself shows one of plan mode.
        let is_known = told.is_some() && draft.is_none_or(|draft| draft.call.is_some());
        if told == Some(&hash) || is_known {
            return;
        }
        judgement.changes.push(Change::GateTold(hash));
        let says_so =
            judgement.note.is_some() || matches!(judgement.verdict, Verdict::AskInstead(_) | Verdict::Note(_));
        if !says_so {
            judgement.line = Some(text::closed_line(&self.gate));
        }
    }

    /// Returns the session's memory of a gate that it sees for the first time. A process that ran before may still
    /// write.
    fn remembered(&self) -> GateState {
        GateState { running: self.facts.running == Fact::Known(true), ..GateState::of(&self.gate) }
    }

    fn subagent(&self) -> Judgement {
        let told = match self.planner() {
            Some(_) => text::planner(self.state.rules.approval.scratch()),
            None => text::closed(&self.gate),
        };
        Judgement::of(Verdict::Context(told))
    }

    /// Returns the name of the planner that acts: a subagent, or a main thread that was started as one.
    fn planner(&self) -> Option<&str> {
        let agent_type = match &self.event.agent {
            Some(agent) => agent.agent_type.as_str(),
            None => self.event.role.as_deref()?,
        };
        self.state.rules.approval.is_planner(agent_type).then_some(agent_type)
    }
}

/// A marker that cannot be read does not list the protected paths; the configuration does.
fn readable(state: &State, event: &Event, gate: &Gate) -> Gate {
    if !gate.protected.is_empty() {
        return gate.clone();
    }
    let root = if gate.root.is_empty() { event.cwd.clone() } else { gate.root.clone() };
    let protected = state.rules.approval.protected().map(str::to_owned).collect();
    Gate { root, protected, ..gate.clone() }
}

/// Rebuilds a gate from the session's memory when its marker is gone.
fn remembered(state: &State, event: &Event, known: &GateState) -> Gate {
    Gate {
        trigger: known.trigger.clone(),
        root: event.cwd.clone(),
        protected: state.rules.approval.protected().map(str::to_owned).collect(),
        expires_at: known.expires_at,
        ..Gate::new(known.scope.clone(), text::CLOSED, known.closed_at)
    }
}

#[cfg(test)]
mod tests;
