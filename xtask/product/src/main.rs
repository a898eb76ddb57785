//! The chores that use the product's crates. `cargo xtask CHORE` starts them, so that `xtask` itself builds in seconds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk")]
#![expect(clippy::disallowed_methods, reason = "chores run programs and read the environment")]

mod bench_makespan;
mod bench_runner;
mod commands;
mod configuration;
mod faults;
mod generate;
mod picture;

use std::process::ExitCode;

use xtask::{Result, process};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["bench", "makespan", rest @ ..] => bench_makespan::makespan(rest),
        ["bench", "runner", rest @ ..] => bench_runner::runner(rest),
        ["generate"] => generate::generate(generate::Doing::Write),
        ["generate", "--check"] => generate::generate(generate::Doing::Check),
        ["picture"] => picture::write(),
        ["faults", rest @ ..] => faults::faults(rest),
        _ => Err(format!("`{}` is not a chore; `cargo xtask` lists them", words.join(" ")).into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
