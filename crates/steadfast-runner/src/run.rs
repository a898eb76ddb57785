//! A run: a dispatcher owns the truth, executors own processes and worktrees, a merger lands what they did. They talk by
//! messages.

mod begin;
mod budget;
mod dispatcher;
mod ending;
mod executor;
mod merger;
mod message;
mod news;
mod panel;
mod prompt;
mod recover;
mod runner;
mod teller;
mod verdict;

pub use begin::{Begin, Until, run};
pub use ending::Outcome;
pub use executor::{Launcher, Role, Start};
pub use news::{Activity, Audience, News, Snapshot};
pub use runner::{is_alive, this_process};
