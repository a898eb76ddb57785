use std::path::Path;

use steadfast_observe::{Branch, Checkout};
use steadfast_testkit::skip_optional;

use crate::sandbox::{LONG, Sandbox, git, known, unknown};

fn branch(dir: &Path) -> Branch {
    known(Checkout::find(dir).branch(LONG))
}

fn named(name: &str) -> Branch {
    Branch::Named(name.to_owned())
}

#[test]
fn a_branch_has_its_name_before_and_after_the_first_commit_and_when_packed() {
    let sandbox = Sandbox::empty();
    assert_eq!(branch(&sandbox.root), named("main"));
    sandbox.write("a", "").commit();
    sandbox.git(&["switch", "--quiet", "--create", "feature/x"]);
    assert_eq!(branch(&sandbox.root), named("feature/x"));
    sandbox.git(&["pack-refs", "--all", "--prune"]);
    assert_eq!(branch(&sandbox.root), named("feature/x"));
}

#[test]
fn a_detached_head_is_a_commit() {
    let sandbox = Sandbox::new();
    let commit = sandbox.commit_again();
    sandbox.git(&["switch", "--quiet", "--detach"]);
    assert_eq!(branch(&sandbox.root), Branch::Detached(commit));
}

#[test]
fn each_worktree_has_its_own() {
    let sandbox = Sandbox::new();
    sandbox.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    assert_eq!(
        [&sandbox.root, &sandbox.root.with_file_name("side")].map(|dir| branch(dir)),
        ["main", "side"].map(named)
    );
}

#[test]
fn a_bare_repository_has_one() {
    let sandbox = Sandbox::init(&["init", "--quiet", "--bare", "--initial-branch=trunk", "."]);
    assert_eq!(branch(&sandbox.root), named("trunk"));
}

#[test]
fn where_references_are_in_a_table_git_is_asked() {
    let sandbox = Sandbox::without_git();
    let made = crate::sandbox::command("git")
        .args(["init", "--quiet", "--ref-format=reftable", "--initial-branch=main"])
        .arg(&sandbox.root)
        .output()
        .unwrap();
    if !made.status.success() {
        return skip_optional("git 2.45", &"`git init` knows no `--ref-format=reftable`");
    }
    assert_eq!(branch(&sandbox.root), named("main"));
    sandbox.write("a", "").commit();
    git(&sandbox.root, &["switch", "--quiet", "--detach"]);
    let commit = sandbox.git(&["rev-parse", "HEAD"]).trim().parse().unwrap();
    assert_eq!(branch(&sandbox.root), Branch::Detached(commit));
}

#[test]
fn outside_git_there_is_no_branch() {
    let sandbox = Sandbox::without_git();
    assert_eq!(unknown(sandbox.repository().branch(LONG)), "not a git repository");
}

impl Sandbox {
    fn commit_again(&self) -> steadfast_observe::ObjectId {
        self.write("again.txt", "again").commit()
    }
}
