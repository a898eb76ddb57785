//! The moments that a human was told about. Each is told once, also if its event comes through two wirings.

use std::fs;
use std::io;
use std::time::Duration;

use steadfast_system::FileLock;

use crate::file::replace_in_folder;
use crate::place::Place;

/// The number of moments to remember.
const KEPT: usize = 64;

const WAIT: Duration = Duration::from_secs(2);

/// Returns true for the first call with this key, and remembers it.
pub fn is_new_notice(place: &Place, key: &str) -> io::Result<bool> {
    let file = place.state.join("notices");
    let Some(_lock) = FileLock::with_folder(&file.with_extension("lock"), WAIT)? else {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds the lock"));
    };
    let text = fs::read_to_string(&file).unwrap_or_default();
    let mut keys: Vec<&str> = text.lines().collect();
    if keys.contains(&key) {
        return Ok(false);
    }
    keys.push(key);
    let from = keys.len().saturating_sub(KEPT);
    replace_in_folder(&file, keys[from..].join("\n").as_bytes())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_new_once_and_old_ones_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        let is_new = |key: &str| is_new_notice(&place, key).unwrap();
        assert_eq!(["a", "b", "a"].map(is_new), [true, true, false]);
        for number in 0..KEPT {
            assert!(is_new(&format!("more {number}")));
        }
        assert!(is_new("a"), "the list has a bound");
    }
}
