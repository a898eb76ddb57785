//! Agents that Steadfast runs for itself, and the run that sends them to the units of a plan.
//!
//! [`lifecycle`] begins a run, goes on with it and ends it; [`run`] works its plan off. [`worktrees`] are its branches and
//! worktrees, [`agent`] attends one headless agent, [`progress`] tells how it stands. [`loop_run`] takes a whole loop through
//! its stages without a human at hand; [`review`] asks experts about what was done. [`weakened`] tells whether a change took
//! something from the tests.

pub mod agent;
mod error;
pub mod experts;
pub mod gate;
pub mod launch;
pub mod lifecycle;
pub mod loop_run;
pub mod preflight;
pub mod progress;
mod quote;
pub mod review;
pub mod run;
pub mod source;
pub mod weakened;
pub mod worktrees;

pub use error::RunError;
