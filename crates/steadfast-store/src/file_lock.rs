//! The locks of the state: one process at a time follows a list, continues a loop, or runs a check. The system frees a lock
//! when its process ends, however it ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use steadfast_model::LoopId;
use steadfast_system::FileLock;

use crate::Place;
use crate::file::file_name;

/// Waits for the lock of the lists that are kept elsewhere, to read one or to write to it: what was read must not be taken in
/// after another process wrote something newer. `None`: another process had it all the while.
pub fn lock_following(place: &Place, wait: Duration) -> io::Result<Option<FileLock>> {
    FileLock::with_folder(&place.state.join("following"), wait)
}

/// The lock of a loop. `None`: another process continues that loop.
pub fn lock_loop(place: &Place, id: &LoopId) -> io::Result<Option<FileLock>> {
    FileLock::with_folder(&place.state.join("loops").join(file_name(id.as_str())), Duration::ZERO)
}

/// Takes the lock of a check that runs. A process that inherits the file holds it, too.
pub fn lock_check(place: &Place, run: &str) -> io::Result<File> {
    match FileLock::with_folder(&check_lock(place, run), Duration::ZERO)? {
        Some(lock) => Ok(lock.into_file()),
        None => Err(io::Error::other("a run of the same name is under way")),
    }
}

/// Whether a process runs this check.
pub fn is_check_running(place: &Place, run: &str) -> bool {
    let Ok(lock) = File::open(check_lock(place, run)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// After its end.
pub fn forget_check(place: &Place, run: &str) {
    // What stays is an empty file.
    let _ = fs::remove_file(check_lock(place, run));
}

fn check_lock(place: &Place, run: &str) -> PathBuf {
    place.state.join("checks").join(file_name(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_has_its_turn() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        let (one, other) = (LoopId::new("l-1"), LoopId::new("l-2"));
        let following = lock_following(&place, Duration::ZERO).unwrap();
        let looping = lock_loop(&place, &one).unwrap();
        assert!(following.is_some() && looping.is_some());
        assert!(lock_following(&place, Duration::from_millis(20)).unwrap().is_none());
        assert!(lock_loop(&place, &one).unwrap().is_none());
        assert!(lock_loop(&place, &other).unwrap().is_some());
        drop((following, looping));
        assert!(lock_following(&place, Duration::ZERO).unwrap().is_some());
        assert!(lock_loop(&place, &one).unwrap().is_some());
    }

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
