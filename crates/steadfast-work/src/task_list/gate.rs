//! The plan gates of a checkout: lists, closes and opens them.

use std::path::Path;
use std::time::Duration;

use steadfast_hook::{handle_event, is_gone};
use steadfast_model::{
    DraftLine, Event, EventKind, Fact, Gate, GateScope, GateState, Host, Millis, Opening, SealBreak, SessionId, State,
    Trigger,
};
use steadfast_store::{
    Draft, OldMarker, Place, Sealed, SessionFiles, close_and_seal, drafts, gates, open_and_unseal, seal_breaks,
    tree_breaks,
};
use steadfast_text::one_line;

use super::{GateError, TaskList};
use crate::Environment;
use crate::error::WorkError;

/// The default message to an agent at a closed gate.
const CLOSED: &str = "The plan is not approved.";

pub(super) const HOUR_MS: i64 = 60 * 60 * 1_000;

/// Time that a command waits for the lock of a session whose cache is missing.
const PATIENCE: Duration = Duration::from_millis(200);

/// Time for git to seal or compare a tree, if there are too many files to seal one by one.
const TREE: Duration = Duration::from_secs(60);

/// A closed gate of this checkout, with the sessions that remember it.
#[derive(Debug)]
pub struct ClosedGate {
    pub gate: Gate,
    pub sessions: Vec<State>,
    /// True if its marker was removed, but a session remembers it.
    pub unmarked: bool,
}

impl ClosedGate {
    /// All closed gates of this checkout: those with a marker, and those that a session remembers.
    pub fn all(place: &Place, environment: &Environment) -> Vec<Self> {
        let now = environment.now();
        let worktree = place.worktree();
        let mut standing: Vec<Self> = gates(place)
            .into_iter()
            .filter(|gate| !gate.has_expired(now) && is_here(gate, &worktree, environment.user_state.as_deref()))
            .map(|gate| Self { gate, sessions: Vec::new(), unmarked: false })
            .collect();
        for state in states(place) {
            let Some(known) = state.gate.clone().filter(|known| known.expires_at.is_none_or(|at| now < at)) else {
                continue;
            };
            match standing.iter_mut().find(|standing| standing.gate.scope == known.scope) {
                Some(standing) => standing.sessions.push(state),
                None if is_remembered_here(place, &known, &worktree) => {
                    let gate = remembered(&known, &worktree);
                    standing.push(Self { gate, sessions: vec![state], unmarked: true });
                }
                None => {}
            }
        }
        // A gate without a marker has no draft, so find it again.
        for Self { gate, .. } in standing.iter_mut().filter(|standing| standing.gate.draft.is_none()) {
            gate.draft = last_draft(place, gate, &worktree);
        }
        standing
    }

    pub fn draft(&self) -> Option<&DraftLine> {
        self.gate.draft.as_ref()
    }

    /// Returns true if the session of the gate is over: it ended, or its host's process is gone.
    pub fn is_left(&self, place: &Place) -> bool {
        let GateScope::Session(session) = &self.gate.scope else { return false };
        let files = SessionFiles::of(place, session);
        files.peek().is_some_and(|state| state.ended.is_some()) || is_gone(&files)
    }

    /// Returns true if an agent's program may have changed the protected files: a call that may write is still running,
    /// or left a process behind.
    pub fn agent_may_write(&self) -> bool {
        let known = self.sessions.iter().filter_map(|state| state.gate.as_ref());
        known.into_iter().any(|known| known.agent_may_write() || known.unseen || known.unmended)
    }

    /// The root of the checkout of the gate.
    pub fn root<'a>(&'a self, place: &'a Place) -> &'a Path {
        if self.gate.root.is_empty() { &place.root } else { Path::new(&self.gate.root) }
    }

