use std::path::Path;
use std::time::Duration;

use steadfast_model::SessionId;
use steadfast_system::FileLock;

use super::SessionError;

pub(super) const FILE: &str = "lock";

/// The lock of a session. Its file is never renamed or removed while the session exists, and never read.
#[derive(Debug)]
pub(super) struct Lock(FileLock);

impl Lock {
    /// Checks if the session was removed between opening and locking the file.
    pub(super) fn is_of_the_removed(&self) -> bool {
        self.0.file().metadata().is_ok_and(|file| std::os::unix::fs::MetadataExt::nlink(&file) == 0)
    }
}

/// Takes the session's lock and tries for at most `wait`.
pub(super) fn take(dir: &Path, session: &SessionId, wait: Duration) -> Result<Lock, SessionError> {
    let path = dir.join(FILE);
    match FileLock::at(&path, wait) {
        Ok(Some(lock)) => Ok(Lock(lock)),
        Ok(None) => Err(SessionError::Locked(session.clone())),
        Err(error) => Err(SessionError::io("lock", &path)(error)),
    }
}
