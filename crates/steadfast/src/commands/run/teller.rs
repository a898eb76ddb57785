//! Tells the tracker of a run how its units stand, while it goes on and beside it: a run waits for nobody's program.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use steadfast_model::Run;
use steadfast_runner::run::{Audience, News, Snapshot};
use steadfast_store::{Place, log_line};

use super::display::Display;
use super::work;
use crate::surroundings;
use crate::tracker::Beads;

/// What could not be told stays in the ledger. It is tried again with the next unit and at the end, where it is said.
pub(super) struct Teller {
    /// None: everything was said.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Teller {
    /// None: its tasks are kept here, or nobody can be sent beside it.
    pub(super) fn of(place: &Place, run: &Run) -> Option<Self> {
        Beads::of_source(&place.root, &run.spec)?;
        match begin(place.clone(), run.clone()) {
            Ok(teller) => Some(teller),
            Err(error) => {
                log_line(place, surroundings::now(), &format!("run {} tells beads at its end: {error}", run.id));
                None
            }
        }
    }

    fn hear(&self, news: &News) {
        let moves = matches!(news, News::Started { .. } | News::Landed { .. } | News::Blocked { .. });
        // One that waits to be looked at already sees this, too.
        if let Some(wake) = self.wake.as_ref().filter(|_| moves) {
            let _ = wake.try_send(());
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn begin(place: Place, run: Run) -> io::Result<Teller> {
    let (wake, woken) = sync_channel(1);
    let thread = thread::Builder::new().name("teller".into()).spawn(move || tell(&place, &run, &woken))?;
    Ok(Teller { wake: Some(wake), thread: Some(thread) })
}

fn tell(place: &Place, run: &Run, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        if let Some(untold) = work::tell(place, run) {
            log_line(place, surroundings::now(), &format!("run {}: {untold}", run.id));
        }
    }
}

/// Those who watch a run: a human, and whoever keeps its tasks.
pub(super) struct Watching<'a> {
    pub(super) display: &'a mut Display,
    pub(super) teller: Option<Teller>,
}

impl Audience for Watching<'_> {
    fn hear(&mut self, news: &News, now: &Snapshot<'_>) {
        if let Some(teller) = &self.teller {
            teller.hear(news);
        }
        self.display.hear(news, now);
    }
}
