//! The hook lines as a host runs them, with and without their `args`.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What a shell would run, had it this text to read.
const LURES: &str = "it costs $(touch LURED) `touch LURED` \"'\n; touch LURED; #\n";

fn line(sandbox: &Sandbox, file: &str, event: &str) -> (String, Option<Vec<String>>) {
    let settings: Value = serde_json::from_slice(&fs::read(sandbox.root().join(file)).unwrap()).unwrap();
    let handler = &settings["hooks"][event][0]["hooks"][0];
    let args = handler["args"].as_array().map(|args| args.iter().map(|arg| arg.as_str().unwrap().to_owned()).collect());
    (handler["command"].as_str().unwrap().to_owned(), args)
}

fn feed(sandbox: &Sandbox, mut command: Command, payload: &str) -> Output {
    let path = format!("{}:/usr/bin:/bin", sandbox.binary().parent().unwrap().display());
    command.current_dir(sandbox.root()).env_clear().env("HOME", sandbox.home()).env("PATH", path);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(payload.as_bytes());
    child.wait_with_output().unwrap()
}

fn payload(sandbox: &Sandbox) -> String {
    json!({"session_id": "s", "cwd": sandbox.root(), "tool_name": "Bash", "tool_use_id": "1",
        "tool_input": {"command": "rm -rf .git/steadfast", "description": LURES}})
    .to_string()
}

#[test]
fn a_line_means_the_same_with_and_without_args_and_runs_nothing_of_the_payload() {
    for (scope, file) in [(None, ".claude/settings.local.json"), (Some("--shared"), ".claude/settings.json")] {
        let sandbox = Sandbox::bare();
        let words = ["init", "--host", "claude", "--yes"].into_iter().chain(scope);
        sandbox.ok(&words.collect::<Vec<_>>());
        let (command, args) = line(&sandbox, file, "PreToolUse");
        assert!(args.is_none_or(|args| args.is_empty()));
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]);
        let mut said = vec![feed(&sandbox, shell, &payload(&sandbox))];
        if scope.is_none() {
            said.push(feed(&sandbox, Command::new(&command), &payload(&sandbox)));
        }
        for output in said {
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success() && text.contains(r#""permissionDecision":"deny""#), "{file}: {text}");
        }
        assert!(!sandbox.root().join("LURED").exists());
    }
}

#[test]
fn a_shared_line_says_nothing_where_steadfast_is_missing() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "claude", "--yes", "--shared"]);
    let (command, _) = line(&sandbox, ".claude/settings.json", "PreToolUse");
    let mut shell = Command::new("/usr/bin/env");
    shell.args(["PATH=/usr/bin:/bin", "sh", "-c", &command]);
    let output = feed(&sandbox, shell, &payload(&sandbox));
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn a_payload_without_words_is_let_go_in_silence_and_nothing_else_is() {
    let sandbox = Sandbox::new();
    let bare = |text: &str| feed(&sandbox, Command::new(sandbox.binary()), text);
    let output = bare(&payload(&sandbox));
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    for text in ["", "hello"] {
        let output = bare(text);
        assert_eq!(output.status.code(), Some(64), "{text:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: steadfast"), "{text:?}");
    }
}

#[test]
fn a_payload_whose_pipe_stays_open_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let mut child = Command::new(sandbox.binary())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"session_id\":").unwrap();
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

/// Its own name says the event, so a closed gate is answered for also where the payload cannot be read.
#[test]
fn at_a_closed_gate_a_link_denies_what_it_cannot_read() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["plan", "lock"]);
    let (command, _) = line(&sandbox, ".claude/settings.local.json", "PreToolUse");
    let output = feed(&sandbox, Command::new(command), "no JSON");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""permissionDecision":"deny""#), "{text}");
    let (command, _) = line(&sandbox, ".claude/settings.local.json", "Stop");
    let output = feed(&sandbox, Command::new(command), "no JSON");
    assert_eq!(output.stdout, b"");
}

#[test]
fn another_program_name_before_the_link_does_not_matter() {
    let sandbox = Sandbox::new();
    let (command, _) = line(&sandbox, ".claude/settings.local.json", "PreToolUse");
    let mut renamed = Command::new(sandbox.binary());
    renamed.arg0(command);
    let text = String::from_utf8(feed(&sandbox, renamed, &payload(&sandbox)).stdout).unwrap();
    assert!(text.contains(r#""permissionDecision":"deny""#), "{text}");
}
