//! How a session's files go.
//!
//! Under its lock the folder is renamed out of `sessions/`, in one step, and its lock file is taken away; what is there
//! then is nobody's and is deleted at leisure. Whoever dies in between leaves a whole session, or something that
//! [`sweep_removed`] finds.

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

/// A hook holds a lock for less than a millisecond.
const WAIT: Duration = Duration::from_millis(20);

/// What is not to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// What was heard of since then.
    pub heard_since: Millis,
    /// What holds damaged lines that were kept for a human.
    pub damaged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Its files, in bytes.
    Removed(u64),
    /// Somebody holds its lock, or it was heard of since.
    Living,
    Damaged,
}

impl SessionFiles {
    /// Every folder there is. One whose session cannot be told any more goes by the folder's name.
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

    /// What [`Self::remove`] would do.
    pub fn try_remove(&self, keep: Keep) -> Result<Removal, SessionError> {
        self.look(keep).map(|(removal, _)| removal)
    }

    /// Takes the session's files away, unless they are to be kept. [`sweep_removed`] deletes them.
    pub fn remove(&self, place: &Place, keep: Keep) -> Result<Removal, SessionError> {
        let (removal, lock) = self.look(keep)?;
        if let (Removal::Removed(_), Some(lock)) = (removal, lock) {
            let removed = removed(place);
            create_private_dir(&removed).map_err(SessionError::io("create", &removed))?;
            let to = removed.join(self.dir.file_name().unwrap_or_default());
            fs::rename(&self.dir, &to).map_err(SessionError::io("remove", &self.dir))?;
            // A hook that waits for this very file sees by it that the session is gone, and begins it anew.
            fs::remove_file(to.join(lock::FILE)).map_err(SessionError::io("remove", &to))?;
            drop(lock);
        }
        Ok(removal)
    }

    fn look(&self, keep: Keep) -> Result<(Removal, Option<lock::Lock>), SessionError> {
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

    /// The last event, by the journal and by what waits to come into it. Where neither can be read: the last write.
    fn last_heard(&self) -> Result<Option<Millis>, SessionError> {
        let late = self.late().into_iter().map(|late| late.event.at).max();
        let mut journal = Journal::open(&self.dir).map_err(SessionError::io("open", &self.dir))?;
        let state = if journal.end() == 0 { None } else { self.catch_up(&mut journal, None)? };
        let said = state.map(|state| state.last_at).max(late);
        Ok(said.or_else(|| fs::metadata(&self.dir).ok().as_ref().and_then(written_at)))
    }
}

/// Deletes what was removed, and says how many sessions that were. A second sweep beside this one does no harm.
pub fn sweep_removed(place: &Place) -> Result<usize, SessionError> {
    let folder = removed(place);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(0) };
    let mut swept = 0;
    for entry in entries.flatten() {
        gone(fs::remove_dir_all(entry.path())).map_err(SessionError::io("delete", &entry.path()))?;
        swept += 1;
    }
    // Another may be putting something there.
    let _ = fs::remove_dir(&folder);
    Ok(swept)
}

fn removed(place: &Place) -> PathBuf {
    place.state.join("removed")
}

fn gone(done: io::Result<()>) -> io::Result<()> {
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
