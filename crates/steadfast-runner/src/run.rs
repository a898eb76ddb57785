//! A run: a dispatcher owns the truth, executors own processes and worktrees, a merger lands what they did. They talk by
//! messages.

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
pub use executor::{Launcher, Role, Start};
pub use runner::{is_alive, this_process};

/// How a run, or this part of it, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Every task is done.
    Complete,
    /// Every task is done, these on the agent's word alone.
    NeedsReview(TaskLines),
    /// As far as it was to go this time: more is to be done, and nothing stands in its way.
    Reached,
    /// It can be resumed.
    Paused(String),
}
