use steadfast_hook::drain;
use steadfast_store::ledger::{Ledger, LedgerError};
use steadfast_store::{ConfigFiles, Place, SessionFiles, log_line};

use crate::error::{CommandError, chain};
use crate::surroundings;

/// The repository a command was called in, set up for Steadfast.
#[derive(Debug)]
pub(crate) struct Repository {
    pub(crate) place: Place,
    pub(crate) config: ConfigFiles,
}

impl Repository {
    pub(crate) fn here() -> Result<Self, CommandError> {
        let cwd = surroundings::cwd();
        let place = Place::find(&cwd, surroundings::user_state().as_deref()).ok_or_else(|| {
            CommandError::failure(format!("steadfast is not set up for `{}`", cwd.display()))
                .hint("`steadfast init` sets it up; it shows what it changes first")
        })?;
        Ok(Self::at(place))
    }

    pub(crate) fn at(place: Place) -> Self {
        let config = ConfigFiles::of(&place, surroundings::user_config().as_deref());
        Self { place, config }
    }

    /// The ledger, with every journal in it. A journal that cannot be drained is not lost, and no reason to stop.
    pub(crate) fn ledger(&self) -> Result<Ledger, CommandError> {
        let mut ledger = match Ledger::open(&self.place.state) {
            // A sandbox may keep `.git` read-only: what only looks still works.
            Err(error @ LedgerError::ReadOnly { .. }) => {
                return Ledger::open_read_only(&self.place.state)?.ok_or_else(|| error.into());
            }
            opened => opened?,
        };
        for files in SessionFiles::all(&self.place) {
            if let Err(error) = drain(&files, &mut ledger) {
                let line = format!("the journal of {} was not drained: {}", files.session(), chain(&error));
                log_line(&self.place, surroundings::now(), &line);
            }
        }
        Ok(ledger)
    }
}
