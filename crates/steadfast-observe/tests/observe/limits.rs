//! Git that is absent, old, slow or led astray.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_observe::{Point, TOOL_EVENT};
use steadfast_testkit::wait_for;

use crate::again::{ask, ask_with};
use crate::sandbox::{LONG, Sandbox, command, unknown};

impl Sandbox {
    /// A folder for the PATH in which `git` is this script.
    fn with_git(&self, script: &str) -> PathBuf {
        let dir = self.dir.path().join("bin");
        fs::create_dir(&dir).unwrap();
        // Another process writes it: what this one has open for writing, a child that another test just forked has too,
        // and then it cannot be executed.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
        assert!(command("sh").args(["-c", write]).arg(dir.join("git")).arg(script).status().unwrap().success());
        dir
    }
}

#[test]
fn without_git_a_branch_is_still_read_and_the_rest_is_unknown() {
    let sandbox = Sandbox::new();
    let answers = ask(&sandbox.root, LONG, &[("PATH", Path::new("/nowhere"))]);
    assert_eq!(answers[..2], [r#"Known(Named("main"))"#, r#"Unknown("`git` is not on the PATH")"#]);
}

#[test]
fn an_old_git_is_named() {
    let sandbox = Sandbox::new();
    let script = "[ \"$1\" = --version ] && echo git version 2.20.1 && exit\necho unknown option >&2; exit 129";
    let path = sandbox.with_git(script);
    let answers = ask(&sandbox.root, LONG, &[("PATH", path.as_ref())]);
    assert_eq!(answers[1], r#"Unknown("git 2.20.1 is too old; Steadfast needs 2.34 or newer")"#);
}

#[test]
fn what_git_says_when_it_fails_is_the_reason() {
    let sandbox = Sandbox::new();
    sandbox.write(".git/index", "damaged");
    let why = unknown(sandbox.repository().changed_since(&Point::Head, LONG));
    assert!(why.starts_with("`git status` failed: ") && why.contains("index"), "{why}");
}

/// For a git that writes down who it is and hangs, on any machine.
const ENOUGH_TO_HANG: Duration = Duration::from_secs(2);

#[test]
fn a_git_that_hangs_is_ended_with_all_it_started() {
    let sandbox = Sandbox::new();
    let pids = sandbox.dir.path().join("pids");
    let script = format!("/bin/sleep 600 & echo $! $$ > {}; wait", pids.display());
    let path = sandbox.with_git(&script);
    let path = format!("{}:/bin:/usr/bin", path.display());
    let answers = ask(&sandbox.root, ENOUGH_TO_HANG, &[("PATH", path.as_ref())]);
    assert_eq!(answers[1], r#"Unknown("no answer within 2000 ms")"#);
    let took: u64 = answers[2].parse().unwrap();
    assert!((2_000..60_000).contains(&took), "{took} ms");
    assert_dead(&fs::read_to_string(pids).unwrap());
}

#[test]
fn a_git_that_hangs_is_ended_where_no_shell_is_found() {
    let sandbox = Sandbox::new();
    let pids = sandbox.dir.path().join("pids");
    let path = sandbox.with_git(&format!("echo $$ > {}; exec /bin/sleep 600", pids.display()));
    let answers = ask(&sandbox.root, ENOUGH_TO_HANG, &[("PATH", path.as_ref())]);
    assert_eq!(answers[1], r#"Unknown("no answer within 2000 ms")"#);
    assert_dead(&fs::read_to_string(pids).unwrap());
}

fn assert_dead(pids: &str) {
    for pid in pids.split_whitespace() {
        wait_for("the end of a process", || if alive(pid) { Err(format!("{pid} alive")) } else { Ok(()) });
    }
}

/// Neither gone nor only waiting to be buried.
fn alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn a_git_that_leaves_somebody_behind_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let pid = sandbox.dir.path().join("pid");
    let path = sandbox.with_git(&format!("/bin/sleep 600 >/dev/null & echo $! > {}; exit 0", pid.display()));
    let answers = ask(&sandbox.root, LONG, &[("PATH", path.as_ref())]);
    let pid = fs::read_to_string(pid).unwrap();
    let is_left = alive(pid.trim());
    command("kill").arg(pid.trim()).status().unwrap();
    assert_eq!((answers[1].as_str(), is_left), ("Known([])", true));
}

#[test]
fn a_git_that_cannot_be_watched_is_not_believed() {
    let sandbox = Sandbox::new();
    // Where the end of a child is of no interest to its parent, how it ended is told to nobody.
    let answers = ask_with("--ignore-signal=CHLD", &sandbox.root);
    assert_eq!(answers[1], r#"Unknown("cannot start or watch a thread or process: No child processes (os error 10)")"#);
}

#[test]
fn an_endless_answer_is_none() {
    let sandbox = Sandbox::new();
    let path = sandbox.with_git("/usr/bin/head -c 68000000 /dev/zero");
    let answers = ask(&sandbox.root, LONG, &[("PATH", path.as_ref())]);
    assert_eq!(answers[1], r#"Unknown("the output is too long or cannot be read")"#);
}

#[test]
fn an_answer_that_makes_no_sense_is_named_with_its_beginning() {
    let sandbox = Sandbox::new();
    let path = sandbox.with_git("echo good morning");
    let answers = ask(&sandbox.root, LONG, &[("PATH", path.as_ref())]);
    assert_eq!(answers[1], r#"Unknown("cannot read the output of `git status`: good morning")"#);
}

#[test]
fn a_spent_budget_starts_nothing() {
    let sandbox = Sandbox::new();
    let repository = sandbox.repository();
    let over = "no answer within 0 ms";
    assert_eq!(unknown(repository.changed_since(&Point::Head, Duration::ZERO)), over);
    assert_eq!(unknown(repository.object_ids(&["a.txt"], Duration::ZERO)), over);
    assert_eq!(unknown(repository.tree_id(&sandbox.private_dir(), Duration::ZERO)), over);
}

#[test]
fn the_budget_of_a_tool_event_leaves_room_below_its_limit() {
    assert!(TOOL_EVENT + Duration::from_millis(25) < Duration::from_millis(150));
}

#[test]
fn variables_that_point_elsewhere_are_not_followed() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    sandbox.write("new.txt", "");
    let elsewhere = [
        ("GIT_DIR", &*other.root.join(".git")),
        ("GIT_WORK_TREE", &other.root),
        ("GIT_INDEX_FILE", Path::new("/nowhere/index")),
        ("GIT_LITERAL_PATHSPECS", Path::new("1")),
    ];
    let answers = ask(&sandbox.root, LONG, &elsewhere);
    assert_eq!(answers[1], r#"Known([ChangedFile { path: "new.txt", kind: Added }])"#);
}

#[test]
fn settings_of_the_user_do_not_change_an_answer() {
    let sandbox = Sandbox::new();
    for setting in [
        "status.showUntrackedFiles=no",
        "status.renames=copies",
        "status.branch=true",
        "color.ui=always",
        "status.showStash=true",
        "status.relativePaths=true",
        "status.submoduleSummary=true",
        "core.pager=false",
    ] {
        let (name, value) = setting.split_once('=').unwrap();
        sandbox.git(&["config", name, value]);
    }
    sandbox.git(&["mv", "a.txt", "c.txt"]);
    sandbox.write("new.txt", "");
    let changes = sandbox.changed(&Point::Head).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    assert_eq!(changes, ["a.txt", "c.txt", "new.txt"]);
}
