//! File locks. The system frees them when the process ends, however it ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::file::{create_private_dir, private_options};

/// A hook holds its lock for less than a millisecond, so the first tries come soon.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// A locked file, until this is dropped.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Locks a file, which is made where it is missing, and tries for at most `wait`. `None`: another process held it all the
    /// while.
    pub fn at(path: &Path, wait: Duration) -> io::Result<Option<Self>> {
        let file = private_options().read(true).append(true).create(true).open(path)?;
        match lock_within(&file, wait) {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// As [`Self::at`]. The folder is made where it is missing, too.
    pub fn with_folder(path: &Path, wait: Duration) -> io::Result<Option<Self>> {
        match (Self::at(path, wait), path.parent()) {
            (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
                create_private_dir(folder)?;
                Self::at(path, wait)
            }
            (lock, _) => lock,
        }
    }

    pub fn file(&self) -> &File {
        &self.0
    }

    /// The file, which stays locked while it is open here or in a process that inherits it.
    pub fn into_file(self) -> File {
        self.0
    }
}

/// Locks an open file, and tries for at most `wait`. A free lock costs one call of the system and no look at the clock.
pub fn lock_within(file: &File, wait: Duration) -> Result<(), TryLockError> {
    let mut began = None;
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            done => return done,
        }
        let waited = began.get_or_insert_with(Instant::now).elapsed();
        if waited >= wait {
            return Err(TryLockError::WouldBlock);
        }
        thread::sleep(pause.min(wait.saturating_sub(waited)));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time_holds_a_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("folder/lock");
        assert!(FileLock::at(&path, Duration::ZERO).is_err());
        let lock = FileLock::with_folder(&path, Duration::ZERO).unwrap();
        assert!(lock.is_some());
        assert!(FileLock::with_folder(&path, Duration::from_millis(20)).unwrap().is_none());
        drop(lock);
        assert!(FileLock::with_folder(&path, Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn a_lock_goes_on_with_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = FileLock::with_folder(&path, Duration::ZERO).unwrap().unwrap().into_file();
        assert!(FileLock::with_folder(&path, Duration::ZERO).unwrap().is_none());
        drop(file);
        assert!(FileLock::with_folder(&path, Duration::ZERO).unwrap().is_some());
    }
}
