use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use steadfast_model::SessionId;

use super::SessionError;
use crate::file::private_options;

pub(super) const FILE: &str = "lock";

/// Held until dropped. The file is never renamed or removed while the session lives, and never read.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Whether the session was removed between the opening of the file and its locking.
    pub(super) fn is_of_the_removed(&self) -> bool {
        #[cfg(unix)]
        return self.file.metadata().is_ok_and(|file| std::os::unix::fs::MetadataExt::nlink(&file) == 0);
        // A folder with an open file in it cannot be renamed there.
        #[cfg(not(unix))]
        return false;
    }
}

/// Takes the session's lock, trying for at most `wait`.
pub(super) fn take(dir: &Path, session: &SessionId, wait: Duration) -> Result<Lock, SessionError> {
    let path = dir.join(FILE);
    let file = private_options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(SessionError::io("open", &path))?;
    let mut started = None;
    let mut pause = Duration::from_micros(100);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { file }),
            Err(TryLockError::Error(error)) => return Err(SessionError::io("lock", &path)(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        // The clock is asked only when somebody else is there.
        if started.get_or_insert_with(Instant::now).elapsed() >= wait {
            return Err(SessionError::Locked(session.clone()));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}
