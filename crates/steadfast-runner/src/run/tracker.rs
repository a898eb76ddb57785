//! Reports the status of units to the run's tracker, in a thread of its own, so that the run never waits for another
//! program.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use steadfast_model::{Millis, Run};
use steadfast_store::{Place, log_line};
use steadfast_work::tracker::Beads;

use super::event::{Audience, RunEvent, Snapshot};
use crate::source::report_to_tracker;

/// A status that cannot be reported stays in the ledger. The next unit and the end of the run try again, and the end
/// reports errors.
pub(super) struct TrackerUpdater {
    /// `None` after the last report.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TrackerUpdater {
    /// `None`: the run has no tracker, or the thread cannot start.
    pub(super) fn of(place: &Place, run: &Run, clock: fn() -> Millis) -> Option<Self> {
        Beads::of_source(&place.root, &run.spec)?;
        match begin(place.clone(), run.clone(), clock) {
            Ok(tracker) => Some(tracker),
            Err(error) => {
                log_line(place, clock(), &format!("run {} reports to beads only at its end: {error}", run.id));
                None
            }
        }
    }

    fn on_event(&self, event: &RunEvent) {
        let moves = matches!(event, RunEvent::Started { .. } | RunEvent::Landed { .. } | RunEvent::Blocked { .. });
        // If a wake-up is pending already, it covers this event, too.
        if let Some(wake) = self.wake.as_ref().filter(|_| moves) {
            let _ = wake.try_send(());
        }
    }
}

impl Drop for TrackerUpdater {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn begin(place: Place, run: Run, clock: fn() -> Millis) -> io::Result<TrackerUpdater> {
    let (wake, woken) = sync_channel(1);
    let thread = thread::Builder::new().name("tracker".into()).spawn(move || report(&place, &run, &woken, clock))?;
    Ok(TrackerUpdater { wake: Some(wake), thread: Some(thread) })
}

fn report(place: &Place, run: &Run, woken: &Receiver<()>, clock: fn() -> Millis) {
    while woken.recv().is_ok() {
        if let Some(untold) = report_to_tracker(place, run) {
            log_line(place, clock(), &format!("run {}: {untold}", run.id));
        }
    }
}

/// Passes the run's events on, and wakes the tracker.
pub(super) struct Telling<'a> {
    pub(super) audience: &'a mut dyn Audience,
    pub(super) tracker: Option<TrackerUpdater>,
}

impl Audience for Telling<'_> {
    fn on_event(&mut self, event: &RunEvent, now: &Snapshot<'_>) {
        if let Some(tracker) = &self.tracker {
            tracker.on_event(event);
        }
        self.audience.on_event(event, now);
    }
}
