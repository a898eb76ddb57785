//! The lock of a check that runs: free when its supervisor is gone, however it went.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;

use crate::Place;
use crate::file::{create_private_dir, file_name, private_options};

/// Takes the lock of a run. Whoever inherits the file holds it on.
pub fn lock_check(place: &Place, run: &str) -> io::Result<File> {
    let dir = dir(place);
    create_private_dir(&dir)?;
    let lock = private_options().read(true).append(true).create(true).open(path(place, run))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(io::Error::other("a run of the same name is under way")),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether somebody runs it.
pub fn is_check_running(place: &Place, run: &str) -> bool {
    let Ok(lock) = File::open(path(place, run)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// After its end.
pub fn forget_check(place: &Place, run: &str) {
    // What stays is an empty file.
    let _ = fs::remove_file(path(place, run));
}

fn dir(place: &Place) -> PathBuf {
    place.state.join("checks")
}

fn path(place: &Place, run: &str) -> PathBuf {
    dir(place).join(file_name(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_runs_as_long_as_somebody_holds_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        assert!(!is_check_running(&place, "one"));
        let lock = lock_check(&place, "one").unwrap();
        assert!(is_check_running(&place, "one") && !is_check_running(&place, "two"));
        assert!(lock_check(&place, "one").is_err());
        drop(lock);
        assert!(!is_check_running(&place, "one"));
        forget_check(&place, "one");
        assert!(!is_check_running(&place, "one"));
    }
}
