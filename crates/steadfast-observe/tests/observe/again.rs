//! This test binary, run again: for what is about the environment of a process or its death.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use steadfast_model::Fact;
use steadfast_observe::{Point, Repository};

use crate::sandbox::{LONG, command};

const ROOT: &str = "OBSERVE_ROOT";
const BUDGET: &str = "OBSERVE_BUDGET_MS";

/// One of the tests below, in a process of its own.
pub(crate) fn run(test: &str, root: &Path) -> Command {
    let mut command = command(env::current_exe().unwrap());
    command
        .args(["--exact", &format!("again::{test}"), "--ignored", "--nocapture", "--test-threads=1"])
        .env(ROOT, root);
    command
}

/// What [`answers`] found, a line each.
pub(crate) fn ask(root: &Path, budget: Duration, environment: &[(&str, &Path)]) -> Vec<String> {
    let mut command = run("answers", root);
    command.env(BUDGET, budget.as_millis().to_string()).envs(environment.iter().copied());
    lines(command)
}

/// The same, started by `env` with this option.
pub(crate) fn ask_with(option: &str, root: &Path) -> Vec<String> {
    let answers = run("answers", root);
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

fn root() -> PathBuf {
    env::var_os(ROOT).expect("this is run by other tests").into()
}

#[test]
#[ignore = "run by other tests"]
fn answers() {
    let repository = Repository::find(&root());
    let budget = env::var(BUDGET).map_or(LONG, |budget| Duration::from_millis(budget.parse().unwrap()));
    println!();
    println!("= {:?}", repository.branch(budget));
    let began = Instant::now();
    println!("= {:?}", repository.changed_since(&Point::Head, budget));
    println!("= {}", began.elapsed().as_millis());
}

#[test]
#[ignore = "run by other tests, and killed by them"]
fn works_until_killed() {
    let root = root();
    let repository = Repository::find(&root);
    for round in 0..10_000 {
        std::fs::write(root.join("busy.txt"), format!("{} {round}", std::process::id())).unwrap();
        let tree = repository.tree_id(&root.join(".git/steadfast/tree"), LONG);
        let changes = repository.changed_since(&Point::Head, LONG);
        // Unknown is right while somebody kills the git that was asked.
        if let (Fact::Known(_), Fact::Known(_)) = (tree, changes) {
            println!("= {round}");
        }
    }
}
