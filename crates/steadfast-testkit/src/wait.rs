//! Waiting for a state. A test that waits for a fixed time is too slow on one machine and too quick on the next.

use std::time::{Duration, Instant};

/// The limit of every wait. On an idle machine every state takes less than a tenth of it, so a busy machine causes no
/// failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

const POLL: Duration = Duration::from_millis(10);

/// Waits until `look` returns a value. While the state is not reached, `look` returns a description of what it saw.
///
/// # Panics
///
/// After [`PATIENCE`], with the last description from `look`.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(saw) => {
                assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}; saw {saw}");
            }
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_that_was_waited_for_is_returned() {
        let mut looks = 0;
        let found = wait_for("the third look", || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err(format!("look {looks}")) }
        });
        assert_eq!(found, 3);
    }
}
