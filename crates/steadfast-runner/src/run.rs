//! A run: the dispatcher owns the state, executors own processes and worktrees, and the merger lands finished units.
//! They exchange messages.

mod begin;
mod budget;
mod dispatcher;
mod event;
mod executor;
mod merger;
mod message;
mod panel;
mod prompt;
mod recover;
mod runner;
mod tracker;
mod verdict;

use steadfast_model::TaskLines;

pub use begin::{Begin, Until, run};
pub use event::{Activity, Audience, RunEvent, Snapshot};
pub use runner::{is_alive, this_process};

/// The result of a run, or of one stretch of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Every task is done.
    Complete,
    /// Every task is done, these only by the agent's claim.
    NeedsReview(TaskLines),
    /// The run went as far as requested: work is left, and nothing blocks it.
    Reached,
    /// The run can be resumed.
    Paused(String),
}
