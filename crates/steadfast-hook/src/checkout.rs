//! The real [`World`]: a checkout, its state on disk, and the facts about the hook's process.

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_engine::{ParsedEvent, PolicyDecision};
use steadfast_hosts::install::Homes;
use steadfast_model::{
    Answer, Event, EventKind, Facts, Millis, Mode, Needs, NewRules, Record, Rules, SessionId, State, TaskSource,
};
use steadfast_store::ledger::LedgerError;
use steadfast_store::{ConfigFiles, Glance, GrantError, Place, SessionError, SessionFiles, log_line, settle_checkout};

use crate::approved::LoadApproved;
use crate::drain::{add_late_events, drain_all, drain_now};
use crate::follow::{Follow, FollowResult};
use crate::pipeline::{World, handle};
use crate::redacted::Redacted;
use crate::{effects, facts};

/// The longest wait for another event of the same session.
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

/// Handles one event for a command, in the same way as for a hook.
///
/// If the event cannot be recorded, there is no decision: a refusal that does not count must not be given.
pub fn handle_event(place: &Place, config: &ConfigFiles, event: Event) -> Result<Answer, EventError> {
    let decision = SessionCheckout::new(place, config, HookContext::COMMAND, None)
        .handle(&Redacted::of(event), Facts::default())?;
    Ok(decision.answer)
}

/// The facts about a hook's process apart from its checkout. A command has none of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookContext<'a> {
    /// A file that exists once the run of this session has spent its budget.
    pub(crate) run_spent: Option<&'a Path>,
    /// Returns where the hosts keep the user's settings.
    pub(crate) homes: fn() -> Option<Homes>,
    /// Reads the external tracker that holds the tasks.
    pub(crate) follow: Follow,
    /// Loads a plan that a human has just approved.
    pub(crate) load: LoadApproved,
    /// Returns the paths by which this program is installed.
    pub(crate) programs: fn() -> Vec<PathBuf>,
}

impl HookContext<'_> {
    /// A command loads what it approves itself.
    const COMMAND: Self = Self {
        run_spent: None,
        homes: || None,
        follow: |_, _| FollowResult::default(),
        load: |_, _| Ok(None),
        programs: Vec::new,
    };
}

#[derive(Debug)]
pub(crate) struct SessionCheckout<'a> {
    pub(crate) place: &'a Place,
    pub(crate) config: &'a ConfigFiles,
    pub(crate) around: HookContext<'a>,
    /// The state of the first event's session, if it was read before.
    glance: Option<Glance>,
    /// The stamp of the configuration files.
    stamp: OnceCell<u64>,
    /// Their rules; `None` if they cannot be read.
    rules: OnceCell<Option<Rules>>,
    /// Events for other sessions that follow from this one.
    pub(crate) follow_ups: Vec<Event>,
    /// The strictest mode of a policy. `None`: as the settings say.
    most: Option<Mode>,
}

#[derive(Debug)]
pub(crate) enum Before {
    /// Includes its position in the journal.
    Known(Glance),
    /// The session starts with this event.
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
        Self { place, config, around, glance, stamp, rules, follow_ups: Vec::new(), most: None }
    }

    /// For a session behind the proxy.
    pub(crate) fn limited_to(self, most: Mode) -> Self {
        Self { most: Some(most), ..self }
    }

    /// Handles an event, and the events for other sessions that follow from it.
    pub(crate) fn handle(&mut self, event: &Redacted, seen: Facts) -> Result<PolicyDecision, EventError> {
        let decision = handle(self, event, seen)?;
        while let Some(told) = self.follow_ups.pop() {
            let (at, session) = (told.at, told.session.clone());
            if let Err(error) = handle(self, &Redacted::of(told), Facts::default()) {
                self.log(at, &format!("cannot tell session {session} that its gate is open: {error}"));
            }
        }
        Ok(decision)
    }

    /// The state of the next event's session, if it is known.
    pub(crate) fn state(&self) -> Option<&State> {
        self.glance.as_ref().map(Glance::state)
    }

    /// Returns where the tasks of this checkout are, by the current configuration.
    pub(crate) fn tasks_from(&self, now: Millis) -> TaskSource {
        let known = self.state();
        let new = self.new_rules(known, now);
        new.map(|new| new.rules.tasks_from).or(known.map(|state| state.rules.tasks_from)).unwrap_or_default()
    }

    /// Returns the configuration if it differs from the one that a session knows. An unreadable file changes nothing.
    pub(crate) fn new_rules(&self, known: Option<&State>, now: Millis) -> Option<NewRules> {
        let stamp = *self.stamp.get_or_init(|| match self.most {
            None => self.config.stamp(),
            // Other rules than those of the same files for a hook.
            Some(most) => !self.config.stamp() ^ (most as u64),
        });
        if stamp == known.map_or(0, |state| state.rules_stamp) {
            return None;
        }
        let load = || match self.config.load() {
            Ok(settings) => Some(match self.most {
                None => settings.rules(),
                Some(most) => behind_proxy(settings.rules(), most),
            }),
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

/// Weakens rules for a session that has no hooks. The proxy sees no stops, and a stop goes on without it.
fn behind_proxy(mut rules: Rules, most: Mode) -> Rules {
    let modes = [&mut rules.integrity, &mut rules.approval_mode, &mut rules.constraint, &mut rules.drift_mode];
    for mode in modes {
        *mode = match (most, *mode) {
            (Mode::Enforce, mode) => mode,
            (Mode::Observe, _) | (_, Mode::Observe) => Mode::Observe,
            (Mode::Advise, Mode::Advise | Mode::Enforce) => Mode::Advise,
        };
    }
    rules.completion = Mode::Observe;
    rules
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
        // A run creates and removes the checkouts of its agents, so their state never moves.
        if self.around.run_spent.is_none()
            && (begins || matches!(kind, EventKind::Prompt { .. } | EventKind::Stop(_)))
            && let Err(error) = settle_checkout(self.place, *at)
        {
            self.log(*at, &format!("the state of this moved checkout was not moved along: {error}"));
        }
        if begins {
            drain_all(self.place, *at);
            self.glance = None;
        }
        let before = self.before(event);
        // A stop reads the plan from the ledger, so the ledger needs the journal's changes to the host's task list
        // first.
        let state: &State = before.borrow();
        if matches!(kind, EventKind::Stop(_))
            && state.list.as_ref().is_some_and(|list| list.unkept)
            && let Err(error) = drain_now(self.place, &self.files(event))
        {
            self.log(*at, &format!("cannot copy the host's task list into the ledger yet: {error}"));
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
        add_late_events(&files)?;
        Ok(decision)
    }

    fn act(&mut self, event: &Event, decision: &mut PolicyDecision) {
        effects::carry_out(self, event, decision);
    }
}

/// Builds the journal line for an event and its decision.
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
