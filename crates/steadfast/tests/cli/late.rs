//! A hook that takes too long: it answers all the same, once, and in time.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use steadfast_testkit::wait_for;

use crate::sandbox::Sandbox;

/// The bound is 950 ms; the rest is for a machine with other work. Without a bound these hooks wait for ever.
const IN_TIME: Duration = Duration::from_secs(30);

/// A repository behind a closed gate.
fn gated() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["plan", "lock"]);
    sandbox
}

/// A hook whose host keeps the pipe open and writes nothing.
fn waiting(sandbox: &Sandbox, event: &str) -> Child {
    let mut command = sandbox.command();
    command.args(["hook", "--host", "claude", "--via", "local", event]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What it came to, with the pipe open to the end.
fn ended(mut hook: Child) -> Output {
    let (began, pipe) = (Instant::now(), hook.stdin.take());
    let output = hook.wait_with_output().unwrap();
    drop(pipe);
    assert!(began.elapsed() < IN_TIME, "{:?}", began.elapsed());
    assert!(output.status.success(), "{output:?}");
    output
}

/// One answer, which refuses.
fn is_denied(output: &Output) -> bool {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

#[test]
fn before_a_tool_and_behind_a_closed_gate_it_refuses() {
    let sandbox = gated();
    assert!(is_denied(&ended(waiting(&sandbox, "PreToolUse"))));
    let log = fs::read_to_string(sandbox.place().state.join("hook.log")).unwrap();
    assert!(log.trim_end().ends_with("claude local PreToolUse: no answer within 950 ms"), "{log}");
}

#[test]
fn elsewhere_it_says_nothing() {
    let sandbox = gated();
    for event in ["PostToolUse", "Stop", "UserPromptSubmit"] {
        assert_eq!(ended(waiting(&sandbox, event)).stdout, b"", "{event}");
    }
    let open = Sandbox::new();
    assert_eq!(ended(waiting(&open, "PreToolUse")).stdout, b"");
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_was_removed_meanwhile_answers() {
    let sandbox = gated();
    let hook = waiting(&sandbox, "PreToolUse");
    // It has to be past its own start: it hears the alarm then. Where this comes too late, it has answered.
    wait_for("a hook that has set its alarm", || {
        let status = fs::read_to_string(format!("/proc/{}/status", hook.id())).map_err(|error| error.to_string())?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let heard = u64::from_str_radix(field("SigCgt:"), 16).unwrap_or_default();
        let is_set = heard & 1 << (rustix::process::Signal::ALARM.as_raw() - 1) != 0;
        if is_set || field("State:").starts_with('Z') { Ok(()) } else { Err(status.clone()) }
    });
    fs::remove_file(sandbox.binary()).unwrap();
    assert!(is_denied(&ended(hook)));
}

#[test]
#[cfg(target_os = "linux")]
fn a_host_that_does_not_hear_the_signal_is_answered() {
    let sandbox = gated();
    for how in ["--block-signal=ALRM", "--ignore-signal=ALRM"] {
        let mut env = Command::new("env");
        env.args([how, "--"]).arg(sandbox.binary()).args(["hook", "--host", "claude", "--via", "local", "PreToolUse"]);
        env.current_dir(sandbox.root()).env_clear().env("HOME", sandbox.home());
        let hook = env.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(is_denied(&ended(hook)), "{how}");
    }
}

/// Nobody writes to it, so opening it waits.
#[test]
fn settings_that_hang_are_not_waited_for() {
    let sandbox = gated();
    let pipe = sandbox.place().state.join("steadfast.toml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let payload = serde_json::json!({
        "session_id": "s-1",
        "cwd": sandbox.root(),
        "tool_name": "Edit",
        "tool_input": {"file_path": "a"},
    });
    assert!(is_denied(&ended(sandbox.start_hook("PreToolUse", &payload))));
}
