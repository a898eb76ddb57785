//! Sessions behind the proxy. It sees the same calls as the hooks, so only one of them may speak.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

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
    /// The start of the proxy. A hook from before it says nothing about this session.
    since: Millis,
    watch: Mutex<JournalWatch>,
}

#[derive(Debug, Default)]
struct JournalWatch {
    /// The end of what was read.
    read: u64,
    is_hooked: bool,
}

impl ProxiedSession {
    /// Finds the place of a session. `None`: Steadfast was never set up there.
    pub fn find(around: &HookEnvironment, session: &SessionId, cwd: &Path, since: Millis) -> Option<Self> {
        let place = place_of(session, cwd, around)?;
        Some(Self { place, session: session.clone(), since, watch: Mutex::default() })
    }

    /// Returns whether the hooks of this session were called since the proxy started. Then they judge, and not the
    /// proxy.
    pub fn is_hooked(&self) -> bool {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.is_hooked {
            return true;
        }
        let files = self.files();
        // A rotated journal begins anew.
        if files.journal_bytes() < watch.read {
            watch.read = 0;
        }
        for line in read_lines(files.dir(), watch.read).unwrap_or_default().1 {
            watch.read = line.end;
            let Entry::Record(record) = line.entry else { continue };
            let Event { at, via, kind, .. } = &record.event;
            watch.is_hooked |= *at >= self.since && *via != Via::Proxy && is_of_host(kind);
        }
        watch.is_hooked
    }

    /// Returns whether the session has a state.
    pub fn is_known(&self) -> bool {
        self.files().dir().is_dir()
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
