//! `~` in a command line is the home that the hook knows.

use std::io::Write;
use std::process::Stdio;

use super::*;

#[test]
fn a_path_from_home_is_the_path_it_stands_for() {
    let sandbox = proposed();
    let home = sandbox.root().parent().unwrap().canonicalize().unwrap();
    let said = |command: &str| {
        let call = json!({
            "session_id": "me",
            "cwd": sandbox.root(),
            "tool_name": "Bash",
            "tool_use_id": command,
            "tool_input": {"command": command}
        });
        let mut hook = sandbox.command();
        hook.args(["hook", "--host", "claude", "--via", "local", "PreToolUse"]).env("HOME", &home);
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    for command in [
        "echo x > ~/repo/PLAN.md",
        "tee \"$HOME/repo/PLAN.md\"",
        "cd ~ && rm -f repo/PLAN.md",
        "touch '~/repo/PLAN.md'",
    ] {
        let said = said(command);
        assert!(said.contains("\"permissionDecision\":\"deny\""), "{command}: {said}");
    }
    let said = said("echo x > ~/repo/other.md");
    assert!(!said.contains("deny"), "{said}");
}
