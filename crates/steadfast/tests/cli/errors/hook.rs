//! A hook that is called wrongly, or with something that cannot be read.

use std::fs;
use std::process::Stdio;

use serde_json::json;
use steadfast_model::{Gate, GateScope, Millis, SessionId};
use steadfast_store::close_gate;

use super::{fails, without_threads};
use crate::sandbox::Sandbox;

#[test]
fn a_call_that_is_not_understood() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(fails(&sandbox, &["hook"]), @r"
    exit 64
    steadfast hook: `--host` is missing, expected `steadfast hook --host HOST --via WIRING EVENT`
    ");
    insta::assert_snapshot!(fails(&sandbox, &["hook", "--host"]), @r"
    exit 64
    steadfast hook: `HOST` is missing, expected `steadfast hook --host HOST --via WIRING EVENT`
    ");
    insta::assert_snapshot!(fails(&sandbox, &["hook", "--host", "emacs"]), @r"
    exit 64
    steadfast hook: unknown host `emacs`, expected `claude`, `codex` or `sim`
    ");
    insta::assert_snapshot!(fails(&sandbox, &["hook", "--host", "claude", "--via", "wire", "Stop"]), @"
    exit 64
    steadfast hook: unknown wiring `wire`, expected `local`, `project`, `user`, `plugin`, `run` or `proxy`
    ");
    insta::assert_snapshot!(fails(&sandbox, &["hook", "--host", "claude", "--via", "local"]), @r"
    exit 64
    steadfast hook: `EVENT` is missing, expected `steadfast hook --host HOST --via WIRING EVENT`
    ");
    insta::assert_snapshot!(fails(&sandbox, &["hook", "--host", "claude", "--via", "local", "Stop", "Stop"]), @r"
    exit 64
    steadfast hook: `Stop` is unexpected, expected `steadfast hook --host HOST --via WIRING EVENT`
    ");
}

/// Calls a hook that reads this; what it answers.
fn call(sandbox: &Sandbox, event: &str, stdin: impl Into<Stdio>) -> String {
    let mut command = sandbox.command();
    command.args(["hook", "--host", "claude", "--via", "local", event]);
    let output = command.stdin(stdin).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_event_that_cannot_be_read_is_logged_and_holds_nobody_up() {
    let sandbox = Sandbox::new();
    let payload = sandbox.home().join("payload");
    let texts = ["", "[]", "{", "{}", r#"{"session_id": 7}"#];
    for text in texts {
        fs::write(&payload, text).unwrap();
        assert_eq!(call(&sandbox, "Stop", fs::File::open(&payload).unwrap()), "", "{text}");
    }
    fs::write(&payload, r#"{"session_id": "s-1"}"#).unwrap();
    assert_eq!(call(&sandbox, "Sunrise", fs::File::open(&payload).unwrap()), "");
    assert_eq!(call(&sandbox, "Stop", fs::File::open(sandbox.root()).unwrap()), "");
    let log = fs::read_to_string(sandbox.place().state.join("hook.log")).unwrap();
    let lines: Vec<&str> = log.lines().map(|line| &line[21..]).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    claude local Stop: the payload is empty
    claude local Stop: the payload is not a JSON object
    claude local Stop: the payload is not a JSON object: EOF while parsing an object at line 1 column 1
    claude local Stop: the payload has no valid `session_id`
    claude local Sunrise: unknown event `Sunrise`
    claude local Stop: cannot read the payload: Is a directory (os error 21)
    ");
}

#[test]
fn a_claim_that_cannot_be_left_is_logged_and_holds_nobody_up() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.place().state.join("claims"), "a file").unwrap();
    let call = json!({"tool_name": "Bash", "tool_use_id": "c-1", "tool_input": {"command": "steadfast task done 1"}});
    assert_eq!(sandbox.hook("PreToolUse", "s-1", call), "");
    let log = fs::read_to_string(sandbox.place().state.join("hook.log")).unwrap();
    assert!(log.contains(" session s-1: cannot store the claim of a call: File exists"), "{log}");
}

#[test]
fn at_a_closed_gate_a_call_that_cannot_be_read_is_denied_with_the_reason() {
    let sandbox = Sandbox::new();
    let scope = GateScope::Session(SessionId::new("s-1"));
    let gate = Gate::new(scope, "The plan is not approved.", Millis(0));
    close_gate(&sandbox.place(), &gate).unwrap();
    insta::assert_snapshot!(call(&sandbox, "PreToolUse", Stdio::null()), @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The plan is not approved. (steadfast could not look at this call: the payload is empty)"}}"#);
    let marker = fs::read_dir(sandbox.place().state.join("gates")).unwrap().next().unwrap().unwrap().path();
    fs::write(marker, "garbage").unwrap();
    insta::assert_snapshot!(call(&sandbox, "PreToolUse", Stdio::null()), @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a gate is closed, and its marker cannot be read (steadfast could not look at this call: the payload is empty)"}}"#);
}

/// It needs none: what it says is what it says elsewhere.
#[test]
fn a_machine_on_which_no_thread_can_be_started() {
    let sandbox = Sandbox::new();
    let scope = GateScope::Session(SessionId::new("s-1"));
    let gate = Gate::new(scope, "The plan is not approved.", Millis(0));
    close_gate(&sandbox.place(), &gate).unwrap();
    let output = without_threads(&sandbox, &["hook", "--host", "claude", "--via", "local", "PreToolUse"]);
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The plan is not approved. (steadfast could not look at this call: the payload is empty)"}}"#);
}
