//! Many processes in one repository at once.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Sandbox, check_session};

const PROCESSES: u32 = 8;
const EVENTS: u32 = 500;

/// Beside other tests, a hook may run out of time before it has the lock.
mod timing {
    use super::*;

    #[test]
    fn eight_processes_with_five_hundred_events_each_lose_nothing() {
        let sandbox = Sandbox::new();
        thread::scope(|scope| {
            for process in 0..PROCESSES {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    for n in 0..EVENTS {
                        // Half of them share one session, the others have their own.
                        let session = if process % 2 == 0 { "shared".to_owned() } else { format!("own-{process}") };
                        let call = json!({
                            "tool_name": "Edit",
                            "tool_input": {"file_path": "src/lib.rs"},
                            "tool_use_id": format!("call-{process}-{n}"),
                        });
                        sandbox.hook("PreToolUse", &session, call);
                    }
                });
            }
        });
        // An event that waited too long for the lock is read by the next step of its session.
        let names = ["shared".to_owned()].into_iter().chain((1..PROCESSES).step_by(2).map(|n| format!("own-{n}")));
        for (number, session) in names.enumerate() {
            let call =
                json!({"tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": format!("last-{number}")});
            sandbox.hook("PreToolUse", &session, call);
        }
        let status: serde_json::Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
        let calls = |session: &str| check_session(&sandbox.session(session)).tool_calls;
        assert_eq!(calls("shared"), u64::from(PROCESSES / 2 * EVENTS + 1));
        for process in (0..PROCESSES).filter(|process| process % 2 == 1) {
            assert_eq!(calls(&format!("own-{process}")), u64::from(EVENTS + 1));
        }
        let drained: u64 =
            status["sessions"].as_array().unwrap().iter().map(|row| row["tool_calls"].as_u64().unwrap()).sum();
        assert_eq!(
            drained,
            u64::from(PROCESSES * EVENTS + PROCESSES / 2 + 1),
            "every journal line is in the ledger, once"
        );
    }
}

#[test]
fn killed_at_any_instant_nothing_is_torn_and_no_budget_comes_back() {
    let sandbox = Sandbox::new();
    for n in 1..=3 {
        sandbox.ok(&["task", "add", &format!("Task {n}")]);
    }
    sandbox.as_agent("s-1", &["task", "start", "1"]);
    let mut answered = 0;
    // `cargo xtask soak` asks for more.
    let rounds = std::env::var("STEADFAST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(72_u64);
    for round in 0..rounds {
        let stop =
            json!({"session_id": "s-1", "cwd": sandbox.root(), "stop_hook_active": false, "background_tasks": []});
        let call = json!({
            "session_id": "s-1", "cwd": sandbox.root(), "tool_name": "Bash", "tool_use_id": format!("call-{round}"),
            "tool_input": {"command": "steadfast task list"},
        });
        let mut children = vec![
            (false, sandbox.start_hook("PreToolUse", &call)),
            (true, sandbox.start_hook("Stop", &stop)),
            (false, sandbox.start_hook("PostToolUse", &call)),
        ];
        // From before the first instruction to after the last, which every eighth round waits for.
        let is_killed = round % 8 != 7;
        thread::sleep(Duration::from_micros(round * 130 % 4_000));
        for (stops, mut child) in children.drain(..) {
            if is_killed {
                let _ = child.kill();
            }
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            answered += u32::from(stops && said.contains("\"decision\":\"block\""));
        }
    }
    let state = check_session(&sandbox.session("s-1"));
    assert!(
        state.stop.refused >= answered,
        "{answered} refusals were given, {} are on the account",
        state.stop.refused
    );
    eprintln!("{rounds} rounds: {} of {} events survived, {answered} refusals were read", state.sequence, rounds * 3);
    assert!(state.sequence > 10, "only {} events survived", state.sequence);
    sandbox.ok(&["status"]);
}
