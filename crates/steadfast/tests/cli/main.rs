//! The binary as its users call it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test starts the binary")]
#![expect(clippy::print_stderr, reason = "a loop says how far it came")]

mod authority;
mod backtest;
mod binding;
mod chains;
mod clean;
mod closing;
mod config;
mod confinement;
mod crowd;
mod demo;
mod doctor;
mod documents;
mod done_is_true;
mod drift;
mod errors;
mod folder_tasks;
mod gate;
mod goal;
mod guard;
mod housekeeping;
mod in_run;
mod installed;
mod late;
mod learn;
mod lists;
mod log;
mod loop_session;
mod looped;
mod looping;
mod mcp;
mod output;
mod plans;
mod refine;
mod release;
mod replay;
mod rewired;
mod run;
mod run_trouble;
mod running;
mod sandbox;
mod secrets;
mod skills;
mod spec;
mod status;
mod tasks;
mod trackers;
mod transcript;
mod why;
mod wiring;
