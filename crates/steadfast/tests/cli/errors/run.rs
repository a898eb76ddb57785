//! What stands in the way of a run, said before anything is changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

use steadfast_model::{Host, Limits, Millis, PlanId, Process, Run, RunId, RunState};
use steadfast_store::ledger::Ledger;

use super::failure;
use crate::run::git;
use crate::sandbox::Sandbox;

const SPEC: &str = "# One thing\n\n## Phase 1: P\n\n- [ ] 1.1 Do it\n  - files: `a`\n  - verify: `test -s a`\n";
const RUN: [&str; 4] = ["run", "SPEC.md", "--host", "sim"];

/// A repository with one commit, the spec in it.
fn ready() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    commit(&sandbox);
    sandbox
}

fn commit(sandbox: &Sandbox) {
    git(sandbox, &["add", "."]);
    git(sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "One"]);
}

/// All that a run could change.
#[derive(Debug, PartialEq)]
struct Everything {
    git: Vec<String>,
    files: Vec<String>,
    ledger: Option<Vec<String>>,
}

fn everything(sandbox: &Sandbox) -> Everything {
    let git_knows = sandbox.root().join(".git/HEAD").exists();
    let calls: [&[&str]; 3] = [&["status", "--porcelain"], &["for-each-ref"], &["worktree", "list"]];
    let ledger = Ledger::open_read_only(&sandbox.root().join(".git/steadfast")).unwrap();
    let mut files: Vec<String> =
        fs::read_dir(sandbox.root()).unwrap().map(|entry| format!("{:?}", entry.unwrap().file_name())).collect();
    files.sort();
    Everything {
        git: if git_knows { calls.iter().map(|call| git(sandbox, call)).collect() } else { Vec::new() },
        files,
        ledger: ledger.map(|ledger| {
            let worktree = sandbox.place().worktree();
            let mut all = vec![format!("{:?}", ledger.plan_view(&worktree).unwrap())];
            all.extend(ledger.runs_of(&worktree).unwrap().iter().map(|run| format!("{run:?}")));
            all
        }),
    }
}

/// What it says, and that nothing is changed by it.
fn refused_by(sandbox: &Sandbox, run: impl FnOnce() -> Output) -> String {
    let before = everything(sandbox);
    let output = run();
    assert_eq!(everything(sandbox), before);
    failure(sandbox, &output)
}

/// The name of the folder is made of the sandbox's path.
fn without_hash(said: &str) -> String {
    let Some((before, after)) = said.split_once("worktrees/repo-") else { return said.to_owned() };
    format!("{before}worktrees/repo-<hash>{}", &after[8..])
}

fn refused(sandbox: &Sandbox, arguments: &[&str]) -> String {
    refused_by(sandbox, || sandbox.run(arguments))
}

/// As if a run had been begun before.
fn with_run(state: RunState, runner: Option<Process>) -> Sandbox {
    let sandbox = ready();
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    let mut ledger = Ledger::open(&sandbox.place().state).unwrap();
    let worktree = sandbox.place().worktree();
    let plan: PlanId = ledger.plan_view(&worktree).unwrap().unwrap().id;
    let run = Run {
        // Ending a run ends every process on this machine that carries its id, the ones of other tests too.
        id: RunId::new("r-e1"),
        plan,
        worktree,
        spec: "SPEC.md".into(),
        host: Host::Sim,
        base: git(&sandbox, &["rev-parse", "HEAD"]),
        branch: "steadfast/r-e1".into(),
        state,
        reason: None,
        limits: Limits::default(),
        started_at: Millis(1),
        updated_at: Millis(1),
        ended_at: state.is_over().then_some(Millis(2)),
        runner,
    };
    ledger.create_run(&run).unwrap();
    sandbox
}

