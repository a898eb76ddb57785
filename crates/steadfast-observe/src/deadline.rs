use std::time::{Duration, Instant};

use crate::error::ObserveError;

/// What a tool event may spend on git. Ending it and the machine's own delays come on top, and the event as a whole must
/// stay below 150 ms.
pub const TOOL_EVENT: Duration = Duration::from_millis(120);

/// A budget that has begun to run: the calls of one question share it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    began: Instant,
    budget: Duration,
}

impl Deadline {
    pub(crate) fn after(budget: Duration) -> Self {
        Self { began: Instant::now(), budget }
    }

    pub(crate) fn left(self) -> Result<Duration, ObserveError> {
        match self.budget.checked_sub(self.began.elapsed()) {
            Some(left) if !left.is_zero() => Ok(left),
            _ => Err(self.passed()),
        }
    }

    pub(crate) fn passed(self) -> ObserveError {
        ObserveError::OverBudget(self.budget)
    }
}
