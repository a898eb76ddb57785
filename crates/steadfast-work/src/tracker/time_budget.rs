use std::time::{Duration, Instant};

use super::TrackerError;

/// For a command that reads or writes the list.
pub const COMMAND: Duration = Duration::from_secs(10);

/// For a command that only shows something.
pub const LOOK: Duration = Duration::from_secs(2);

/// For a stop or the start of a session. The hook as a whole has 950 ms; the rest is for the ledger and the verdict.
pub const HOOK: Duration = Duration::from_millis(600);

/// The time left for all calls to a tracker together.
#[derive(Clone, Copy, Debug)]
pub struct TimeBudget {
    until: Instant,
}

impl TimeBudget {
    pub fn of(time: Duration) -> Self {
        Self { until: Instant::now() + time }
    }

    pub fn left(self) -> Result<Duration, TrackerError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(TrackerError::NoTime) } else { Ok(left) }
    }
}
