//! Words that say nothing or too much, and a session that cannot be told.

use std::fs;

use serde_json::json;

use super::fails;
use crate::sandbox::Sandbox;

#[test]
fn a_decision_without_a_reason() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    insta::assert_snapshot!(fails(&sandbox, &["decide", "Keep it", "--why", ""]), @r"
    exit 64
    error: the decision or its reason (`--why`) is empty

    hint: `steadfast decide TEXT --why REASON` records it for later sessions
    ");
}

#[test]
fn a_decision_that_is_too_long() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let long = "x".repeat(1_001);
    insta::assert_snapshot!(fails(&sandbox, &["decide", &long, "--why", "because"]), @r"
    exit 64
    error: a decision has 1001 characters; the limit is 1000

    hint: put the whole text into a file and name the file; for a task: `--file PATH`
    ");
    insta::assert_snapshot!(fails(&sandbox, &["decide", "Keep it", "--why", &long]), @r"
    exit 64
    error: the reason for a decision has 1001 characters; the limit is 1000

    hint: put the whole text into a file and name the file; for a task: `--file PATH`
    ");
}

#[test]
fn a_session_that_was_not_told_loses_nothing_but_time() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    assert!(sandbox.as_agent("s-1", &["task", "start", "1"]).status.success());
    let lock = fs::File::open(sandbox.session("s-1").dir().join("lock")).unwrap();
    lock.lock().unwrap();
    sandbox.ok(&["task", "done", "1"]);
    let log = fs::read_to_string(sandbox.place().state.join("hook.log")).unwrap();
    let lines: Vec<&str> = log.lines().map(|line| &line[21..]).collect();
    insta::assert_snapshot!(lines.join("\n"), @"cannot tell session s-1 about task 1: another process holds the lock of session s-1");
}

#[test]
fn a_server_that_a_human_calls() {
    let sandbox = Sandbox::new();
    // The end of its input is typed: `^D`.
    let (code, said) = sandbox.at_terminal("mcp", "\n", "\u{4}");
    assert_eq!(code, 0, "{said}");
    insta::assert_snapshot!(said.replace("^D\u{8}\u{8}", "").trim_end(), @r"
    `steadfast mcp` reads JSON-RPC, one message per line; people use
      `steadfast task`
    ");
}
