//! What `uninstall` deletes, keeps, refuses and leaves.

use std::fs;

use steadfast_model::RunState;
use steadfast_store::ledger::Ledger;

use crate::run_resumed::git;
use crate::sandbox::Sandbox;

const DELETE: &str = "Delete it? [y/N] ";

/// A repository with a task, a decision in its file, and the branch of a run that is over.
fn used() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", "# One\n\n## Phase 1: P\n\n- [ ] 1.1 A thing\n  - files: `a`\n  - verify: `true`\n");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one"]);
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    sandbox.ok(&["decide", "Plain files", "--why", "they are enough"]);
    assert!(sandbox.root().join(".steadfast").is_dir());
    sandbox
}

#[test]
fn purge_asks_and_names_what_it_deletes() {
    let sandbox = used();
    let (code, said) = sandbox.fails(&["uninstall", "--purge"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("`steadfast uninstall --purge --yes`"), "{said}");
    let (code, seen) = sandbox.at_terminal("uninstall --purge", DELETE, "\n");
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("To be deleted for good (") && seen.contains("1 plan, 2 tasks"), "{seen}");
    assert!(seen.ends_with("Nothing changed.\n") && sandbox.place().state.is_dir(), "{seen}");
    let (code, seen) = sandbox.at_terminal("uninstall --purge", DELETE, "y\n");
    assert_eq!(code, 0, "{seen}");
    assert!(!sandbox.place().state.exists() && !sandbox.root().join(".steadfast").exists());
    assert!(!sandbox.root().join(".claude").exists(), "{seen}");
}

#[test]
fn yes_is_known_to_both_and_nothing_is_asked_where_nothing_is_lost() {
    let sandbox = used();
    let said = sandbox.ok(&["uninstall", "--yes"]);
    assert!(said.contains("Tasks and history are kept in "), "{said}");
    sandbox.ok(&["uninstall", "--purge", "--yes"]);
    assert!(!sandbox.place().state.with_extension("kept").exists());
    let said = sandbox.ok(&["uninstall", "--purge"]);
    assert_eq!(said, "Steadfast is not installed here\n");
    assert_eq!(sandbox.fails(&["uninstall", "--force"]).0, 64, "it is for `--purge`");
}

#[test]
fn what_people_wrote_into_rendered_files_comes_back_with_init() {
    let sandbox = used();
    let decisions = fs::read_dir(sandbox.root().join(".steadfast/decisions")).unwrap().next().unwrap().unwrap().path();
    fs::write(&decisions, fs::read_to_string(&decisions).unwrap() + "\nby hand\n").unwrap();
    sandbox.ok(&["uninstall"]);
    assert!(!sandbox.root().join(".steadfast").exists());
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert!(fs::read_to_string(&decisions).unwrap().contains("by hand"));
    assert!(!sandbox.place().state.join("rendered").exists());
}

#[test]
fn a_rendered_folder_that_git_tracks_stays() {
    let sandbox = used();
    sandbox.write(".steadfast/mine.md", "mine");
    git(&sandbox, &["add", "--force", ".steadfast/mine.md"]);
    let said = sandbox.ok(&["uninstall"]);
    assert!(said.contains("`.steadfast/` stays, because git tracks files in it."), "{said}");
    assert!(sandbox.root().join(".steadfast/mine.md").exists());
}

#[test]
fn purge_refuses_while_a_run_is_unfinished_unless_forced() {
    let sandbox = used();
    sandbox.ok(&["plan", "clear"]);
    let run = sandbox.run(&["run", "SPEC.md", "--host", "sim", "--max-iterations", "1000"]);
    assert!(run.status.success(), "{}", sandbox.without_paths(&run.stderr));
    let mut ledger = Ledger::open(&sandbox.place().state).unwrap();
    let finished = ledger.runs_of(&sandbox.place().worktree()).unwrap().swap_remove(0);
    ledger.set_run_state(&finished.id, RunState::Paused, Some("a test"), finished.updated_at).unwrap();
    drop(ledger);
    let (code, said) = sandbox.fails(&["uninstall", "--purge", "--yes"]);
    assert_eq!(code, 2, "{said}");
    let said = said.replace(finished.id.as_str(), "r-1");
    insta::assert_snapshot!(said, @r"
    error: run r-1 of SPEC.md is paused, and `--purge` deletes what it needs to continue

    hint: `steadfast resume --run r-1 --give-up` ends it and keeps its branch; `steadfast uninstall --purge --force` deletes its data
    ");
    assert!(sandbox.place().state.is_dir());
    let said = sandbox.ok(&["uninstall", "--purge", "--yes", "--force"]);
    let said = said.replace(finished.id.as_str(), "r-1");
    assert!(said.contains("`git branch -D steadfast/r-1` deletes it"), "{said}");
    assert!(!sandbox.place().state.exists());
    assert_eq!(git(&sandbox, &["branch", "--list", "steadfast/*"]).lines().count(), 1, "the work stays");
    git(&sandbox, &["branch", "--quiet", "-D", &finished.branch]);
    assert_eq!(sandbox.ok(&["uninstall"]), "Steadfast is not installed here\n");
}

#[test]
fn branches_and_worktrees_of_runs_are_named_with_the_commands_that_delete_them() {
    let sandbox = used();
    for branch in ["steadfast/r-1", "steadfast/r-1-1.1"] {
        git(&sandbox, &["branch", branch]);
    }
    let worktree = sandbox.home().join("units/1 1");
    git(&sandbox, &["worktree", "add", "--quiet", worktree.to_str().unwrap(), "steadfast/r-1-1.1"]);
    let said = sandbox.ok(&["uninstall"]).replace(&sandbox.home().display().to_string(), "~");
    assert!(
        said.contains("1 worktree of runs left: ~/units/1 1\n  git worktree remove --force '~/units/1 1'\n"),
        "{said}"
    );
    assert!(said.contains("2 branches with the work of runs are left: steadfast/r-1, steadfast/r-1-1.1."), "{said}");
    // The printed commands do what they say.
    git(&sandbox, &["worktree", "remove", "--force", worktree.to_str().unwrap()]);
    let line = said.lines().find(|line| line.contains("for-each-ref")).unwrap().to_owned();
    let mut shell = sandbox.command_of("sh".as_ref());
    assert!(shell.args(["-c", &line]).output().unwrap().status.success());
    assert_eq!(git(&sandbox, &["branch", "--list", "steadfast/*"]), "");
}

#[test]
fn a_ledger_that_cannot_be_read_is_purged_only_by_force() {
    let sandbox = used();
    fs::write(sandbox.place().state.join("state.db"), "not a database, and long enough to be looked at as one")
        .unwrap();
    let (_, said) = sandbox.fails(&["uninstall", "--purge", "--yes"]);
    assert!(said.contains("--purge --force"), "{said}");
    let said = sandbox.ok(&["uninstall", "--purge", "--yes", "--force"]);
    assert!(said.contains("the ledger cannot be read"), "{said}");
    assert!(!sandbox.place().state.exists());
}
