//! The help: its groups, its width, and an example for each command that runs as written.

mod scenes;

use std::collections::BTreeSet;

use steadfast_model::commands;

use crate::sandbox::Sandbox;

/// A line per command: its words, the scene of its example, and the example.
const EXAMPLES: &str = include_str!("../../src/commands/examples.txt");

/// Commands that no human types: `hook` has no help, and the help hides the others.
const HIDDEN: [&str; 6] = ["hook", "supervise", "neighbours", "notify", "refine", "sim"];

struct Example {
    command: &'static str,
    scene: &'static str,
    line: &'static str,
}

fn examples() -> Vec<Example> {
    let row = |row: &'static str| match row.splitn(3, '|').map(str::trim).collect::<Vec<_>>()[..] {
        [command, scene, line] => Example { command, scene, line },
        _ => panic!("not a row: {row}"),
    };
    EXAMPLES.lines().map(row).collect()
}

/// Every command that a human can type, and the words above it: `task done` and `task`.
fn typed() -> BTreeSet<&'static str> {
    let rows = commands().map(|(row, _)| row.split(" --").next().unwrap()).filter(|row| !HIDDEN.contains(row));
    rows.flat_map(|row| row.match_indices(' ').map(|(at, _)| &row[..at]).chain([row])).collect()
}

fn help(sandbox: &Sandbox, words: &str) -> String {
    sandbox.ok(&words.split_whitespace().chain(["--help"]).collect::<Vec<_>>())
}

#[test]
fn every_command_has_one_example_and_its_help_ends_with_it() {
    let examples = examples();
    let commands: BTreeSet<_> = examples.iter().map(|example| example.command).collect();
    assert_eq!(commands, typed());
    assert_eq!(examples.len(), commands.len(), "a command has two examples");
    let sandbox = Sandbox::bare();
    for Example { command, line, .. } in examples {
        let help = help(&sandbox, command);
        assert!(help.ends_with(&format!("\n\nExample:\n  {line}\n")), "{command}: {help}");
    }
}

/// Runs a quarter of the examples: the tests run beside each other.
fn quarter_runs(quarter: usize) {
    let mut failed = String::new();
    for Example { command, scene, line } in examples().into_iter().skip(quarter).step_by(4) {
        let sandbox = scenes::prepared(scene);
        let output = sandbox.command_of("/bin/sh".as_ref()).args(["-c", line]).output().unwrap();
        if output.status.code() != Some(0) {
            let said = [output.stdout, output.stderr].concat();
            failed.push_str(&format!("{command}: {line}: {}\n{}\n", output.status, sandbox.without_paths(&said)));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn the_first_quarter_of_the_examples_runs_as_written() {
    quarter_runs(0);
}

#[test]
fn the_second_quarter_of_the_examples_runs_as_written() {
    quarter_runs(1);
}

#[test]
fn the_third_quarter_of_the_examples_runs_as_written() {
    quarter_runs(2);
}

#[test]
fn the_fourth_quarter_of_the_examples_runs_as_written() {
    quarter_runs(3);
}

#[test]
fn no_line_of_the_help_is_longer_than_80_columns() {
    let sandbox = Sandbox::bare();
    let all = sandbox.ok(&["help", "all"]);
    for help in typed().into_iter().chain([""]).map(|words| help(&sandbox, words)).chain([all]) {
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
}

#[test]
fn the_help_begins_with_the_commands_of_daily_use() {
    let sandbox = Sandbox::bare();
    let help = sandbox.ok(&["--help"]);
    assert_eq!(sandbox.ok(&["help"]), help);
    insta::assert_snapshot!(help, @r"
    Keep coding agents on task, on scope and honest about done

    Usage: steadfast <COMMAND>

    Start:
      init          Set up Steadfast for this repository and its hosts. Human only.
      doctor        Check this repository and its wiring, and suggest fixes

    Work:
      plan          Load, approve and show the plan of this worktree
      task          Add, start, check and close the tasks of this worktree
      run           Run agents on a spec, and merge their checked work. Human only.
      resume        Continue a run, a loop or a plan. Human only.

    Look:
      status        Show tasks, sessions and everything that needs a human
      why           Explain the last refusal, and suggest the next step

    Control:
      goal          Show and set the goal and the constraints of a session
      pause         Pause the rules in the running sessions. Human only.

    Advanced:
      help all      List all commands
      help COMMAND  Show the help of a command

    Options:
      -h, --help     Print help
      -V, --version  Print version

    With every command: `--color auto|always|never`, and `--utc` for times in UTC.

    Exit codes: 0 done, 1 failed, 2 refused by a rule, 3 needs a human,
    64 invalid usage.
    ");
}

#[test]
fn help_all_lists_every_command_in_its_group() {
    let sandbox = Sandbox::bare();
    let help = sandbox.ok(&["help", "all"]);
    let listed: BTreeSet<_> = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    for command in typed().into_iter().filter(|words| !words.contains(' ')) {
        assert!(listed.contains(command), "{command}: {help}");
    }
    let hidden = HIDDEN.iter().find(|command| listed.contains(*command));
    assert_eq!(hidden, None, "{help}");
    let groups: Vec<_> = help.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    assert_eq!(groups, ["Start:", "Work:", "Look:", "Control:", "Advanced:", "Options:"]);
}

#[test]
fn help_of_a_command_is_its_help() {
    let sandbox = Sandbox::bare();
    for words in ["run", "task", "task done", "loop review waive"] {
        let asked: Vec<_> = ["help"].into_iter().chain(words.split(' ')).collect();
        assert_eq!(sandbox.ok(&asked), help(&sandbox, words));
    }
    assert_eq!(sandbox.fails(&["help", "fly"]).0, 64);
}

#[test]
fn the_help_of_help_is_the_help() {
    let sandbox = Sandbox::bare();
    let help = sandbox.ok(&["--help"]);
    for flag in ["--help", "-h"] {
        assert_eq!(sandbox.ok(&["help", flag]), help);
    }
}