    /// Compares the sealed files with their current content.
    pub fn seal(&self, place: &Place) -> Looked {
        let (scope, root) = (&self.gate.scope, self.root(place));
        let mut breaks = seal_breaks(place, scope, root);
        match tree_breaks(place, scope, root, TREE) {
            Fact::Known(more) => breaks.extend(more),
            Fact::Unknown(why) => return Looked { breaks, not_seen: Some(why) },
            Fact::NotAsked => {}
        }
        Looked { breaks, not_seen: None }
    }

    fn is_before(&self, session: &SessionId) -> bool {
        match &self.gate.scope {
            // A session that started after the waiting draft remembers the gate as its own.
            GateScope::Session(owner) => {
                owner == session || self.sessions.iter().any(|state| state.session == *session)
            }
            GateScope::Worktree(_) => true,
        }
    }
}

/// The result of comparing the sealed files.
#[derive(Debug)]
pub struct Looked {
    /// The first changes, if there are very many.
    pub breaks: Vec<SealBreak>,
    /// The reason why the files that are sealed as a tree could not be compared.
    pub not_seen: Option<String>,
}

impl Looked {
    /// The changes in one line, if there are any.
    pub fn line(&self) -> Option<String> {
        let changed = || format!("while the plan gate is closed, {}", SealBreak::describe(&self.breaks));
        (!self.breaks.is_empty()).then(changed)
    }
}

fn states(place: &Place) -> impl Iterator<Item = State> {
    // A deleted cache is built again from the journal, so that the gate is not forgotten.
    SessionFiles::all(place)
        .into_iter()
        .filter_map(|files| files.peek().or_else(|| files.load(PATIENCE).ok().flatten()))
}

/// A marker that cannot be read counts for every checkout.
fn is_here(gate: &Gate, worktree: &str, user_state: Option<&Path>) -> bool {
    match &gate.scope {
        GateScope::Worktree(path) => path.is_empty() || path == worktree,
        GateScope::Session(_) if gate.root.is_empty() => true,
        GateScope::Session(_) => {
            let of = Place::of(Path::new(&gate.root), user_state);
            of.is_none_or(|place| place.worktree() == worktree)
        }
    }
}

/// Returns true if a gate without a marker belongs to this checkout. The checkout of a session's own gate is unknown,
/// so it counts here.
fn is_remembered_here(place: &Place, known: &GateState, worktree: &str) -> bool {
    match &known.scope {
        GateScope::Worktree(path) => path == worktree,
        GateScope::Session(_) => gates(place).iter().all(|gate| gate.scope != known.scope),
    }
}

/// The last draft since the gate was closed.
fn last_draft(place: &Place, gate: &Gate, worktree: &str) -> Option<DraftLine> {
    let is_its = |draft: &Draft| {
        let by_whom = match &gate.scope {
            GateScope::Session(session) => draft.session.as_ref() == Some(session),
            GateScope::Worktree(path) => path == worktree,
        };
        by_whom && draft.worktree == worktree && draft.proposed_at >= gate.closed_at
    };
    drafts(place).into_iter().find(is_its).map(|draft| draft.line())
}

fn remembered(known: &GateState, worktree: &str) -> Gate {
    Gate {
        trigger: known.trigger.clone(),
        root: worktree.to_owned(),
        expires_at: known.expires_at,
        ..Gate::new(known.scope.clone(), CLOSED, known.closed_at)
    }
}

impl TaskList {
    /// The gates that are closed for the caller: for an agent, those of its session and of the checkout; for a human,
    /// all.
    pub fn gates(&self) -> Vec<ClosedGate> {
        let all = ClosedGate::all(self.place(), &self.repository.environment);
        match self.caller.session.as_ref().filter(|_| self.caller.is_agent()) {
            Some(session) => all.into_iter().filter(|standing| standing.is_before(session)).collect(),
            None => all,
        }
    }

