//! Steadfast keeps coding agents on task, on scope and honest about done.
//!
//! Hosts call `steadfast hook` for every event, so it must cost no more than an empty process: `main` handles it before
//! it builds the argument parser. Everything else is a command for people and agents.

mod alarm;
mod background;
mod commands;
mod diff;
mod duration;
mod environment;
mod error;
mod here;
mod limit;
mod notifier;
mod output;
mod pager;
mod payload;
mod peer;
mod recalled;
mod report;
mod terminal;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use steadfast_hook::{CallError, HookAnswer, HookCall, fallback, last_word};
use steadfast_redact::redact_json;

/// Time limit for the answer to a host.
const TIME_LIMIT: Duration = Duration::from_millis(950);

/// The command that replaces a hook over its time limit.
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
    let fallback_arguments = ["steadfast", TOO_LATE].into_iter().chain(call.words()).map(OsString::from);
    let HookAnswer { said, background } = match alarm::set(TIME_LIMIT, fallback_arguments) {
        Ok(()) => steadfast_hook::answer(call, &around, std::io::stdin()),
        Err(error) => {
            let said = fallback(call, &around, &format!("cannot set the timer: {error}"));
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
            let why = format!("no answer within {} ms", TIME_LIMIT.as_millis());
            let around = environment::of_hook();
            // Without a last word, the second SIGALRM kills the process, and the host continues. Until here the signal was
            // blocked, so on a busy machine it cannot come too early.
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
        // A host that closed the pipe ignores the answer.
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(redact_json(&said).as_bytes()).and_then(|()| stdout.flush());
    }
}
