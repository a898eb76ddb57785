use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use steadfast_model::{GateScope, GateState, Millis, SessionId};
use steadfast_store::{Keep, Place, Removal, SessionFiles, gate_of, rotated_log, stale_claims, sweep_removed};

use crate::error::CommandError;
use crate::here;
use crate::output::{note, put};
use crate::surroundings;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Removes sessions that ended or fell silent long ago, with their journals, their steps and their history, and what was
/// left behind.
///
/// Tasks, plans, evidence and learnings are kept, and so is every session that was heard of within a day.
#[derive(Debug, Args)]
pub(super) struct Clean {
    /// How long ago a session must have done something last: `30d`, `6w`. [default: `privacy.retain_days`]
    #[arg(long, value_name = "AGE", value_parser = parse_days)]
    older_than: Option<u32>,
    /// Say what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Remove sessions with damaged lines too, which are otherwise kept for you to look at.
    #[arg(long)]
    all: bool,
}

/// What goes, and what is kept although it is old.
#[derive(Debug, Default)]
struct Found {
    sessions: Vec<SessionId>,
    bytes: u64,
    damaged: usize,
    gated: usize,
}

impl Clean {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let place = &repository.place;
        let now = surroundings::now();
        let claims = sized(stale_claims(place, now));
        let days = self.older_than.unwrap_or(repository.config.load()?.privacy.retain_days.value);
        let age = i64::from(days).saturating_mul(DAY_MS).max(DAY_MS);
        let keep = Keep { heard_since: Millis(now.0.saturating_sub(age)), damaged: !self.all };

        let mut ledger = repository.ledger()?;
        if !self.dry_run {
            sweep_removed(place).map_err(|error| failed(error.to_string()))?;
        }
        let mut found = self.sessions(place, keep);
        let folders: Vec<_> = SessionFiles::folders(place).iter().map(|files| files.session().clone()).collect();
        // What an earlier run left halfway has no files any more.
        let without_files = ledger.silent_since(keep.heard_since)?.into_iter().filter(|id| !folders.contains(id));
        let new: Vec<_> = without_files.filter(|id| !found.sessions.contains(id)).collect();
        found.sessions.extend(new);

        let before = database_bytes(ledger.path());
        let lines = if self.dry_run {
            ledger.history_of(&found.sessions)?
        } else {
            let forgotten = ledger.forget(&found.sessions)?;
            sweep_removed(place).map_err(|error| failed(error.to_string()))?;
            if forgotten.sessions > 0 {
                // Room that could not be given back is used again.
                let _ = ledger.compact();
            }
            forgotten.lines
        };
        let after = database_bytes(ledger.path());
        drop(ledger);

        let (claims, claim_bytes) = self.files(claims)?;
        let (logs, log_bytes) = self.files(sized([rotated_log(place)]))?;
        let bytes = found.bytes + claim_bytes + log_bytes + before.saturating_sub(after);
        let sessions = found.sessions.len();
        if sessions + claims + logs == 0 {
            put(&format!("nothing to remove: no session is older than {}\n", of_days(days)))?;
        } else {
            let verb = if self.dry_run { "would remove" } else { "removed" };
            put(&format!(
                "{verb} {} ({}), {}, {}: {}\n",
                counted(sessions, "session", "sessions"),
                counted(lines, "line of history", "lines of history"),
                counted(claims, "stale claim", "stale claims"),
                counted(logs, "rotated log", "rotated logs"),
                size(bytes)
            ))?;
        }
        if found.damaged > 0 {
            note!(
                "note: kept {} for you to look at: `journal.damaged` in `{}`; `--all` removes it too",
                counted(found.damaged, "old session with damaged lines", "old sessions with damaged lines"),
                place.state.join("sessions").display()
            );
        }
        if found.gated > 0 {
            note!("note: kept {} at a closed gate", counted(found.gated, "old session", "old sessions"));
        }
        Ok(())
    }

    fn sessions(&self, place: &Place, keep: Keep) -> Found {
        let mut found = Found::default();
        for files in SessionFiles::folders(place) {
            let id = files.session();
            let stands = |gate: GateState| gate.expires_at.is_none_or(|at| surroundings::now() < at);
            let remembers = files.peek().and_then(|state| state.gate).is_some_and(stands);
            if remembers || gate_of(place, &GateScope::Session(id.clone())).is_some() {
                found.gated += usize::from(matches!(files.try_remove(keep), Ok(Removal::Removed(_))));
                continue;
            }
            let removal = if self.dry_run { files.try_remove(keep) } else { files.remove(place, keep) };
            match removal {
                Ok(Removal::Removed(bytes)) => {
                    found.sessions.push(id.clone());
                    found.bytes += bytes;
                }
                Ok(Removal::Living) => {}
                Ok(Removal::Damaged) => found.damaged += 1,
                // One that cannot be removed is no reason to keep the others.
                Err(error) => note!("note: session {id} is kept: {error}"),
            }
        }
        found
    }

    /// How many of these files there are, and how long they are together.
    fn files(&self, files: Vec<(PathBuf, u64)>) -> Result<(usize, u64), CommandError> {
        let sum = (files.len(), files.iter().map(|(_, bytes)| bytes).sum());
        for (path, _) in files.into_iter().filter(|_| !self.dry_run) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(format!("cannot remove `{}`: {error}", path.display())));
                }
                _ => {}
            }
        }
        Ok(sum)
    }
}

/// Those of these files that are there, with their length.
fn sized(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, u64)> {
    paths.into_iter().filter_map(|path| fs::metadata(&path).ok().map(|file| (path, file.len()))).collect()
}

fn parse_days(text: &str) -> Result<u32, String> {
    let expected = || "expected is a number of days or weeks, like `30d` or `6w`".to_owned();
    let (number, days) = match text.strip_suffix('w') {
        Some(weeks) => (weeks, 7),
        None => (text.strip_suffix('d').ok_or_else(expected)?, 1),
    };
    number.parse::<u32>().ok().and_then(|number| number.checked_mul(days)).ok_or_else(expected)
}

fn failed(why: String) -> CommandError {
    CommandError::failure(why).hint("delete it yourself if it stays; the next `steadfast clean` removes what is left")
}

/// The database with what is not yet in its file.
fn database_bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    [path, Path::new(&log)].into_iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum()
}

fn of_days(days: u32) -> String {
    counted(days.max(1) as usize, "day", "days")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_days_or_weeks_and_nothing_else() {
        assert_eq!(["30d", "0d", "6w"].map(parse_days), [Ok(30), Ok(0), Ok(42)]);
        for wrong in ["", "d", "30", "1h", "-3d", "1.5d", "4294967295w", "5000000000d"] {
            assert!(parse_days(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_size_is_read_at_a_glance() {
        assert_eq!([1, 1_500, 2_345_678, 7_000_000_000].map(size), ["1 bytes", "1.5 kB", "2.3 MB", "7.0 GB"]);
    }
}
