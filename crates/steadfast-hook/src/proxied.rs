//! Sessions behind the proxy. It sees the same calls as the hooks, so only one of them may speak.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use steadfast_model::{Answer, Entry, Event, EventKind, Facts, Millis, Mode, SessionId, Via};
use steadfast_store::{ConfigFiles, Later, Place, SessionFiles, gate_for, read_lines};

use crate::answer::{HookEnvironment, handle, place_of};
use crate::checkout::{EventError, SessionCheckout};
use crate::redacted::Redacted;

/// A session whose calls a proxy sees.
#[derive(Debug)]
pub struct ProxiedSession {
    place: Place,
    session: SessionId,
    watch: Mutex<JournalWatch>,
}

#[derive(Debug, Default)]
struct JournalWatch {
    /// The end of what was read.
    read: u64,
    /// A hook from before says nothing: the start of the proxy, or the last request before the last prompt.
    since: Millis,
    /// The last call of a hook.
    hooked: Option<Millis>,
}

impl ProxiedSession {
    /// Finds the place of a session. `None`: Steadfast was never set up there.
    pub fn find(around: &HookEnvironment, session: &SessionId, cwd: &Path, since: Millis) -> Option<Self> {
        let place = place_of(session, cwd, around)?;
        let watch = Mutex::new(JournalWatch { since, ..JournalWatch::default() });
        Some(Self { place, session: session.clone(), watch })
    }

    /// Returns whether the hooks of this session were called since the last prompt, or since the start of the proxy if it
    /// saw no prompt. Then they judge, and not the proxy.
    pub fn is_hooked(&self) -> bool {
        let mut watch = self.watch();
        let files = self.files();
        // A rotated journal begins anew.
        if files.journal_bytes() < watch.read {
            watch.read = 0;
        }
        for line in read_lines(files.dir(), watch.read).unwrap_or_default().1 {
            watch.read = line.end;
            let Entry::Record(record) = line.entry else { continue };
            let Event { at, via, kind, .. } = &record.event;
            // The stop of the turn before says nothing about this one, unless it made the agent go on.
            let ends = matches!(kind, EventKind::Stop(_)) && record.answer.ruling.is_pass();
            if *via != Via::Proxy && is_of_host(kind) && !ends {
                watch.hooked = watch.hooked.max(Some(*at));
            }
        }
        watch.hooked.is_some_and(|at| at >= watch.since)
    }

    /// Takes note of a prompt in a request. `after`: the request before it. A host that calls its hooks called one between
    /// the two.
    pub fn prompted(&self, after: Millis) {
        let mut watch = self.watch();
        watch.since = watch.since.max(after);
    }

    fn watch(&self) -> MutexGuard<'_, JournalWatch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the session has a state. A fork has a folder for its corrections before that.
    pub fn is_known(&self) -> bool {
        self.files().journal_bytes() > 0
    }

    /// Handles an event as its hook would. `most`: no policy is stricter.
    pub fn handle(&self, around: &HookEnvironment, event: Event, most: Mode) -> Result<Answer, EventError> {
        let event = Redacted::of(event);
        let config = ConfigFiles::of(&self.place, around.user_config.as_deref()).beside(around.user_state.as_deref());
        let checkout = SessionCheckout::new(&self.place, &config, around.of_checkout(), self.files().glance());
        let decision = handle(checkout.limited_to(most), event, around, Facts::default())?;
        Ok(decision.answer)
    }

    /// Returns the reason of a closed gate, if a call cannot be judged.
    pub fn closed_gate(&self, now: Millis) -> Option<String> {
        let started_at = self.files().peek().map_or(now, |state| state.started_at);
        let later = Later { started_at, known: None };
        gate_for(&self.place, Some(&self.session), later, now).map(|gate| gate.reason)
    }

    /// The files of the session.
    pub fn files(&self) -> SessionFiles {
        SessionFiles::of(&self.place, &self.session)
    }
}

/// Returns true for what hooks report. Commands send other events to a session.
fn is_of_host(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart { .. }
            | EventKind::Prompt { .. }
            | EventKind::PreTool(_)
            | EventKind::PostTool(_)
            | EventKind::ToolBatch { .. }
            | EventKind::Stop(_)
    )
}
