//! The account of a run: what all of its agents spent, and its budget.

use std::sync::{Mutex, MutexGuard, PoisonError};

use steadfast_text::cost;

/// In millionths of a dollar.
#[derive(Debug, Default)]
pub struct RunAccount(Mutex<Spending>);

#[derive(Debug, Default)]
struct Spending {
    spent: u64,
    /// `None`: no limit.
    limit: Option<u64>,
}

impl RunAccount {
    /// Sets the limit, at the start of a run or of the next stretch of it. `before` is what the run has spent already,
    /// as far as its records say. The account may know of more.
    pub fn begin(&self, limit: Option<u64>, before: u64) {
        let mut spending = self.spending();
        spending.limit = limit;
        spending.spent = spending.spent.max(before);
    }

    /// Returns the rest of the budget. `None`: no limit.
    pub fn left(&self) -> Option<u64> {
        let Spending { spent, limit } = *self.spending();
        limit.map(|limit| limit.saturating_sub(spent))
    }

    pub(crate) fn spend(&self, micro_usd: u64) {
        let mut spending = self.spending();
        spending.spent = spending.spent.saturating_add(micro_usd);
    }

    /// Returns why no further request may go to the model. The agent's human reads it.
    pub(crate) fn is_spent(&self) -> Option<String> {
        let Spending { spent, limit } = *self.spending();
        let limit = limit.filter(|limit| spent >= *limit)?;
        let (spent, limit) = (cost(spent), cost(limit));
        Some(format!(
            "The budget of this run is spent: {spent} of {limit}. `--budget` of `steadfast run`, or `run.budget_usd`, sets it."
        ))
    }

    fn spending(&self) -> MutexGuard<'_, Spending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
