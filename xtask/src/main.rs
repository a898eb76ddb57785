//! The chores of the workspace: `cargo xtask <chore>`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk")]
#![expect(clippy::disallowed_methods, reason = "chores run programs")]

mod bench;
mod process;

use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask CHORE

  bench hook   what a hook costs beside an empty process (`--runs N`, `--binary PATH`)
";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["bench", "hook", rest @ ..] => bench::hook(rest),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(64);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
