//! Long commands and prompts are read to their end; of what is read, a bounded part is stored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use serde_json::json;
use steadfast_hook::{HookCall, HookEnvironment, answer};
use steadfast_model::{Gate, GateScope, Host, Millis, SessionId, Via};
use steadfast_store::{Place, SessionFiles, close_gate};

struct Session {
    dir: tempfile::TempDir,
    place: Place,
    host: Host,
}

impl Session {
    fn new(host: Host) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let place = Place::of(dir.path(), None).unwrap();
        place.create().unwrap();
        Self { dir, place, host }
    }

    fn say(&self, event: &str, mut payload: serde_json::Value, attended: bool) -> String {
        payload["session_id"] = json!("s-1");
        payload["cwd"] = json!(self.dir.path());
        let bare = HookEnvironment::bare(Millis(1_000), self.dir.path().to_owned());
        let around = HookEnvironment { attended: Some(attended), ..bare };
        let call = HookCall { host: self.host, via: Via::Local, event: event.into() };
        answer(&call, &around, payload.to_string().as_bytes()).said.unwrap_or_default()
    }

    fn prompt(&self, text: &str) -> String {
        self.say("UserPromptSubmit", json!({"prompt": text}), true)
    }

    fn run(&self, command: &str) -> String {
        self.say("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": command}}), true)
    }

    fn stored(&self) -> u64 {
        let files = SessionFiles::of(&self.place, &SessionId::new("s-1"));
        let folder = fs::read_dir(files.dir()).unwrap();
        folder.flatten().map(|file| file.metadata().unwrap().len()).sum()
    }
}

fn heredoc(bytes: usize, then: &str) -> String {
    let line = "a line of a note that goes on and on\n";
    format!("cat > notes.txt <<'EOF'\n{}EOF\n{then}", line.repeat(bytes / line.len()))
}

fn log_of(bytes: usize) -> String {
    let line = "2026-01-02T03:04:05Z ERROR worker-7 src/queue/drain.rs:118 connection reset, retry 3 of 5\n";
    line.repeat(bytes / line.len())
}

#[test]
fn a_commit_behind_a_long_heredoc_is_refused_and_little_of_it_is_stored() {
    for host in [Host::Claude, Host::Codex] {
        for bytes in [17 << 10, 200 << 10, 1_000 << 10] {
            let session = Session::new(host);
            session.prompt("Fix the bug. Don't commit.");
            let said = session.run(&heredoc(bytes, "git add -A; git commit -qm x"));
            assert!(said.contains("\"deny\"") && said.contains("Don't commit"), "{host:?} {bytes}: {said}");
            assert!(session.stored() < 100 << 10, "{host:?} {bytes}: {}", session.stored());
        }
    }
}

#[test]
fn what_a_prompt_forbids_is_heard_wherever_it_stands() {
    for bytes in [20 << 10, 900 << 10] {
        for prompt in [
            format!("{}\nFix it. Don't commit.", log_of(bytes)),
            format!("Don't commit. Fix it:\n{}", log_of(bytes)),
            format!("{}\nFix it. Don't commit.\n{}", log_of(bytes / 2), log_of(bytes / 2)),
            format!(
                "```\n{}```\nFix it, and do not commit anything.\n```\n{}```",
                log_of(bytes / 2),
                log_of(bytes / 2)
            ),
            format!("```\n{}\nFix it. Don't commit.", log_of(bytes)),
        ] {
            let session = Session::new(Host::Claude);
            session.prompt(&prompt);
            assert!(session.run("git commit -m x").contains("\"deny\""), "{bytes}: {}", &prompt[..40]);
            assert!(session.stored() < 100 << 10, "{}", session.stored());
        }
    }
}

#[test]
fn a_pasted_log_forbids_and_lifts_nothing() {
    let session = Session::new(Host::Claude);
    session.prompt("Don't commit.");
    session.prompt(&format!("Look:\n{}ok, commit it\n{}What is that?", log_of(20 << 10), log_of(20 << 10)));
    assert!(session.run("git commit -m x").contains("\"deny\""));
    assert_eq!(session.run("git push"), "");
}

#[test]
fn beyond_what_is_read_a_constraint_asks_and_a_closed_gate_denies() {
    let long = heredoc((1 << 20) + 100, "git commit");
    let session = Session::new(Host::Claude);
    session.prompt("Don't commit.");
    assert!(session.run(&long).contains("\"ask\""));
    let unattended = session.say("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": long}}), false);
    assert!(unattended.contains("\"deny\""), "{unattended}");

    let gated = Session::new(Host::Claude);
    let scope = GateScope::Session(SessionId::new("s-1"));
    close_gate(&gated.place, &Gate::new(scope, "the plan is not approved", Millis(1))).unwrap();
    let said = gated.run(&heredoc((1 << 20) + 100, "true"));
    assert!(said.contains("\"deny\"") && said.contains("longer than 1 MB"), "{said}");
    assert!(gated.stored() < 100 << 10, "{}", gated.stored());

    let free = Session::new(Host::Claude);
    let told = free.run(&heredoc((1 << 20) + 100, "true"));
    assert!(told.contains("systemMessage") && told.contains("longer than 1 MB"), "{told}");
}

#[test]
fn the_human_is_told_of_a_prompt_that_is_too_long() {
    let session = Session::new(Host::Claude);
    let told = session.prompt(&format!("{}\nDon't commit.", log_of((1 << 20) + 200)));
    assert!(told.contains("systemMessage") && told.contains("longer than 1 MB"), "{told}");
}
