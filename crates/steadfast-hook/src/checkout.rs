//! The real world: a checkout, its state on the disk, and what a hook knows of the process around it.

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_engine::{ParsedEvent, PolicyDecision};
use steadfast_hosts::install::Homes;
use steadfast_model::{
    Answer, Event, EventKind, Facts, Millis, Needs, NewRules, Record, Rules, SessionId, State, TaskSource,
};
use steadfast_store::ledger::LedgerError;
use steadfast_store::{ConfigFiles, Glance, GrantError, Place, SessionError, SessionFiles, log_line, settle_checkout};

use crate::drain::{drain_all, drain_now, take_in_late};
use crate::follow::{Follow, FollowResult};
use crate::pipeline::{World, handle};
use crate::redacted::Redacted;
use crate::{effects, facts};

/// How long one event waits for another of the same session.
pub(crate) const LOCK_WAIT: Duration = Duration::from_millis(200);

#[derive(Debug, thiserror::Error)]
pub enum EventError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the files of session {session} cannot be used: {source}")]
    Files { session: SessionId, source: io::Error },
    #[error(transparent)]
    Claims(io::Error),
    #[error(transparent)]
    Gate(io::Error),
    #[error(transparent)]
    Grant(#[from] GrantError),
}

impl EventError {
    pub(crate) fn files(files: &SessionFiles) -> impl Fn(io::Error) -> Self {
        |source| Self::Files { session: files.session().clone(), source }
    }
}

/// Takes a session one event further, for a command: hooks and commands go the same way.
///
/// If the event could not be written down, nothing was decided: a refusal that is not on the account must not be given.
pub fn handle_event(place: &Place, config: &ConfigFiles, event: Event) -> Result<Answer, EventError> {
    let decision = SessionCheckout::new(place, config, HookContext::COMMAND, None)
        .handle(&Redacted::of(event), Facts::default())?;
    Ok(decision.answer)
}

/// What the process of a hook knows besides its checkout. A command knows none of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookContext<'a> {
    /// The file that is there once the run of this session has spent its budget.
    pub(crate) run_spent: Option<&'a Path>,
    /// Where the hosts keep the user's settings.
    pub(crate) homes: fn() -> Option<Homes>,
    /// Asks the list that tasks are kept in elsewhere.
    pub(crate) follow: Follow,
    /// The paths by which this program is installed.
    pub(crate) programs: fn() -> Vec<PathBuf>,
}

impl HookContext<'_> {
    const COMMAND: Self =
        Self { run_spent: None, homes: || None, follow: |_, _| FollowResult::default(), programs: Vec::new };
}

#[derive(Debug)]
pub(crate) struct SessionCheckout<'a> {
    pub(crate) place: &'a Place,
    pub(crate) config: &'a ConfigFiles,
    pub(crate) around: HookContext<'a>,
    /// The state of the first event's session, where it was read before.
    glance: Option<Glance>,
    /// Of the configuration files.
    stamp: OnceCell<u64>,
    /// What they say; none where they cannot be read.
    rules: OnceCell<Option<Rules>>,
    /// Events for other sessions that follow from this one.
    pub(crate) told: Vec<Event>,
}

/// The state before an event.
#[derive(Debug)]
pub(crate) enum Before {
    /// With its place in the journal.
    Known(Glance),
    /// The session begins.
    New(State),
}

impl Borrow<State> for Before {
    fn borrow(&self) -> &State {
        match self {
            Self::Known(glance) => glance.state(),
            Self::New(state) => state,
        }
    }
}

impl<'a> SessionCheckout<'a> {
    pub(crate) fn new(
        place: &'a Place,
        config: &'a ConfigFiles,
        around: HookContext<'a>,
        glance: Option<Glance>,
    ) -> Self {
        let (stamp, rules) = (OnceCell::new(), OnceCell::new());
        Self { place, config, around, glance, stamp, rules, told: Vec::new() }
    }

    /// An event, and what other sessions are told because of it.
    pub(crate) fn handle(&mut self, event: &Redacted, seen: Facts) -> Result<PolicyDecision, EventError> {
        let decision = handle(self, event, seen)?;
        while let Some(told) = self.told.pop() {
            let (at, session) = (told.at, told.session.clone());
            if let Err(error) = handle(self, &Redacted::of(told), Facts::default()) {
                self.log(at, &format!("session {session} was not told that its gate is open: {error}"));
            }
        }
        Ok(decision)
    }