#[test]
fn where_there_is_no_repository() {
    let sandbox = ready();
    fs::remove_dir_all(sandbox.root().join(".git")).unwrap();
    // A folder of that name is not enough.
    fs::create_dir_all(sandbox.root().join(".git/steadfast")).unwrap();
    insta::assert_snapshot!(refused(&sandbox, &RUN), @r"
    exit 1
    error: `/repo` is not a git repository

    hint: run `git init` and commit: agents work in git worktrees, and Steadfast merges their work
    ");
}

#[test]
fn where_nothing_is_committed() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    insta::assert_snapshot!(refused(&sandbox, &RUN), @r"
    exit 1
    error: this repository has no commit yet

    hint: commit something first: agents start from the last commit
    ");
}

#[test]
fn where_files_are_not_committed() {
    let sandbox = ready();
    sandbox.write("b", "mine");
    insta::assert_snapshot!(refused(&sandbox, &RUN), @r"
    exit 1
    error: 1 file is not committed: b

    hint: commit or stash them: agents start from the last commit and would not see them

    hint: `--from-head` starts from the last commit anyway; your files stay as they are
    ");
    for name in ["c", "d", "e"] {
        sandbox.write(name, "mine");
    }
    insta::assert_snapshot!(refused(&sandbox, &RUN), @r"
    exit 1
    error: 4 files are not committed: b, c, d, …

    hint: commit or stash them: agents start from the last commit and would not see them

    hint: `--from-head` starts from the last commit anyway; your files stay as they are
    ");
}

#[test]
fn where_head_is_detached() {
    let sandbox = ready();
    git(&sandbox, &["checkout", "--quiet", "--detach"]);
    insta::assert_snapshot!(refused(&sandbox, &RUN), @r"
    exit 1
    error: HEAD is detached, so the result would belong to no branch

    hint: `git switch BRANCH`, or `git switch --create BRANCH` for a new one
    ");
}

#[test]
fn where_a_submodule_lacks_its_commit() {
    let sandbox = ready();
    let commit_id = git(&sandbox, &["rev-parse", "HEAD"]);
    git(&sandbox, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit_id},below")]);
    git(&sandbox, &["init", "--quiet", "below"]);
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "Two"]);
    insta::assert_snapshot!(refused(&sandbox, &RUN).replace(&commit_id[..12], "COMMIT"), @r"
    exit 1
    error: the submodule `below` lacks commit COMMIT, which HEAD requires

    hint: `git submodule update --init below` fetches it
    ");
}

#[test]
fn where_no_agent_is_installed() {
    let sandbox = ready();
    let only_git = sandbox.home().join("only");
    fs::create_dir(&only_git).unwrap();
    symlink("/usr/bin/git", only_git.join("git")).unwrap();
    let with = |arguments: &[&str]| sandbox.command().env("PATH", &only_git).args(arguments).output().unwrap();
    insta::assert_snapshot!(refused_by(&sandbox, || with(&["run", "SPEC.md"])), @r"
    exit 1
    error: `claude` or `codex` is not on the PATH

    hint: install it, or choose another host with `--host`
    ");
    insta::assert_snapshot!(refused_by(&sandbox, || with(&["run", "SPEC.md", "--host", "codex"])), @r"
    exit 1
    error: `codex` is not on the PATH

    hint: install it, or choose another host with `--host`
    ");
}

#[test]
fn a_spec_that_is_not_in_order() {
    let sandbox = ready();
    sandbox.write("SPEC.md", "# One thing\n\n## Phase 1: P\n\n- [ ] 1.1 Do it\n  - depends on: 1.2\n");
    commit(&sandbox);
    insta::assert_snapshot!(refused(&sandbox, &RUN), @r"
    exit 1
    error: `SPEC.md` does not compile
    SPEC.md:5:7: warning[no-check]: `1.1` has no check: it closes as `claimed`, without proof
      |
    5 | - [ ] 1.1 Do it
      |       ^^^
      = help: add a verification command to the task, or `verification_commands.typecheck` to the spec

    SPEC.md:6:17: error[unknown-dependency]: unknown dependency `1.2`
      |
    6 |   - depends on: 1.2
      |                 ^^^
      = help: did you mean `1.1`?

    hint: each problem above names its fix
    ");
    insta::assert_snapshot!(refused(&sandbox, &["run", "NONE.md", "--host", "sim"]), @r"
    exit 1
    error: cannot read `NONE.md`: No such file or directory (os error 2)

    hint: a spec is a file of Markdown or JSON in UTF-8; `-` is standard input
    ");
}

#[test]
fn where_the_disk_is_full() {
    let sandbox = ready();
    let worktrees = "mkdir -p \"$HOME/.local/state\" && mount -t tmpfs -o size=1m tmpfs \"$HOME/.local/state\" && \
                     exec \"$0\" \"$@\"";
    let before = everything(&sandbox);
    let Some(output) = sandbox.elsewhere(worktrees, &RUN) else { return };
    insta::assert_snapshot!(without_hash(&failure(&sandbox, &output)), @r"
    exit 1
    error: `/home/.local/state/steadfast/worktrees/repo-<hash>` is nearly full: less than 64 MiB are left

    hint: free disk space there: worktrees and the ledger need it
    ");
    let ledger = "mkdir -p .git/steadfast && mount -t tmpfs -o size=4k tmpfs .git/steadfast && \
                  ! cat /dev/zero >.git/steadfast/ballast 2>/dev/null && exec \"$0\" \"$@\"";
    let Some(output) = sandbox.elsewhere(ledger, &RUN) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot write to `/repo/.git/steadfast`: No space left on device (os error 28)

    hint: free disk space there or fix its permissions, or set `run.worktrees` to another folder
    ");
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn where_worktrees_may_not_be_made() {
    let sandbox = ready();
    let sealed = "mkdir -p \"$HOME/.local/state\" && mount -t tmpfs -o ro tmpfs \"$HOME/.local/state\" && \
                  exec \"$0\" \"$@\"";
    let before = everything(&sandbox);
    let Some(output) = sandbox.elsewhere(sealed, &RUN) else { return };
    insta::assert_snapshot!(without_hash(&failure(&sandbox, &output)), @r"
    exit 1
    error: cannot write to `/home/.local/state/steadfast/worktrees/repo-<hash>`: Read-only file system (os error 30)

    hint: free disk space there or fix its permissions, or set `run.worktrees` to another folder
    ");
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn while_another_run_is_not_over() {
    let sandbox = with_run(RunState::Paused, None);
    insta::assert_snapshot!(refused(&sandbox, &RUN), @r"
    exit 1
    error: run r-e1 of `SPEC.md` is unfinished

    hint: `steadfast resume` continues it; `steadfast resume --give-up` ends it and keeps its branch
    ");
}

#[test]
fn a_run_that_is_under_way() {
    let me = std::process::id();
    let sandbox = with_run(RunState::Running, Some(Process { pid: me, started: 0 }));
    let said = |arguments| refused(&sandbox, arguments).replace(&me.to_string(), "<pid>");
    insta::assert_snapshot!(said(&["resume"]), @r"
    exit 1
    error: run r-e1 is already running in process <pid>

    hint: `steadfast progress` shows its status; Ctrl-C in its terminal pauses it
    ");
    insta::assert_snapshot!(said(&["resume", "--give-up"]), @r"
    exit 1
    error: run r-e1 is already running in process <pid>

    hint: `steadfast progress` shows its status; Ctrl-C in its terminal pauses it
    ");
}

#[test]
fn a_run_that_is_over_or_unknown() {
    let sandbox = with_run(RunState::Complete, None);
    insta::assert_snapshot!(refused(&sandbox, &["resume", "--run", "r-e1"]), @r"
    exit 1
    error: run r-e1 is over

    hint: its work is on steadfast/r-e1; `steadfast run SPEC` starts another
    ");
    insta::assert_snapshot!(refused(&sandbox, &["resume", "--run", "r-2"]), @r"
    exit 1
    error: there is no run `r-2`

    hint: without `--run`, the command uses the newest unfinished run of this worktree
    ");
}

#[test]
fn a_run_is_resumed_only_with_its_agent() {
    let sandbox = with_run(RunState::Paused, None);
    let only_git = sandbox.home().join("only");
    fs::create_dir(&only_git).unwrap();
    symlink("/usr/bin/git", only_git.join("git")).unwrap();
    let resume = || sandbox.command().env("PATH", &only_git).args(["resume", "--host", "codex"]).output().unwrap();
    insta::assert_snapshot!(refused_by(&sandbox, resume), @r"
    exit 1
    error: `codex` is not on the PATH

    hint: install it, or choose another host with `--host`
    ");
}

#[test]
fn a_run_that_is_given_up_leaves_its_branch() {
    let sandbox = with_run(RunState::Paused, None);
    git(&sandbox, &["branch", "steadfast/r-e1"]);
    git(&sandbox, &["branch", "steadfast/r-e1-1.1"]);
    insta::assert_snapshot!(sandbox.ok(&["resume", "--give-up"]), @"run r-e1 is over; its merged work is on steadfast/r-e1");
    assert_eq!(git(&sandbox, &["branch", "--format=%(refname:short)", "--list", "steadfast/*"]), "steadfast/r-e1");
    let runs = Ledger::open(&sandbox.place().state).unwrap().runs_of(&sandbox.place().worktree()).unwrap();
    assert_eq!(runs[0].state, RunState::Stopped);
}
