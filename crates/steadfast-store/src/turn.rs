//! What one process at a time does: its turn is over when it gives it back, or is gone, however it went.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use steadfast_model::LoopId;

use crate::Place;
use crate::file::{create_private_dir, file_name, private_options};

/// Somebody's turn, until this is dropped.
#[derive(Debug)]
pub struct Turn {
    _lock: File,
}

/// Waits for the turn to read a list that is kept elsewhere, or to write to it: what was read must not be taken in after
/// somebody else wrote something newer. `None`: it is somebody else's all the while.
pub fn lock_following(place: &Place, wait: Duration) -> io::Result<Option<Turn>> {
    take(&place.state, "following", wait)
}

/// The turn to go on with a loop. `None`: somebody else does.
pub fn lock_loop(place: &Place, id: &LoopId) -> io::Result<Option<Turn>> {
    take(&place.state.join("loops"), &file_name(id.as_str()), Duration::ZERO)
}

fn take(folder: &Path, name: &str, wait: Duration) -> io::Result<Option<Turn>> {
    create_private_dir(folder)?;
    let lock = private_options().read(true).append(true).create(true).open(folder.join(name))?;
    let until = Instant::now() + wait;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(Turn { _lock: lock })),
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
}
