//! Commands whose output nobody takes: a full disk is a failure that is named, a reader that went away is none.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::sandbox::Sandbox;

/// Every command that tells something, with what it needs to have something to tell. Those that change something come
/// in an order in which each still has something to change.
const COMMANDS: [&[&str]; 40] = [
    &["--help"],
    &["--version"],
    &["task", "--help"],
    &["status"],
    &["status", "--json"],
    &["task", "list"],
    &["task", "list", "--json"],
    &["task", "ready"],
    &["task", "next"],
    &["task", "show", "1"],
    &["plan", "status"],
    &["plan", "show"],
    &["plan", "show", "--json"],
    &["why"],
    &["why", "--json"],
    &["log"],
    &["log", "--json"],
    &["config", "show"],
    &["config", "show", "--json"],
    &["config", "schema"],
    &["doctor"],
    &["doctor", "--json"],
    &["clean"],
    &["completions", "bash"],
    &["resume", "--print"],
    &["init", "--host", "codex", "--dry-run"],
    &["init", "--host", "claude", "--yes"],
    &["uninstall", "--dry-run"],
    &["task", "add", "More"],
    &["task", "note", "1", "Seen."],
    &["learn", "add", "It is so"],
    &["learn", "list"],
    &["learn", "list", "--json"],
    &["recall", "so", "--json"],
    &["loop", "score", "I want a dark mode."],
    &["loop", "start", "--fresh", "Print `--since` in src/log.rs so that people see it. Do not commit."],
    &["loop", "status"],
    &["loop", "status", "--json"],
    &["loop", "next"],
    &["loop", "start", "--resume"],
];

/// A repository in which each of them has something to say.
fn with_something_to_tell() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Do the tasks."}));
    assert!(sandbox.stop_is_refused("s-1"));
    sandbox
}

#[test]
fn a_full_disk_is_named_and_no_panic() {
    let sandbox = with_something_to_tell();
    for arguments in
        COMMANDS.iter().copied().chain([&["off"] as &[&str], &["pause"], &["pause", "--end"], &["uninstall"]])
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = sandbox.command().args(arguments).stdout(full).output().unwrap();
        let said = sandbox.without_paths(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        let (message, hint) = (
            "cannot write to standard output: No space left on device (os error 28)",
            "free disk space or redirect the output; `steadfast status` shows the current state",
        );
        let expected = if arguments.contains(&"--json") {
            let error = serde_json::json!({"kind": "failure", "message": message, "hints": [hint]});
            serde_json::json!({"error": error}).to_string() + "\n"
        } else {
            format!("error: {message}\n\nhint: {hint}\n")
        };
        assert!(said.ends_with(&expected), "{arguments:?}: {said}");
    }
}

#[test]
fn where_not_even_the_complaint_can_be_written_the_exit_code_says_it() {
    let sandbox = with_something_to_tell();
    for arguments in [&["status"] as &[&str], &["task", "list"], &["doctor"], &["log", "--policy", "completion"]] {
        let full = || fs::File::options().write(true).open("/dev/full").unwrap();
        let status = sandbox.command().args(arguments).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
    }
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.command().args(["init", "--host", "claude", "--dry-run"]).stderr(full).output().unwrap();
    assert!(output.status.success(), "a note that cannot be written is no failure: {output:?}");
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let sandbox = with_something_to_tell();
    for arguments in COMMANDS {
        // A pipe whose reader has ended.
        let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let pipe = reader.stdin.take().unwrap();
        assert!(reader.wait().unwrap().success());
        let output = sandbox.command().args(arguments).stdout(pipe).output().unwrap();
        let said = sandbox.without_paths(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        assert!(!said.contains("error:"), "{arguments:?}: {said}");
    }
    assert!(sandbox.ok(&["task", "list"]).contains("More"), "what was asked for was done");
}
