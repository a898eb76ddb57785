//! A hook that runs out of time at a closed gate.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// Where reading a marker never ends, as on a file system that hangs, even the answer in its place runs out of time.
#[test]
fn a_hook_that_runs_out_of_time_twice_denies_where_a_marker_stands() {
    let sandbox = proposed_by("s-1");
    let [within, beside] = sandbox.markers();
    for folder in [&within, &beside] {
        for marker in fs::read_dir(folder).unwrap().flatten() {
            fs::remove_file(marker.path()).unwrap();
            assert!(Command::new("mkfifo").arg(marker.path()).status().unwrap().success());
        }
    }
    let ask = |event: &str, session: &str| {
        let began = Instant::now();
        let mut command = sandbox.command();
        command.args(["hook", "--host", "claude", "--via", "local", event]).env("CLAUDE_CODE_SESSION_ID", session);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        String::from_utf8(output.stdout).unwrap()
    };
    let said = ask("PreToolUse", "s-1");
    assert!(said.contains(r#""permissionDecision":"deny""#) && said.contains("cannot be read"), "{said}");
    assert_eq!(ask("PostToolUse", "s-1"), "", "after a tool nothing is to be refused");
}

fn proposed_by(session: &str) -> Sandbox {
    let sandbox = with_spec();
    sandbox.hook("SessionStart", session, json!({"source": "startup"}));
    let mut command = sandbox.command();
    command.args(["plan", "propose", "SPEC.md"]).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    sandbox
}
