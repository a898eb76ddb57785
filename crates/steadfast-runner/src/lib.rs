//! Processes that Steadfast runs for itself: checks and agents, each supervised to its end, and the run that sends
//! agents to the units of a plan.
//!
//! [`run`] works a plan off. [`grounds`] are its branches and worktrees, [`agent`] attends one headless agent,
//! [`progress`] tells how it stands. [`check`] runs one command line to a defined end. [`definition`] says what a command
//! line stands for, so that it can be frozen when a plan is loaded and compared when the check is asked for. [`artifact`]
//! looks at a picture. [`weakened`] tells whether a change took something from the tests.

#[cfg(unix)]
pub mod agent;
pub mod artifact;
#[cfg(unix)]
pub mod check;
mod content;
pub mod counsel;
pub mod definition;
pub mod gate;
pub mod grounds;
#[cfg(unix)]
mod process;
pub mod progress;
mod quote;
#[cfg(unix)]
pub mod run;
#[cfg(unix)]
mod tail;
#[cfg(unix)]
mod watcher;
pub mod weakened;
