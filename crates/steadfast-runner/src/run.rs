//! A run: a dispatcher owns the truth, executors own processes and worktrees, a merger lands what they did. They talk by
//! messages.

mod begin;
mod budget;
mod dispatcher;
mod ending;
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

pub use begin::{Begin, Until, run};
pub use ending::RunOutcome;
pub use event::{Activity, Audience, RunEvent, Snapshot};
pub use executor::{Launcher, Role, Start};
pub use runner::{is_alive, this_process};
