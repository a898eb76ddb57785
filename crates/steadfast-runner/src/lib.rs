//! Processes that Steadfast runs for itself: checks, later agents, each supervised to its end.
//!
//! [`check`] runs one command line to a defined end. [`definition`] says what a command line stands for, so that it
//! can be frozen when a plan is loaded and compared when the check is asked for. [`artifact`] looks at a picture.

pub mod artifact;
#[cfg(unix)]
pub mod check;
mod content;
pub mod definition;
pub mod grounds;
