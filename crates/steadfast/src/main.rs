//! Steadfast keeps coding agents on task, on scope and honest about done.
//!
//! `steadfast hook` is called by a host for every event and must cost what an empty process costs: it is taken before
//! an argument parser exists. Everything else is a command for people and agents.

mod alarm;
mod background;
mod commands;
mod diff;
mod environment;
mod error;
mod here;
mod limit;
mod output;
mod payload;
mod peer;
mod recalled;
mod report;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use steadfast_hook::{CallError, HookAnswer, HookCall, fallback, last_word};
use steadfast_redact::redact_json;

/// However long something takes, the host has its answer by then.
const BOUND: Duration = Duration::from_millis(950);

/// What a hook becomes that has taken longer.
const TOO_LATE: &str = "hook-too-late";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    if let Some(call) = arguments.next().and_then(|name| HookCall::of_link(&name)) {
        return hook(&call);
    }
    match arguments.next() {
        Some(word) if word == "hook" => match HookCall::parse(arguments) {
            Ok(call) => hook(&call),
            Err(error) => misused(&error),
        },
        Some(word) if word == TOO_LATE => hook_too_late(arguments.collect()),
        None if payload::is_on_stdin() => ExitCode::SUCCESS,
        _ => commands::run(),
    }
}

fn hook(call: &HookCall) -> ExitCode {
    let around = environment::of_hook();
    let instead = ["steadfast", TOO_LATE].into_iter().chain(call.words()).map(OsString::from);
    let HookAnswer { said, background } = match alarm::set(BOUND, instead) {
        Ok(()) => steadfast_hook::answer(call, &around, std::io::stdin()),
        Err(error) => {
            let said = fallback(call, &around, &format!("cannot set the clock: {error}"));
            HookAnswer { said, background: Vec::new() }
        }
    };
    alarm::off();
    say(said);
    background.iter().for_each(background::begin);
    ExitCode::SUCCESS
}

fn hook_too_late(arguments: Vec<OsString>) -> ExitCode {
    match HookCall::parse(&arguments) {
        Ok(call) => {
            let why = format!("no answer within {} ms", BOUND.as_millis());
            let around = environment::of_hook();
            // Without one the second ring ends the process, and the host goes on. However busy the machine is, it does not
            // ring before.
            let _ = match last_word(&call, &around, &why) {
                Some(denial) => alarm::set_last_word(denial),
                None => alarm::unblock(),
            };
            let said = fallback(&call, &around, &why);
            alarm::off();
            say(said);
            ExitCode::SUCCESS
        }
        Err(error) => misused(&error),
    }
}

fn misused(error: &CallError) -> ExitCode {
    output::note!("steadfast hook: {error}");
    ExitCode::from(error::USAGE)
}

fn say(said: Option<String>) {
    if let Some(said) = said {
        // A host that closed the pipe does not want the answer.
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(redact_json(&said).as_bytes()).and_then(|()| stdout.flush());
    }
}
