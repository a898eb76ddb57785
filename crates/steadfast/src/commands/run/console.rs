use std::cell::RefCell;

use steadfast_model::Run;
use steadfast_runner::loop_run::{Console, Watch};
use steadfast_runner::run::{Audience, RunEvent, RunOutcome, Snapshot, Until};
use steadfast_store::Place;
use steadfast_store::ledger::Ledger;

use super::display::Display;
use crate::error::CommandError;
use crate::output::{ask, note};

/// The terminal of a loop, if it has one.
pub(super) struct Terminal<'a> {
    place: &'a Place,
    /// The error of a report that could not be written.
    failed: RefCell<Option<CommandError>>,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        Self { place, failed: RefCell::default() }
    }

    /// Returns the error of a report that could not be written.
    pub(super) fn written(&self) -> Result<(), CommandError> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl Console for Terminal<'_> {
    fn say(&self, line: &str) {
        note!("{line}");
    }

    fn ask(&self, question: &str) -> Option<String> {
        ask(question)
    }

    fn watch(&self, run: &Run, until: Until) -> Box<dyn Watch + '_> {
        Box::new(Shown { display: Display::new(run, self.place, until), terminal: self })
    }
}

/// A run shown in the terminal.
struct Shown<'a> {
    display: Display,
    terminal: &'a Terminal<'a>,
}

impl Audience for Shown<'_> {
    fn on_event(&mut self, event: &RunEvent, now: &Snapshot<'_>) {
        self.display.on_event(event, now);
    }
}

impl Watch for Shown<'_> {
    fn clear(&mut self) {
        self.display.wipe();
    }

    fn finish(&mut self, ledger: &Ledger, outcome: &RunOutcome) {
        if let Err(error) = self.display.finish(ledger, outcome) {
            self.terminal.failed.replace(Some(error));
        }
    }
}
