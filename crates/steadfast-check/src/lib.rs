//! Checks: [`Supervisor`] runs one command line to a defined end. [`definition`] says what a command line stands for, so
//! that it can be frozen when a plan is loaded and compared when the check is asked for. [`artifact`] looks at a picture.
//!
//! [`process`], [`tail`] and [`watcher`] are for every process that is supervised, agents among them.

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
