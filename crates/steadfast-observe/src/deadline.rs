use std::time::{Duration, Instant};

use crate::error::ObserveError;

/// The git budget of a tool event. Killing a late git and delays of the machine come on top, and the whole event must
/// take less than 150 ms.
pub const TOOL_EVENT: Duration = Duration::from_millis(120);

/// A running time budget, shared by all the calls for one question.
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
