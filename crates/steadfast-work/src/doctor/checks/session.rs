//! Checks of files that sessions left behind.

use std::fs;

use steadfast_model::{Entry, Millis};
use steadfast_store::{SessionFiles, read_lines};
use steadfast_text::count;

use crate::doctor::Diagnostic;
use crate::doctor::{FixError, Installation};

const MINUTE_MS: i64 = 60 * 1_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// A session that was silent for this long will not continue.
const LEFT_MS: i64 = 7 * DAY_MS;

pub(super) fn journal_damaged(here: &Installation) -> Vec<Diagnostic> {
    let kept = SessionFiles::all(here.place()).into_iter().map(|files| files.dir().join("journal.damaged"));
    kept.filter(|path| path.exists())
        .map(|path| {
            Diagnostic::warning(
                "journal-damaged",
                format!("a part of a journal could not be read and was moved to `{}`", path.display()),
                "another program wrote there, or the disk is damaged; look at the file, then delete it",
            )
        })
        .collect()
}

pub(super) fn late_events(here: &Installation) -> Vec<Diagnostic> {
    let waits = |at: Millis| here.now.since(at) > MINUTE_MS;
    let late: usize = SessionFiles::all(here.place())
        .iter()
        .map(|files| files.late().iter().filter(|late| waits(late.event.at)).count())
        .sum();
    if late == 0 {
        return Vec::new();
    }
    let message = format!("{} not in a journal yet, because the session was locked", count(late, "event"));
    let hint = "the next event of that session adds them; `steadfast doctor --fix` does it now";
    vec![Diagnostic::note("late-events", message, hint).with_fix(drain)]
}

pub(super) fn leftover_sessions(here: &Installation) -> Vec<Diagnostic> {
    let left = here.sessions().iter().filter(|(_, s)| s.ended.is_none() && here.now.since(s.last_at) > LEFT_MS).count();
    if left == 0 {
        return Vec::new();
    }
    let message = format!("{} did not end and had no event for more than 7 days", count(left, "session"));
    let hint = "their hosts were probably killed; they block nothing. `steadfast status` lists them";
    vec![Diagnostic::note("leftover-sessions", message, hint).with_fix(drain)]
}

/// Opening the ledger, as any command does, brings every journal into it, including late events.
fn drain(here: &Installation) -> Result<String, FixError> {
    // `ledger_damaged` reports a ledger that cannot be opened.
    here.repository.ledger()?;
    Ok("all journals are in the ledger".to_owned())
}

pub(super) fn stale_claims(here: &Installation) -> Vec<Diagnostic> {
    let stale = steadfast_store::stale_claims(here.place(), here.now).len();
    if stale == 0 {
        return Vec::new();
    }
    let message = format!("{} left by calls that ended long ago", count(stale, "claim"));
    let hint = "they are not used any more; `steadfast doctor --fix` removes them";
    vec![Diagnostic::note("stale-claims", message, hint).with_fix(drop_stale_claims)]
}

fn drop_stale_claims(here: &Installation) -> Result<String, FixError> {
    let stale = steadfast_store::stale_claims(here.place(), here.now);
    for path in &stale {
        let failed = |source| FixError::File { what: "remove", path: path.clone(), source };
        fs::remove_file(path).map_err(failed)?;
    }
    Ok(format!("{} removed", count(stale.len(), "claim")))
}

pub(super) fn clock_jumped(here: &Installation) -> Vec<Diagnostic> {
    SessionFiles::all(here.place()).iter().filter_map(|files| jump(here, files)).collect()
}

fn jump(here: &Installation, files: &SessionFiles) -> Option<Diagnostic> {
    let (_, lines) = read_lines(files.dir(), 0).ok()?;
    let mut latest = Millis(i64::MIN);
    let mut back = 0;
    for line in lines {
        let at = match line.entry {
            Entry::Record(record) => record.event.at,
            Entry::Snapshot(state) => state.last_at,
        };
        back = back.max(latest.0.saturating_sub(at.0));
        latest = latest.max(at);
    }
    let (session, ahead) = (files.session(), latest.since(here.now));
    if ahead > MINUTE_MS {
        return Some(Diagnostic::warning(
            "clock-jumped",
            format!("the journal of session {session} has times {} in the future", minutes(ahead)),
            "check the clock of this machine; times of leases, silence and claims are wrong until it has caught up",
        ));
    }
    (back > MINUTE_MS).then(|| {
        Diagnostic::note(
            "clock-jumped",
            format!("times in the journal of session {session} go back by {}", minutes(back)),
            "the clock was set back, or events waited for the session's lock; Steadfast goes by the order of the lines",
        )
    })
}

fn minutes(millis: i64) -> String {
    format!("{} min", millis / MINUTE_MS)
}
