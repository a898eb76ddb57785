//! Copies journals into the ledger, each line exactly once.

use std::time::{Duration, Instant};

use steadfast_engine::decide;
use steadfast_model::{Facts, Millis, State};
use steadfast_store::ledger::{JournalCursor, Ledger};
use steadfast_store::{Place, SessionFiles, log_line, read_lines};

use crate::checkout::{EventError, LOCK_WAIT, record};

/// The longest time that the start of a session spends on the journals of other sessions.
const DRAIN_ALL: Duration = Duration::from_millis(250);

/// Copies a session's journal into the ledger, and rotates a journal that has grown large.
pub fn drain(files: &SessionFiles, ledger: &mut Ledger) -> Result<(), EventError> {
    add_late_events(files)?;
    let known = ledger.drained(files.session())?;
    let offset = known.as_ref().map_or(0, |cursor| cursor.offset);
    let (mut first, mut lines) = read_lines(files.dir(), offset).map_err(EventError::files(files))?;
    let continues = |cursor: &JournalCursor| match lines.first() {
        Some(line) => cursor.file_start == first && line.sequence == cursor.sequence + 1,
        None => cursor.file_start == first && cursor.offset == files.journal_bytes(),
    };
    if offset > 0 && known.as_ref().is_some_and(|cursor| !continues(cursor)) {
        // The journal was rotated since, or an older one was restored.
        (first, lines) = read_lines(files.dir(), 0).map_err(EventError::files(files))?;
    }
    if !lines.is_empty() {
        // Lines in the ledger must survive a power cut in the journal, too: otherwise their sequence numbers would be
        // used twice.
        files.sync().map_err(EventError::files(files))?;
        ledger.drain(files.session(), first, lines)?;
    }
    if let Some(cursor) = ledger.drained(files.session())? {
        files.rotate(cursor.sequence, Duration::ZERO)?;
    }
    Ok(())
}

/// Does the same, and opens the ledger for it.
pub(crate) fn drain_now(place: &Place, files: &SessionFiles) -> Result<(), EventError> {
    drain(files, &mut Ledger::open(&place.state)?)
}

/// Copies the journals of sessions that died, or whose last stop found the ledger locked, as far as the time allows.
pub(crate) fn drain_all(place: &Place, now: Millis) {
    let started = Instant::now();
    let Ok(mut ledger) = Ledger::open(&place.state) else { return };
    for files in SessionFiles::all(place) {
        if started.elapsed() > DRAIN_ALL {
            return;
        }
        if let Err(error) = drain(&files, &mut ledger) {
            log_line(place, now, &format!("the journal of {} was not drained: {error}", files.session()));
        }
    }
}

/// Adds late events to the journal. They were answered already, so no facts are read for them, and no refusal counts
/// that was not given.
pub(crate) fn add_late_events(files: &SessionFiles) -> Result<(), EventError> {
    for late in files.late() {
        let event = &late.event;
        let fresh = || State::new(event.session.clone(), event.host, event.at);
        files.update(LOCK_WAIT, None, fresh, |state| {
            let decision = decide(state, event, &Facts::default());
            (record(event.clone(), Facts::default(), &decision), ())
        })?;
        late.done().map_err(EventError::files(files))?;
    }
    Ok(())
}
