//! File locks. The system releases a lock when its process ends, for any reason.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::file::{create_private_dir, private_options};

/// Short first pauses, because a hook holds its lock for less than a millisecond.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// An exclusive lock on a file. Dropping it releases the lock.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Creates the file if needed and tries to lock it for at most `wait`. `None` means that another process held the lock
    /// all the time.
    pub fn at(path: &Path, wait: Duration) -> io::Result<Option<Self>> {
        let file = private_options().read(true).append(true).create(true).open(path)?;
        match lock_within(&file, wait) {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Locks a file like [`Self::at`], and creates its folder if needed.
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

    /// Returns the file. It stays locked while it is open here or in a process that inherits it.
    pub fn into_file(self) -> File {
        self.0
    }
}

/// Tries to lock an open file for at most `wait`. A free lock costs one system call and does not read the clock.
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