    /// The state of the session that comes next, where it is known.
    pub(crate) fn state(&self) -> Option<&State> {
        self.glance.as_ref().map(Glance::state)
    }

    /// Where the tasks of this checkout are kept, as the configuration says now.
    pub(crate) fn tasks_from(&self, now: Millis) -> TaskSource {
        let known = self.state();
        let new = self.new_rules(known, now);
        new.map(|new| new.rules.tasks_from).or(known.map(|state| state.rules.tasks_from)).unwrap_or_default()
    }

    /// The configuration, if it is not the one that a session knows. A file that cannot be read changes nothing.
    pub(crate) fn new_rules(&self, known: Option<&State>, now: Millis) -> Option<NewRules> {
        let stamp = *self.stamp.get_or_init(|| self.config.stamp());
        if stamp == known.map_or(0, |state| state.rules_stamp) {
            return None;
        }
        let load = || match self.config.load() {
            Ok(settings) => Some(settings.rules()),
            Err(error) => {
                self.log(now, &format!("configuration: {error}"));
                None
            }
        };
        let rules = self.rules.get_or_init(load).clone();
        Some(NewRules { stamp, rules: rules.or_else(|| Some(known?.rules.clone())).unwrap_or_default() })
    }

    pub(crate) fn files(&self, event: &Event) -> SessionFiles {
        SessionFiles::of(self.place, &event.session)
    }

    pub(crate) fn log(&self, now: Millis, line: &str) {
        log_line(self.place, now, line);
    }

    fn before(&mut self, event: &Event) -> Before {
        let read = self.glance.take().filter(|glance| glance.state().session == event.session);
        match read.or_else(|| self.files(event).glance()) {
            Some(glance) => Before::Known(glance),
            None => Before::New(fresh(event)),
        }
    }
}

fn fresh(event: &Event) -> State {
    State::new(event.session.clone(), event.host, event.at)
}

impl World for SessionCheckout<'_> {
    type Error = EventError;
    type Before = Before;

    fn begin(&mut self, event: &Event) -> Before {
        let Event { at, kind, .. } = event;
        let begins = matches!(kind, EventKind::SessionStart { .. });
        // A run makes and removes the checkouts of its agents with their units.
        if self.around.run_spent.is_none()
            && (begins || matches!(kind, EventKind::Prompt { .. } | EventKind::Stop(_)))
            && let Err(error) = settle_checkout(self.place, *at)
        {
            self.log(*at, &format!("what belongs to this checkout was not brought along: {error}"));
        }
        if begins {
            drain_all(self.place, *at);
            self.glance = None;
        }
        let before = self.before(event);
        // A stop reads the plan from the ledger, which has to have what the journal has of the host's list.
        let state: &State = before.borrow();
        if matches!(kind, EventKind::Stop(_))
            && state.list.as_ref().is_some_and(|list| list.unkept)
            && let Err(error) = drain_now(self.place, &self.files(event))
        {
            self.log(*at, &format!("the host's task list is not in the ledger yet: {error}"));
        }
        before
    }

    fn look(&self, needs: Needs, before: &State, event: &ParsedEvent<'_>, seen: Facts) -> Facts {
        facts::look(self, needs, before, event, seen)
    }

    fn record(
        &mut self,
        before: Before,
        event: &ParsedEvent<'_>,
        decide: impl FnOnce(&State) -> (Facts, PolicyDecision),
    ) -> Result<PolicyDecision, EventError> {
        let files = self.files(event);
        let glance = match before {
            Before::Known(glance) => Some(glance),
            Before::New(_) => None,
        };
        let step = |state: &State| {
            let (facts, decision) = decide(state);
            (record(Event::clone(event), facts, &decision), decision)
        };
        let updated = files.update(LOCK_WAIT, glance, || fresh(event), step);
        if let Err(SessionError::Locked(_)) = &updated {
            files.leave_late(event).map_err(EventError::files(&files))?;
        }
        let (_, decision) = updated?;
        take_in_late(&files)?;
        Ok(decision)
    }

    fn act(&mut self, event: &Event, decision: &mut PolicyDecision) {
        effects::carry_out(self, event, decision);
    }
}

/// The line of the journal for an event and what was decided.
pub(crate) fn record(event: Event, facts: Facts, decision: &PolicyDecision) -> Record {
    let PolicyDecision { opinions, answer, changes, effects, upkeep: _ } = decision;
    Record {
        event: event.stored(),
        facts,
        opinions: opinions.clone(),
        answer: answer.clone(),
        changes: changes.clone(),
        effects: effects.clone(),
    }
}
