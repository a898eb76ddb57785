//! The ledger, git or the disk fail in the middle of a run: it pauses, and nobody's attempt has failed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use steadfast_testkit::wait_for;

use crate::run::{progress, task, with_spec};
use crate::sandbox::Sandbox;

const RUN: [&str; 4] = ["run", "SPEC.json", "--host", "sim"];

/// One unit with this check.
fn with_check(check: &str) -> Sandbox {
    with_spec(&[("1", &[], vec![task("1.1", check)])])
}

fn begin(sandbox: &Sandbox) -> Child {
    sandbox.command().args(RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// It exits with 3 for this reason, and the unit waits as if nobody had been sent to it.
fn is_paused(sandbox: &Sandbox, output: &Output, why: &str) {
    let said = sandbox.without_paths(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains(" is paused: ") && said.contains(why), "{said}");
    let progress = progress(sandbox);
    assert_eq!(progress["state"], "paused", "{progress}");
    is_no_attempt(&progress);
}

fn is_no_attempt(progress: &Value) {
    let unit = progress["units"].as_array().unwrap().iter().find(|unit| unit["id"] == "1.1").unwrap();
    assert_eq!((&unit["status"], &unit["attempts"], &unit["stuck"]), (&"waiting".into(), &0.into(), &0.into()));
}

fn resumes(sandbox: &Sandbox) {
    let report = sandbox.ok(&["resume", "--host", "sim"]);
    assert!(report.contains("complete\n2 of 2 tasks done"), "{report}");
}

#[test]
fn a_ledger_that_is_locked_while_a_check_ends() {
    // The agent's own call of the check fails, and so does the trial before any work: what is looked at is the runner's.
    let sandbox = with_check(
        r#"case "$STEADFAST_RUN_MARK" in */*) exit 1;; esac; test -s 1.1.txt || exit 1; touch "$HOME/checks"
while test -e "$HOME/hold"; do sleep 0.02; done; test -s 1.1.txt"#,
    );
    let (checks, hold) = (sandbox.home().join("checks"), sandbox.home().join("hold"));
    fs::write(&hold, "").unwrap();
    let runner = begin(&sandbox);
    wait_for("the check of the unit", || if checks.exists() { Ok(()) } else { Err("no file".to_owned()) });
    let other = rusqlite::Connection::open(sandbox.place().state.join("state.db")).unwrap();
    other.busy_timeout(Duration::from_secs(10)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    fs::remove_file(&hold).unwrap();
    // Longer than the supervisor of the check, the executor and the dispatcher wait for it, each for 3 s.
    let until = Instant::now() + Duration::from_secs(9);
    let released = std::thread::spawn(move || {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        other.execute_batch("ROLLBACK").unwrap();
    });
    let output = runner.wait_with_output().unwrap();
    released.join().unwrap();
    is_paused(&sandbox, &output, "the ledger `/repo/.git/steadfast/state.db` is locked by another process");
    resumes(&sandbox);
}

/// A `git` that fails while a file is there.
fn failing_git(sandbox: &Sandbox) -> std::path::PathBuf {
    let (bin, fails) = (sandbox.home().parent().unwrap().join("bin"), sandbox.home().join("git-fails"));
    fs::create_dir_all(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nif test -e '{}'; then echo 'fatal: no more git' >&2; exit 128; fi\nexec {} \"$@\"\n",
        fails.display(),
        ["/usr/bin/git", "/bin/git"].into_iter().find(|git| Path::new(git).exists()).unwrap(),
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    fails
}

#[test]
fn a_git_that_fails_once_a_check_has_passed() {
    let sandbox = with_check(r#"test -s 1.1.txt && { test -e "$HOME/once" || touch "$HOME/once" "$HOME/git-fails"; }"#);
    let fails = failing_git(&sandbox);
    let output = begin(&sandbox).wait_with_output().unwrap();
    assert!(fails.exists(), "the check did not run");
    fs::remove_file(&fails).unwrap();
    is_paused(&sandbox, &output, "no more git");
    resumes(&sandbox);
}

/// Where worktrees are, there is room for a run to begin, and none left when its check ran.
const FILLED: &str = r#"mkdir -p "$HOME/.local/state" && mount -t tmpfs -o size=80m tmpfs "$HOME/.local/state" || exit 90
"$0" "$@"
echo "first: $?" >&2
"$0" progress --json
rm -f "$HOME/.local/state/ballast"
touch "$HOME/room"
exec "$0" resume --host sim"#;

#[test]
fn a_disk_that_is_full_while_a_check_runs() {
    let sandbox = with_check(
        r#"test -s 1.1.txt || exit 1; test -e "$HOME/room" || { cat /dev/zero > "$HOME/.local/state/ballast"; echo no room; exit 1; }"#,
    );
    let Some(output) = sandbox.elsewhere(FILLED, &RUN) else { return };
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), sandbox.without_paths(&output.stderr));
    assert!(said.contains("first: 3\n"), "{said}\n{printed}");
    assert!(
        said.contains("is paused: the check of task `1.1` gave no result: ") && said.contains(" is nearly full"),
        "{said}"
    );
    let progress = printed.lines().find(|line| line.starts_with('{')).unwrap();
    is_no_attempt(&serde_json::from_str(progress).unwrap());
    assert!(printed.contains("complete\n2 of 2 tasks done"), "{printed}\n{said}");
}
