use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::error::InstallError;

/// Claude Code's lock on a file: a folder beside it, whose time is renewed while it is held.
#[derive(Debug)]
pub(super) struct FolderLock(PathBuf);

/// As Claude Code (proper-lockfile) judges it.
const STALE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(25);

impl FolderLock {
    pub(super) fn take(lock: &Path, patience: Duration) -> Result<Self, InstallError> {
        let write = |source| InstallError::Write { path: lock.to_owned(), source };
        if let Some(folder) = lock.parent() {
            fs::create_dir_all(folder).map_err(write)?;
        }
        let start = Instant::now();
        loop {
            match fs::create_dir(lock) {
                Ok(()) => return Ok(Self(lock.to_owned())),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(write(error)),
                Err(_) if is_stale(lock) => {
                    // Someone else may have been faster; the next turn shows it.
                    let _ = fs::remove_dir(lock);
                }
                Err(_) => {}
            }
            if start.elapsed() > patience {
                return Err(InstallError::Locked { path: lock.to_owned(), seconds: patience.as_secs() });
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A lock that stays is stale after ten seconds, for Claude Code as for us.
        let _ = fs::remove_dir(&self.0);
    }
}

fn is_stale(lock: &Path) -> bool {
    let age = fs::metadata(lock).and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > STALE)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a stale lock needs a clock")]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_waited_for_no_longer_than_said() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("x.lock");
        let _held = FolderLock::take(&lock, Duration::ZERO).unwrap();
        let error = FolderLock::take(&lock, Duration::from_millis(60)).unwrap_err();
        assert!(matches!(error, InstallError::Locked { .. }), "{error}");
    }

    #[test]
    fn a_lock_is_free_after_its_holder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("x.lock");
        drop(FolderLock::take(&lock, Duration::ZERO).unwrap());
        assert!(FolderLock::take(&lock, Duration::ZERO).is_ok());
    }

    #[test]
    fn a_lock_whose_holder_died_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("x.lock");
        fs::create_dir(&lock).unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(60);
        fs::File::open(&lock).unwrap().set_modified(old).unwrap();
        assert!(FolderLock::take(&lock, steadfast_testkit::PATIENCE).is_ok());
    }
}
