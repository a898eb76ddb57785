//! The same of runs and loops: what they call complete passes on the branch they leave, looked at by the test itself.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use steadfast_model::{EvidenceClass, LoopEnd, RunState, Status};
use steadfast_store::ledger::Ledger;

use super::{Random, side_by_side};
use crate::run::git;
use crate::sandbox::Sandbox;

const SEQUENCES: u64 = 8;
const ROUNDS: u32 = 2;

/// Clear enough for a loop to run alone.
const HEAD: &str = "\
# Steps

Write a line for each step into a file of its own, so that the steps can be read.

## Constraints
- no new dependencies

";

/// A spec whose agents may lie, fail or break each other's work, and what has to pass in the end.
struct Plan {
    spec: String,
    checks: Vec<String>,
    has_claims: bool,
}

fn plan(random: &mut Random) -> Plan {
    let mut plan = Plan { spec: HEAD.to_owned(), checks: Vec::new(), has_claims: false };
    let stated = match random.below(6) {
        0 => "test ! -e f2.txt",
        1 | 2 => "grep -q 'Step 1' f1.txt",
        _ => "test -s SPEC.md",
    };
    write!(plan.spec, "## Success criteria\n- `{stated}` exits with 0\n\n## Phase 1: P\n\n").unwrap();
    plan.checks.push(stated.to_owned());
    for number in 1..=3 + random.below(2) {
        let conduct = ["", "", "", " [sim:lie]", " [sim:fail]", " [sim:also broken.txt]"][random.below(6) as usize];
        let name = format!("f{number}.txt");
        writeln!(plan.spec, "- [ ] 1.{number} Step {number}{conduct}\n  - files: `{name}`").unwrap();
        let check = match random.below(6) {
            0 => None,
            1 => Some(format!("grep -q 'Step {number}' {name} && test ! -e broken.txt")),
            _ => Some(format!("grep -q 'Step {number}' {name}")),
        };
        match check {
            None => plan.has_claims = true,
            Some(check) => {
                writeln!(plan.spec, "  - verify: `{check}`").unwrap();
                plan.checks.push(check);
            }
        }
        if number > 1 && random.below(2) == 0 {
            writeln!(plan.spec, "  - depends on: 1.{}", number - 1).unwrap();
        }
    }
    plan
}

fn commit(sandbox: &Sandbox) {
    git(sandbox, &["add", "--all"]);
    let author = ["-c", "user.name=U", "-c", "user.email=u@u"];
    git(sandbox, &[&author[..], &["commit", "--quiet", "--allow-empty", "-m", "x"]].concat());
}

/// What does not hold of a plan on the branch that was left as complete.
fn faults(sandbox: &Sandbox, plan: &Plan, branch: &str) -> Vec<String> {
    let ledger = Ledger::open_read_only(&sandbox.place().state).unwrap().unwrap();
    let run = ledger.runs_of(&sandbox.place().worktree()).unwrap().remove(0);
    let mut faults = Vec::new();
    for task in ledger.tasks(&run.plan).unwrap() {
        let closed_by = ledger.evidence_of(&run.plan, &task.id).unwrap().into_iter().rev().find(|one| one.passed);
        if task.status != Status::Done {
            faults.push(format!("{} is {:?}", task.id, task.status));
        } else if closed_by.is_some_and(|one| one.class == EvidenceClass::Claimed) {
            faults.push(format!("{} is only claimed", task.id));
        }
    }
    let there = tempfile::tempdir().unwrap();
    let checkout = there.path().join("c").display().to_string();
    git(sandbox, &["worktree", "add", "--quiet", "--detach", &checkout, branch]);
    for check in &plan.checks {
        if !Command::new("/bin/sh").args(["-c", check]).current_dir(&checkout).status().unwrap().success() {
            faults.push(format!("`{check}` fails on {branch}"));
        }
    }
    git(sandbox, &["worktree", "remove", "--force", &checkout]);
    faults
}

/// What it ended as, and the branch of its last run.
fn end(sandbox: &Sandbox, looped: bool) -> (&'static str, Option<String>) {
    let Some(ledger) = Ledger::open_read_only(&sandbox.place().state).unwrap() else { return ("refused", None) };
    let worktree = sandbox.place().worktree();
    let run = ledger.runs_of(&worktree).unwrap().into_iter().next();
    let branch = run.as_ref().map(|run| run.branch.clone());
    let complete = if looped {
        ledger.loops_of(&worktree).unwrap().first().is_some_and(|looped| looped.ended == Some(LoopEnd::Complete))
    } else {
        run.as_ref().is_some_and(|run| run.state == RunState::Complete)
    };
    let needs_review = run.is_some_and(|run| run.state == RunState::NeedsReview);
    (
        if complete {
            "complete"
        } else if needs_review {
            "needs review"
        } else {
            "waits"
        },
        branch,
    )
}

/// One plan, run or looped over a few rounds: how often it ended as what.
fn sequence(sequence: u64) -> BTreeMap<&'static str, u32> {
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    let mut random = Random(super::SEED + 31 + sequence * 104_729);
    random.below(2);
    let looped = sequence % 2 == 1;
    let plan = plan(&mut random);
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", plan.spec.clone());
    sandbox.set_own("[stop]\nmax_cycles = 2\n[run]\narguments = [\"--max-turns\", \"30\"]\n");
    commit(&sandbox);
    for round in 0..ROUNDS {
        let words: &[&str] = if looped { &["run", "--loop"] } else { &["run"] };
        let output = sandbox.run(&[words, &["SPEC.md", "--host", "sim"]].concat());
        let (end, branch) = end(&sandbox, looped);
        *ends.entry(end).or_default() += 1;
        let story = format!(
            "sequence {sequence}, round {round}, loop: {looped}\n{}\n{}{}",
            plan.spec,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let says_so = output.status.success();
        assert_eq!(says_so, end == "complete", "{story}");
        let Some(branch) = branch.filter(|_| says_so) else { break };
        assert!(!plan.has_claims, "complete with claims: {story}");
        assert_eq!(faults(&sandbox, &plan, &branch), Vec::<String>::new(), "{story}");
        // A human takes the work, or takes a part of it away again, or leaves it where it is.
        if random.below(3) > 0 {
            git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "merge", "--quiet", &branch]);
        }
        if random.below(2) == 0 && sandbox.root().join("f1.txt").exists() {
            git(&sandbox, &["rm", "--quiet", "f1.txt"]);
            commit(&sandbox);
        }
    }
    ends
}

#[test]
fn no_run_and_no_loop_ends_as_complete_while_a_task_does_not_hold_on_its_branch() {
    let ends = side_by_side(SEQUENCES, sequence);
    assert!(ends["complete"] > 2 && ends.len() > 1, "{ends:?}");
}
