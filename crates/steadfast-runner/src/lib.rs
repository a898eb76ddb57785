//! Runs headless agents: a run sends them to the units of a plan, a loop takes a request through all its stages, and
//! experts review the result.
//!
//! Start with [`lifecycle`], which begins, resumes and ends a run, and [`run`], which works through its plan
//! (dispatcher, executors, merger). [`agent`] runs one agent; [`worktrees`] holds the branches and worktrees of a run;
//! [`progress`] renders its status as text. [`loop_run`] drives a loop, [`review`] asks experts and runs the gate, and
//! [`weakened`] finds changes that weaken tests.
//!
//! [`RunError`] is the error of all of them.

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
