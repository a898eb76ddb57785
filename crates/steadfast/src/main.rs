//! Steadfast keeps coding agents on task, on scope and honest about done.
//!
//! `steadfast hook` is called by a host for every event and must cost what an empty process costs: it is taken before
//! an argument parser exists. Everything else is a command for people and agents.

mod ancestry;
mod beside;
mod caller;
mod commands;
mod diff;
mod error;
mod exclude;
mod file;
mod history;
mod looped;
mod neighbours;
mod output;
mod recalled;
mod refining;
mod repository;
mod setup;
mod spec_file;
mod ssh;
mod surroundings;
mod task_list;
mod tracker;
mod when;

use std::io::Write;
use std::process::ExitCode;

use steadfast_hook::{Answered, Call};

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
            output::note!("steadfast hook: {error}");
            return ExitCode::from(error::USAGE);
        }
    };
    let Answered { said, refining } =
        steadfast_hook::answer(&call, &surroundings::of_hook(), std::io::stdin(), too_late);
    say(said);
    if call.event == "SessionStart" {
        neighbours::begin();
    }
    if let Some(refining) = refining {
        refining::begin(&refining);
    }
    ExitCode::SUCCESS
}

#[expect(clippy::disallowed_methods, reason = "the thread that works does not come back")]
fn too_late(said: Option<String>) {
    say(said);
    std::process::exit(0);
}

fn say(said: Option<String>) {
    if let Some(said) = said {
        // A host that closed the pipe does not want the answer.
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(said.as_bytes()).and_then(|()| stdout.flush());
    }
}
