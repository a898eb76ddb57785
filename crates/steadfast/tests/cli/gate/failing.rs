//! What goes wrong at a gate: what is said, and that it stays closed.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use super::*;

fn failure(sandbox: &Sandbox, output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    format!("exit {}\n{}", output.status.code().unwrap(), plain(&sandbox.without_paths(&output.stderr)))
}

fn approval_fails(sandbox: &Sandbox) -> String {
    failure(sandbox, &sandbox.run(&["plan", "approve", "--yes"]))
}

/// What a human at a terminal is asked, and how it ends when they answer that.
fn answered(sandbox: &Sandbox, answer: &str) -> (i32, String) {
    let call = format!("'{}' plan approve >/dev/null", sandbox.binary().display());
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &call, "/dev/null"]);
    command.current_dir(sandbox.root()).env_clear().env("HOME", sandbox.home()).env("PATH", "/usr/bin:/bin");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{answer}\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    (output.status.code().unwrap(), plain(said.trim_start_matches(&format!("{answer}\n"))))
}

#[test]
fn a_human_who_is_asked_says_no_and_then_yes() {
    let sandbox = proposed();
    let (code, said) = answered(&sandbox, "n");
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r"
    approve plan HASH8? [y/N] error: nothing is approved, and the plan gate stays as it is

    hint: `steadfast plan approve HASH8` asks again, `steadfast plan reject HASH8` turns it down
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
    assert_eq!(answered(&sandbox, "y").0, 0);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

#[test]
fn a_state_that_cannot_be_written_keeps_no_draft_and_closes_nothing() {
    let sandbox = with_spec();
    fs::write(sandbox.place().state.join("drafts"), "").unwrap();
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "propose", "SPEC.md"])), @r"
    exit 1
    error: the draft cannot be kept: File exists (os error 17)

    hint: where a sandbox keeps `.git` read-only, the tool `plan_propose` of the MCP server `steadfast` does the same
    ");
    fs::write(sandbox.place().state.join("gates"), "").unwrap();
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "lock"])), @r"
    exit 1
    error: the gate cannot be closed: File exists (os error 17)

    hint: where a sandbox keeps `.git` read-only, the tool `plan_propose` of the MCP server `steadfast` closes it; else look at the disk and its permissions
    ");
}

#[test]
fn an_approval_that_cannot_be_kept_is_none() {
    let sandbox = proposed();
    fs::write(sandbox.place().state.join("approvals"), "").unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: nothing is approved: the approval cannot be written: File exists (os error 17)

    hint: look at the disk and the permissions of the state, and try again
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
    assert!(!sandbox.root().join("PLAN.md").exists());
}

#[test]
fn a_full_disk_approves_nothing() {
    let sandbox = proposed();
    assert_eq!(sandbox.full(&["plan", "approve", "--yes"]).status.code(), Some(1));
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn a_plan_that_cannot_be_written_leaves_the_gate_closed() {
    let sandbox = proposed();
    fs::create_dir(sandbox.root().join("PLAN.md")).unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: the approved plan cannot be written to `/repo/PLAN.md`: something stands there that is no file

    hint: the approval is signed, and the gate stays closed; see to it that `/repo/PLAN.md` can be a file of yours, and try again
    ");
    assert_eq!(sandbox.position()["gate"], "locked");
    fs::remove_dir(sandbox.root().join("PLAN.md")).unwrap();
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

#[test]
fn a_path_that_came_to_lead_elsewhere_is_not_written() {
    let sandbox = with_spec();
    fs::create_dir(sandbox.root().join("docs")).unwrap();
    sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "docs/plan.md"]);
    fs::remove_dir(sandbox.root().join("docs")).unwrap();
    std::os::unix::fs::symlink(sandbox.home(), sandbox.root().join("docs")).unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: nothing is approved: `docs/plan.md` is no place for a plan: it is not in the checkout, a link leads it elsewhere, or it is git's

    hint: `steadfast plan propose FILE --path PATH` proposes it for another path
    ");
    assert!(!sandbox.home().join("plan.md").exists());
}

#[test]
fn half_a_key_signs_nothing() {
    let sandbox = proposed();
    let folder = sandbox.home().join(".local/state/steadfast");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("approval.key"), "half").unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: nothing is approved: the key `/home/.local/state/steadfast/approval.key` cannot be used: it is not 32 bytes long

    hint: look at `/home/.local/state/steadfast/approval.key`; if it is lost, move it away: a new one is made, and approvals that it signed have to be given again
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn without_a_home_there_is_no_key() {
    let sandbox = proposed();
    let output = sandbox.command().args(["plan", "approve", "--yes"]).env_remove("HOME").output().unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: `HOME` is not set, so there is nowhere to keep the key of approvals

    hint: set `HOME` to a folder of yours and try again
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn another_draft_at_the_checkouts_gate_stands_in_the_way() {
    let sandbox = proposed();
    let first = sandbox.short();
    sandbox.ok(&["plan", "reject"]);
    sandbox.write("OTHER.md", SPEC.replace("# Sign in", "# Sign out"));
    sandbox.ok(&["plan", "propose", "OTHER.md"]);
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "approve", &first, "--yes"])), @r"
    exit 1
    error: another draft waits at the gate of this checkout: HASH8

    hint: `steadfast plan reject HASH8` turns that one down first
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn a_session_that_is_at_work_is_told_the_next_time() {
    let sandbox = proposed();
    let lock = fs::File::open(sandbox.session("me").dir().join("lock")).unwrap();
    lock.lock().unwrap();
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "unlock"])), @r"
    exit 1
    error: another process holds the lock of session me

    hint: a hook of this session is at work; try again in a moment
    ");
    lock.unlock().unwrap();
    sandbox.ok(&["plan", "unlock"]);
    assert_eq!(sandbox.fails(&["plan", "status"]).0, 1, "it is open");
}

#[test]
fn a_marker_that_cannot_be_removed_is_said() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["plan", "lock"]);
    // A folder in the marker's place: nobody removes that like a file, not even root.
    let marker = fs::read_dir(&sandbox.markers()[0]).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&marker).unwrap();
    fs::create_dir(&marker).unwrap();
    assert_eq!(sandbox.position()["gate"], "locked");
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "unlock"])), @r"
    exit 1
    error: the marker of the gate cannot be removed: Is a directory (os error 21)

    hint: see to it that what is in `/repo/.git/steadfast/gates` can be removed, and try again: what was done is not done twice
    ");
}

#[test]
fn the_same_plan_in_another_worktree_is_approved_there() {
    let sandbox = proposed();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(sandbox.root());
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["add", "SPEC.md"]);
    git(&["commit", "--quiet", "-m", "x"]);
    git(&["worktree", "add", "--quiet", "../side"]);
    let there = || {
        let mut command = sandbox.command();
        command.current_dir(sandbox.root().join("../side"));
        command
    };
    assert!(there().args(["plan", "propose", "SPEC.md", "--path", "PLAN.md"]).status().unwrap().success());
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: draft `HASH8` was proposed again in `/side`, and would be written there

    hint: `steadfast plan propose FILE` proposes it here; or approve it there
    ");
    assert!(there().args(["plan", "approve", "--yes"]).status().unwrap().success());
    assert!(sandbox.root().join("../side/PLAN.md").exists() && !sandbox.root().join("PLAN.md").exists());
    assert_eq!(sandbox.position()["gate"], "locked", "it waits here, too");
}
