//! `steadfast run` with simulated agents, undisturbed and killed.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use steadfast_model::{Run, RunState, Status};
use steadfast_store::ledger::Ledger;
use steadfast_testkit::wait_for;

use crate::sandbox::{Sandbox, write_program};

const RUN: [&str; 6] = ["run", "SPEC.md", "--host", "sim", "--max-iterations", "1000"];

/// Two waves and more: the last two write the same file.
const SPEC: &str = "\
# Four things

## Phase 1: P

- [ ] 1.1 Lay the ground
  - files: `ground.txt`
  - verify: `sleep 0.1 && grep -q 'Lay the ground' ground.txt`
- [ ] 1.2 Fetch stones
  - files: `stones.txt`
  - verify: `sleep 0.1 && grep -q 'Fetch stones' stones.txt`
- [ ] 1.3 Raise a wall
  - files: `walls.txt`
  - verify: `grep -q 'Raise a wall' walls.txt`
  - depends on: 1.1, 1.2
- [ ] 1.4 Raise another
  - files: `walls.txt`
  - verify: `grep -q 'Raise another' walls.txt`
  - depends on: 1.1, 1.2
";

pub(crate) fn git(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    let output = command.args(arguments).current_dir(sandbox.root()).env("HOME", sandbox.home()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn ready() -> Sandbox {
    ready_with("")
}

/// A repository with the spec in its one commit, and these settings of the user's own.
fn ready_with(settings: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox.set_own(settings);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "The spec"]);
    sandbox
}

fn ledger(sandbox: &Sandbox) -> Option<Ledger> {
    Ledger::open_read_only(&sandbox.place().state).unwrap()
}

fn last_run(sandbox: &Sandbox) -> Option<Run> {
    ledger(sandbox)?.runs_of(&sandbox.place().worktree()).unwrap().into_iter().next()
}

/// Every unit has landed once and every task is proven: once, and again on the final tree where another unit changed its
/// files. The tree it came to.
fn complete(sandbox: &Sandbox, run: &Run) -> String {
    assert_eq!(run.state, RunState::Complete);
    let format = "--format=%(trailers:key=Steadfast-Unit,valueonly,separator=%x20)";
    let log = git(sandbox, &["log", "--first-parent", format, &format!("{}..{}", run.base, run.branch)]);
    let mut landed: Vec<&str> = log.lines().collect();
    landed.sort_unstable();
    let ledger = ledger(sandbox).unwrap();
    let units = ledger.units(&run.id).unwrap();
    // The decisions of the phase are the runner's to write down, and nothing of them is merged.
    let wanted: BTreeSet<&str> = units.iter().map(|unit| unit.unit.as_str()).filter(|unit| *unit != "1.0").collect();
    assert_eq!(landed, wanted.into_iter().collect::<Vec<_>>());
    for task in ledger.tasks(&run.plan).unwrap() {
        let proofs = ledger.evidence_of(&run.plan, &task.id).unwrap();
        let passed = proofs.iter().filter(|evidence| evidence.passed).count();
        let most = if task.files == ["walls.txt"] { 2 } else { 1 };
        assert!(task.status == Status::Done && (1..=most).contains(&passed), "task {}: {passed}", task.id);
    }
    git(sandbox, &["rev-parse", &format!("{}^{{tree}}", run.branch)])
}

/// Neither worktree nor branch nor process, and the user's own is as it was.
fn nothing_is_left(sandbox: &Sandbox, run: &Run) {
    wait_for("the end of its processes", || if works_for(run) { Err("one is left".to_owned()) } else { Ok(()) });
    let worktrees = sandbox.home().join(".local/state/steadfast/worktrees");
    let below = |folder| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    assert_eq!(below(worktrees).flat_map(below).collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
    assert!(!sandbox.root().join(".git/worktrees").exists());
    let branches = git(sandbox, &["for-each-ref", "--format=%(refname:short)", "refs/heads/steadfast/"]);
    assert_eq!(branches, run.branch);
    assert_eq!(git(sandbox, &["status", "--porcelain"]), "");
    assert_eq!(git(sandbox, &["rev-parse", "HEAD"]), run.base);
}

fn works_for(run: &Run) -> bool {
    let mark = format!("STEADFAST_RUN_MARK={}", run.id);
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut environments = processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    environments.any(|all| all.split(|byte| *byte == 0).any(|one| one.starts_with(mark.as_bytes())))
}

/// Git, which kills whoever called it when it comes to what `moment` names in the user's home. One that outlives its
/// caller strikes nobody: whoever took it in is no runner.
const GIT: &str = r#"moment=$(cat "$HOME/moment" 2>/dev/null)
strike() {
  case "$(readlink "/proc/$PPID/exe")" in */bin/steadfast) ;; *) return 1 ;; esac
  case " $*" in *"${moment#* }"*) [ "$(cat "$HOME/moment")" = "$moment" ] && rm "$HOME/moment" && kill -9 $PPID ;; *) false ;; esac
}
case "$moment" in before*) strike "$@" && exit 1 ;; esac
/usr/bin/git "$@"
code=$?
case "$moment" in after*) strike "$@" ;; esac
exit $code"#;

/// In the order in which a run comes to them, up to the last thing it does with git.
const MOMENTS: [&str; 12] = [
    "after update-ref refs/heads/steadfast/r-",
    "before worktree add --quiet --force -b",
    "after worktree add --quiet --force -b",
    "before commit --quiet --no-verify",
    "after commit --quiet --no-verify",
    "after commit-tree",
    "before update-ref -m",
    "after update-ref -m",
    "after worktree add --quiet --force --detach",
    "after checkout --quiet --force --detach",
    "after update-ref --stdin",
    "after for-each-ref",
];

