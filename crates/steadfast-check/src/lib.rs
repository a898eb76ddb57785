//! Runs and freezes checks.
//!
//! [`Supervisor`] runs one command line to a defined end; start reading there. [`definition`] finds the text behind a
//! command line, so that a plan can freeze it and later compare it. [`artifact`] validates a picture as evidence.
//!
//! [`process`], [`tail`] and [`watcher`] serve every supervised process, agents included.

pub mod artifact;
mod check;
mod content;
pub mod definition;
pub mod process;
pub mod tail;
pub mod watcher;

pub use check::{CheckReport, CheckRun, LeftBehind, NoSupervisor, Supervisor};

/// Every process that works for an orchestrated run has this variable, with the run's id.
pub const MARK: &str = "STEADFAST_RUN_MARK";
