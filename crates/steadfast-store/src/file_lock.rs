//! Locks in the state: only one process at a time follows a list, continues a loop, or runs a check. The system releases a
//! lock when its process ends, for any reason.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use steadfast_model::LoopId;
use steadfast_system::FileLock;

use crate::Place;
use crate::file::file_name;

/// Waits for the lock of externally tracked lists. A process holds it to read or write a list: otherwise it could store an
/// old reading after another process wrote a newer state. `None` means that another process held the lock all the time.
pub fn lock_following(place: &Place, wait: Duration) -> io::Result<Option<FileLock>> {
    FileLock::with_folder(&place.state.join("following"), wait)
}

/// Takes the lock of a loop. `None` means that another process continues this loop.
pub fn lock_loop(place: &Place, id: &LoopId) -> io::Result<Option<FileLock>> {
    FileLock::with_folder(&place.state.join("loops").join(file_name(id.as_str())), Duration::ZERO)
}

/// Takes the lock of a running check. A process that inherits the file also holds the lock.
pub fn lock_check(place: &Place, run: &str) -> io::Result<File> {
    match FileLock::with_folder(&check_lock(place, run), Duration::ZERO)? {
        Some(lock) => Ok(lock.into_file()),
        None => Err(io::Error::other("a check with the same name is already running")),
    }
}

pub fn is_check_running(place: &Place, run: &str) -> bool {
    let Ok(lock) = File::open(check_lock(place, run)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Removes the lock file of a check that has ended.
pub fn forget_check(place: &Place, run: &str) {
    // On failure an empty file remains, which does no harm.
    let _ = fs::remove_file(check_lock(place, run));
}

fn check_lock(place: &Place, run: &str) -> PathBuf {
    place.state.join("checks").join(file_name(run))
}

#[cfg(test)]
mod tests {
    use steadfast_testkit::wait_for;

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
        // A process that another test is starting may have a lock open until it runs its program.
        assert!(lock_following(&place, Duration::from_secs(20)).unwrap().is_some());
        wait_for("the lock of the loop", || lock_loop(&place, &one).unwrap().ok_or_else(|| "locked".to_owned()));
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
        wait_for("the end of the check", || {
            (!is_check_running(&place, "one")).then_some(()).ok_or_else(|| "running".to_owned())
        });
        forget_check(&place, "one");
        assert!(!is_check_running(&place, "one"));
    }
}