    /// Closes the gate of the caller. A gate that is closed already stays as it is and is returned.
    pub fn lock(&mut self, why: Option<&str>) -> Result<Locked, WorkError> {
        if let Some(present) = self.own_gate(self.gates()) {
            return Ok(Locked { gate: present.gate, already: true, not_sealed: Vec::new() });
        }
        let mut gate = self.new_gate(Trigger::Lock, self.now())?;
        if let Some(why) = why.map(str::trim).filter(|why| !why.is_empty()) {
            gate.reason = format!("{CLOSED} {}", one_line(why));
        }
        let Sealed { not_sealed, .. } = self.close(&gate)?;
        Ok(Locked { gate, already: false, not_sealed })
    }

    /// The gate that this caller would close: the session's for an agent, else the checkout's.
    pub(super) fn new_gate(&self, trigger: Trigger, now: Millis) -> Result<Gate, WorkError> {
        let rules = self.repository.config.load()?.rules().approval;
        let scope = self.scope();
        let hours = i64::from(rules.expires_hours);
        let expires = matches!(scope, GateScope::Worktree(_)) && hours > 0;
        Ok(Gate {
            trigger,
            root: self.worktree.clone(),
            protected: rules.protected().map(str::to_owned).collect(),
            expires_at: expires.then(|| Millis(now.0.saturating_add(hours.saturating_mul(HOUR_MS)))),
            ..Gate::new(scope, CLOSED, now)
        })
    }

    fn scope(&self) -> GateScope {
        match self.caller.session.clone().filter(|_| self.caller.is_agent()) {
            Some(session) => GateScope::Session(session),
            None => GateScope::Worktree(self.worktree.clone()),
        }
    }

    /// Of these gates, the caller's own; for an agent, any of them otherwise.
    pub(super) fn own_gate(&self, mut gates: Vec<ClosedGate>) -> Option<ClosedGate> {
        let scope = self.scope();
        match gates.iter().position(|standing| standing.gate.scope == scope) {
            Some(own) => Some(gates.swap_remove(own)),
            // A human can lock the checkout although a session has its own gate.
            None if self.caller.is_agent() && !gates.is_empty() => Some(gates.swap_remove(0)),
            None => None,
        }
    }

    /// Writes the seal, the marker and the journal, in this order. If the process is killed in between, the gate is
    /// closed.
    pub(super) fn close(&self, gate: &Gate) -> Result<Sealed, WorkError> {
        let place = self.place();
        let sealed = close_and_seal(place, gate, OldMarker::Replace, TREE).map_err(GateError::NotClosed)?;
        if let GateScope::Session(session) = &gate.scope {
            let known = SessionFiles::of(place, session).peek();
            if known.as_ref().is_some_and(|state| state.gate.is_some()) {
                return Ok(sealed);
            }
            let host = known.map_or(Host::Claude, |state| state.host);
            self.tell_session(session, host, EventKind::GateClosed(gate.clone()))?;
        }
        Ok(sealed)
    }

    /// Opens gates: informs every session that remembers one, then removes the markers and the seals.
    pub fn open(&self, gates: &[ClosedGate], opening: &Opening) -> Result<(), WorkError> {
        let place = self.place();
        for ClosedGate { gate, sessions, .. } in gates {
            for state in sessions {
                self.tell_session(&state.session, state.host, EventKind::GateOpened(opening.clone()))?;
            }
            open_and_unseal(place, &gate.scope)
                .map_err(|source| GateError::NotOpened { folder: place.state.join("gates"), source })?;
        }
        Ok(())
    }

    fn tell_session(&self, session: &SessionId, host: Host, kind: EventKind) -> Result<(), WorkError> {
        let now = self.now();
        let event = Event::plain(session.clone(), host, self.worktree.clone(), now, kind);
        handle_event(self.place(), &self.repository.config, event)?;
        Ok(())
    }
}

/// The result of `plan lock`.
#[derive(Debug)]
pub struct Locked {
    pub gate: Gate,
    pub already: bool,
    /// Protected files that could not be sealed.
    pub not_sealed: Vec<String>,
}
