//! Removes data of old sessions.

use std::path::{Path, PathBuf};
use std::{fs, io};

use steadfast_model::{GateScope, GateState, Millis, SessionId};
use steadfast_store::ledger::LedgerError;
use steadfast_store::{
    ConfigError, Keep, Place, Removal, SessionError, SessionFiles, gate_of, rotated_log, stale_claims, sweep_removed,
};

use crate::Repository;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Options of [`clean`].
#[derive(Clone, Copy, Debug)]
pub struct Cleaning {
    /// Remove sessions that had no event for this many days. `None`: as the settings say.
    pub older_than_days: Option<u32>,
    /// Count, but remove nothing.
    pub dry_run: bool,
    /// Remove sessions with damaged lines too.
    pub damaged: bool,
}

/// The result: data that was removed, and old data that was kept.
#[derive(Debug, Default)]
pub struct Cleaned {
    pub days: u32,
    pub sessions: Vec<SessionId>,
    /// Lines of history.
    pub lines: usize,
    pub claims: usize,
    pub logs: usize,
    pub bytes: u64,
    /// Sessions kept because of damaged lines.
    pub damaged: usize,
    /// Sessions kept because of a closed gate.
    pub gated: usize,
    /// Sessions that could not be removed.
    pub failed: Vec<(SessionId, SessionError)>,
}

/// The reason why the removal stopped.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Swept(#[from] SessionError),
    #[error("cannot remove `{}`: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

/// Removes old sessions with their history, stale claims and the rotated log.
pub fn clean(repository: &Repository, asked: Cleaning) -> Result<Cleaned, CleanError> {
    let place = &repository.place;
    let now = repository.environment.now();
    let claims = sized(stale_claims(place, now));
    let days = match asked.older_than_days {
        Some(days) => days,
        None => repository.config.load()?.privacy.retain_days.value,
    };
    let age = i64::from(days).saturating_mul(DAY_MS).max(DAY_MS);
    let keep = Keep { heard_since: Millis(now.0.saturating_sub(age)), damaged: !asked.damaged };

    let mut ledger = repository.ledger()?;
    if !asked.dry_run {
        sweep_removed(place)?;
    }
    let mut cleaned = Cleaned { days, ..Cleaned::default() };
    cleaned.remove_sessions(place, keep, now, asked.dry_run);
    let folders: Vec<_> = SessionFiles::folders(place).iter().map(|files| files.session().clone()).collect();
    // Sessions that an earlier run removed only in part: they are in the ledger, but have no files.
    let without_files = ledger.silent_since(keep.heard_since)?.into_iter().filter(|id| !folders.contains(id));
    let new: Vec<_> = without_files.filter(|id| !cleaned.sessions.contains(id)).collect();
    cleaned.sessions.extend(new);

    let before = database_bytes(ledger.path());
    cleaned.lines = if asked.dry_run {
        ledger.history_of(&cleaned.sessions)?
    } else {
        let forgotten = ledger.forget(&cleaned.sessions)?;
        sweep_removed(place)?;
        if forgotten.sessions > 0 {
            // If compacting fails, SQLite uses the free space again later.
            let _ = ledger.compact();
        }
        forgotten.lines
    };
    cleaned.bytes += before.saturating_sub(database_bytes(ledger.path()));
    drop(ledger);

    cleaned.claims = cleaned.remove_files(claims, asked.dry_run)?;
    cleaned.logs = cleaned.remove_files(sized([rotated_log(place)]), asked.dry_run)?;
    Ok(cleaned)
}

impl Cleaned {
    fn remove_sessions(&mut self, place: &Place, keep: Keep, now: Millis, dry_run: bool) {
        for files in SessionFiles::folders(place) {
            let id = files.session();
            let is_closed = |gate: GateState| gate.expires_at.is_none_or(|at| now < at);
            let has_gate = files.peek().and_then(|state| state.gate).is_some_and(is_closed);
            if has_gate || gate_of(place, &GateScope::Session(id.clone())).is_some() {
                self.gated += usize::from(matches!(files.try_remove(keep), Ok(Removal::Removed(_))));
                continue;
            }
            let removal = if dry_run { files.try_remove(keep) } else { files.remove(place, keep) };
            match removal {
                Ok(Removal::Removed(bytes)) => {
                    self.sessions.push(id.clone());
                    self.bytes += bytes;
                }
                Ok(Removal::Living) => {}
                Ok(Removal::Damaged) => self.damaged += 1,
                // A session that cannot be removed does not stop the others.
                Err(error) => self.failed.push((id.clone(), error)),
            }
        }
    }

    /// Returns the number of files.
    fn remove_files(&mut self, files: Vec<(PathBuf, u64)>, dry_run: bool) -> Result<usize, CleanError> {
        self.bytes += files.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let count = files.len();
        for (path, _) in files.into_iter().filter(|_| !dry_run) {
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(CleanError::File { path, source });
                }
                _ => {}
            }
        }
        Ok(count)
    }
}

/// The paths that exist, with the size of each file.
fn sized(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, u64)> {
    paths.into_iter().filter_map(|path| fs::metadata(&path).ok().map(|file| (path, file.len()))).collect()
}

/// The size of the database file and its write-ahead log.
fn database_bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    [path, Path::new(&log)].into_iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum()
}