#[test]
fn a_run_that_is_killed_and_resumed_comes_to_what_it_comes_to_undisturbed() {
    let calm = ready();
    calm.ok(&RUN);
    let run = last_run(&calm).unwrap();
    let tree = complete(&calm, &run);
    nothing_is_left(&calm, &run);

    let sandbox = ready();
    write_program(&sandbox.binary().with_file_name("git"), GIT);
    for moment in MOMENTS {
        fs::write(sandbox.home().join("moment"), moment).unwrap();
        let output = resume(&sandbox);
        assert_eq!(output.status.code(), None, "{moment}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let output = resume(&sandbox);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = last_run(&sandbox).unwrap();
    assert_eq!(complete(&sandbox, &run), tree);
    nothing_is_left(&sandbox, &run);
}

/// The run that was begun, or a new one.
fn resume(sandbox: &Sandbox) -> Output {
    match last_run(sandbox) {
        Some(_) => sandbox.run(&["resume"]),
        None => sandbox.run(&RUN),
    }
}

#[test]
fn a_budget_is_exceeded_by_one_answer_of_each_agent_at_most_and_with_a_higher_one_the_run_goes_on() {
    const ANSWER: u64 = 500_000;
    let sandbox = ready_with("[run]\narguments = [\"--cost-per-turn\", \"0.5\"]\n");
    let output = sandbox.run(&["run", "SPEC.md", "--host", "sim", "--parallel", "2", "--budget", "7"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("is paused: the budget is spent: $"), "{said}");
    let run = last_run(&sandbox).unwrap();
    let spent = ledger(&sandbox).unwrap().sums(&run.id).unwrap().micro_usd;
    assert!((6_000_000..=7_000_000 + 2 * ANSWER).contains(&spent), "{spent}");
    assert_eq!(run.state, RunState::Paused);

    // Without more it stays where it is.
    assert_eq!(sandbox.run(&["resume"]).status.code(), Some(3));
    assert_eq!(ledger(&sandbox).unwrap().sums(&run.id).unwrap().micro_usd, spent);
    sandbox.ok(&["resume", "--budget", "100"]);
    let run = last_run(&sandbox).unwrap();
    complete(&sandbox, &run);
    nothing_is_left(&sandbox, &run);
}

/// Of a first run, whose branch nobody merged, nothing is in the commit that the second one begins with.
#[test]
fn a_second_run_does_again_what_nobody_merged() {
    let sandbox = ready();
    sandbox.ok(&RUN);
    let first = last_run(&sandbox).unwrap();
    let said = sandbox.ok(&RUN);
    let second = last_run(&sandbox).unwrap();
    assert!(first.id != second.id && second.state == RunState::Complete, "{said}");
    let files = |run: &Run| git(&sandbox, &["ls-tree", "--name-only", &run.branch]);
    assert_eq!(files(&second), files(&first));
    assert_eq!(files(&second), "SPEC.md\nground.txt\nstones.txt\nwalls.txt");

    // What is merged is not done again.
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "merge", "--quiet", &second.branch]);
    sandbox.ok(&RUN);
    let third = last_run(&sandbox).unwrap();
    assert_eq!(git(&sandbox, &["rev-parse", &third.branch]), git(&sandbox, &["rev-parse", "HEAD"]));
}

/// No check says that anything was done: a human looks at it.
#[test]
fn a_run_of_tasks_without_a_check_needs_review() {
    let sandbox = ready();
    sandbox.write("SPEC.md", "# Words\n\n## Phase 1: P\n\n- [ ] 1.1 Write the parser\n  - files: `parser.py`\n");
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-am", "Another spec"]);
    let (code, said) = sandbox.fails(&RUN);
    assert_eq!(code, 3, "{said}");
    let words = "needs review: these tasks have only the agent's claim as evidence: 1.1 Write the parser";
    assert!(said.contains(words), "{said}");
    assert_eq!(last_run(&sandbox).unwrap().state, RunState::NeedsReview);
    assert!(sandbox.ok(&["status"]).contains("1.1 Write the parser closed on the agent's word alone"));
    sandbox.ok(&["task", "done", "1.1", "--force"]);
    assert!(!sandbox.ok(&["status"]).contains("the agent's word alone"));
}

/// A check that another unit broke after it had passed.
#[test]
fn what_a_later_unit_breaks_is_not_complete() {
    let sandbox = ready();
    let spec = "# Two\n\n## Phase 1: P\n\n- [ ] 1.1 First\n  - files: `one.txt`\n  - verify: `! test -e two.txt && test -e one.txt`\n\
                - [ ] 1.2 Second\n  - files: `two.txt`, `one.txt`\n  - verify: `test -e two.txt`\n  - depends on: 1.1\n";
    sandbox.write("SPEC.md", spec);
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-am", "Another spec"]);
    let (code, said) = sandbox.fails(&RUN);
    assert_eq!(code, 3, "{said}");
    let run = last_run(&sandbox).unwrap();
    assert_eq!(run.state, RunState::Paused, "{said}");
    let status = ledger(&sandbox).unwrap().task(&run.plan, &steadfast_model::TaskId::new("1.1")).unwrap().status;
    assert_eq!(status, Status::Blocked, "{said}");
}
