//! Removal of a session's files.
//!
//! Under the session's lock, its folder is renamed out of `sessions/` in one step, and its lock file is deleted. The rest of
//! the folder no longer belongs to a session and is deleted later. A process that dies in between leaves a complete session,
//! or a folder that [`sweep_removed`] finds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::{Millis, SessionId};
use steadfast_system::create_private_dir;

use super::journal::{DAMAGED, Journal};
use super::{SessionError, SessionFiles, lock};
use crate::file::written_at;
use crate::place::Place;

/// Short, because a hook holds its lock for less than a millisecond.
const WAIT: Duration = Duration::from_millis(20);

/// The sessions to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Keep sessions with an event at or after this time.
    pub heard_since: Millis,
    /// Keep sessions with damaged lines that were saved for a human.
    pub damaged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The size of its files in bytes.
    Removed(u64),
    /// Another process holds its lock, or it had a recent event.
    Living,
    Damaged,
}

impl SessionFiles {
    /// Lists all session folders. If the session of a folder is unknown, the folder's name is used.
    pub fn folders(place: &Place) -> Vec<Self> {
        let known = Self::all(place);
        let Ok(folders) = fs::read_dir(place.state.join("sessions")) else { return known };
        let unknown = folders.flatten().map(|folder| folder.path()).filter(|dir| {
            let is_known = known.iter().any(|files| files.dir == *dir);
            !is_known && dir.is_dir()
        });
        let named = unknown.map(|dir| {
            let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            Self { dir, session: SessionId::new(name) }
        });
        let named: Vec<_> = named.collect();
        known.into_iter().chain(named).collect()
    }

    /// Returns the result of [`Self::remove`] without removing anything.
    pub fn try_remove(&self, keep: Keep) -> Result<Removal, SessionError> {
        self.check(keep).map(|(removal, _)| removal)
    }

    /// Moves the session's files away, unless `keep` protects them. [`sweep_removed`] deletes them.
    pub fn remove(&self, place: &Place, keep: Keep) -> Result<Removal, SessionError> {
        let (removal, lock) = self.check(keep)?;
        if let (Removal::Removed(_), Some(lock)) = (removal, lock) {
            let removed = removed(place);
            create_private_dir(&removed).map_err(SessionError::io("create", &removed))?;
            let to = removed.join(self.dir.file_name().unwrap_or_default());
            fs::rename(&self.dir, &to).map_err(SessionError::io("remove", &self.dir))?;
            // A hook that waits for this lock file sees by its deletion that the session is gone, and starts it anew.
            fs::remove_file(to.join(lock::FILE)).map_err(SessionError::io("remove", &to))?;
            drop(lock);
        }
        Ok(removal)
    }

    fn check(&self, keep: Keep) -> Result<(Removal, Option<lock::Lock>), SessionError> {
        let lock = match lock::take(&self.dir, &self.session, WAIT) {
            Err(SessionError::Locked(_)) => return Ok((Removal::Living, None)),
            lock => lock?,
        };
        if self.last_heard()?.is_none_or(|at| at >= keep.heard_since) {
            return Ok((Removal::Living, None));
        }
        if keep.damaged && self.dir.join(DAMAGED).exists() {
            return Ok((Removal::Damaged, None));
        }
        let bytes = size(&self.dir).map_err(SessionError::io("read", &self.dir))?;
        Ok((Removal::Removed(bytes), Some(lock)))
    }

    /// Returns the time of the last event in the journal or among the late events; without events, the time of the last
    /// write.
    fn last_heard(&self) -> Result<Option<Millis>, SessionError> {
        let late = self.late().into_iter().map(|late| late.event.at).max();
        let mut journal = Journal::open(&self.dir).map_err(SessionError::io("open", &self.dir))?;
        let state = if journal.end() == 0 { None } else { self.catch_up(&mut journal, None)? };
        let last_event = state.map(|state| state.last_at).max(late);
        Ok(last_event.or_else(|| fs::metadata(&self.dir).ok().as_ref().and_then(written_at)))
    }
}

/// Deletes removed sessions and returns their number. Two sweeps at the same time do no harm.
pub fn sweep_removed(place: &Place) -> Result<usize, SessionError> {
    let folder = removed(place);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(0) };
    let mut swept = 0;
    for entry in entries.flatten() {
        ignore_missing(fs::remove_dir_all(entry.path())).map_err(SessionError::io("delete", &entry.path()))?;
        swept += 1;
    }
    // Another process may be moving a session there, so ignore the error.
    let _ = fs::remove_dir(&folder);
    Ok(swept)
}

fn removed(place: &Place) -> PathBuf {
    place.state.join("removed")
}

fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn size(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.metadata()?;
        bytes += if kind.is_dir() { size(&entry.path())? } else { kind.len() };
    }
    Ok(bytes)
}
