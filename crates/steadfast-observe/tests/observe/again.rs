//! The helper `observe-asker`: for what is about the environment of a process or its death.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::sandbox::{LONG, command};

/// One part of the helper, in a process of its own.
pub(crate) fn run(part: &str, root: &Path) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_observe-asker"));
    command.arg(part).arg(root);
    command
}

fn answers(root: &Path, budget: Duration) -> Command {
    let mut command = run("answers", root);
    command.arg(budget.as_millis().to_string());
    command
}

/// What it found, a line each.
pub(crate) fn ask(root: &Path, budget: Duration, environment: &[(&str, &Path)]) -> Vec<String> {
    let mut command = answers(root, budget);
    command.envs(environment.iter().copied());
    lines(command)
}

/// The same, started by `env` with this option.
pub(crate) fn ask_with(option: &str, root: &Path) -> Vec<String> {
    let answers = answers(root, LONG);
    let mut env = command("env");
    env.arg(option).arg(answers.get_program()).args(answers.get_args());
    env.envs(answers.get_envs().filter_map(|(name, value)| Some((name, value?))));
    lines(env)
}

fn lines(mut command: Command) -> Vec<String> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("= ")).map(str::to_owned).collect()
}
