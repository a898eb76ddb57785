//! The lock of whoever reads a list that is kept elsewhere, or writes to it: what was read must not be taken in after
//! somebody else wrote something newer.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::Place;
use crate::file::{create_private_dir, private_options};

const NAME: &str = "following";

/// Waits for it. `None`: somebody else has it all the while.
pub fn lock_following(place: &Place, wait: Duration) -> io::Result<Option<File>> {
    create_private_dir(&place.state)?;
    let lock = private_options().read(true).append(true).create(true).open(place.state.join(NAME))?;
    let until = Instant::now() + wait;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_follows() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        let lock = lock_following(&place, Duration::ZERO).unwrap();
        assert!(lock.is_some());
        assert!(lock_following(&place, Duration::from_millis(20)).unwrap().is_none());
        drop(lock);
        assert!(lock_following(&place, Duration::ZERO).unwrap().is_some());
    }
}
