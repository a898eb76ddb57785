//! Steadfast keeps coding agents on task, on scope and honest about done.
//!
//! `steadfast hook` is called by a host for every event and must cost what an empty process costs: it is taken before
//! an argument parser exists. Everything else is a command for people and agents.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the binary is the only room that prints")]

mod caller;
mod commands;
mod diff;
mod error;
mod exclude;
mod repository;
mod setup;
mod surroundings;
mod task_list;

use std::process::ExitCode;

use steadfast_hook::Call;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(word) if word == "hook" => hook(arguments),
        _ => commands::run(),
    }
}

fn hook(arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let call = match Call::parse(arguments) {
        Ok(call) => call,
        Err(error) => {
            eprintln!("steadfast hook: {error}");
            return ExitCode::from(error::USAGE);
        }
    };
    if let Some(said) = steadfast_hook::answer(&call, surroundings::of_hook(), std::io::stdin()) {
        // A host that closed the pipe does not want the answer.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), said.as_bytes());
    }
    ExitCode::SUCCESS
}
