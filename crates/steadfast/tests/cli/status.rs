//! `steadfast status`: how this repository stands, and what waits for a human.

use serde_json::json;

use crate::sandbox::Sandbox;

/// What is said, without paths and times.
fn said(sandbox: &Sandbox) -> String {
    let said = sandbox.without_paths(sandbox.ok(&["status"]).as_bytes());
    let line = |line: &str| match line.rsplit_once(": ") {
        Some((doing, counts)) if counts.contains(" refusal") => {
            let doing = doing.rsplit_once(", ").unwrap().0;
            let doing = doing.split_once(" until ").map_or(doing.to_owned(), |(how, _)| format!("{how} until <time>"));
            format!("{doing}, <ago>: {counts}")
        }
        _ => line.to_owned(),
    };
    said.lines()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
        .replace(" on main", " on <branch>")
        .replace(" on master", " on <branch>")
}

fn stop(sandbox: &Sandbox, session: &str) {
    sandbox.hook("Stop", session, json!({"stop_hook_active": false, "background_tasks": []}));
}

#[test]
fn before_anything_happened() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(said(&sandbox), @r"
    /repo on <branch>, nothing changed
    No tasks. `steadfast task add TITLE` adds one.

    No sessions yet. Restart a running session to load the hooks; in Codex, trust them when asked.
    ");
}

#[test]
fn a_session_at_work_paused_off_and_over() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["task", "add", "Two"]);
    sandbox.write("new.txt", "new");
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Do the tasks."}));
    assert!(sandbox.as_agent("s-1", &["task", "start", "1"]).status.success());
    insta::assert_snapshot!(said(&sandbox), @r"
    /repo on <branch>, 1 file changed
    0 of 2 tasks done, 2 open, 0 blocked; session s-1 works on them
    in progress: 1 One

    claude s-1  working, <ago>: 1 prompt, 0 tool calls, 0 refusals
    ");
    sandbox.ok(&["pause", "--for", "10m"]);
    insta::assert_snapshot!(said(&sandbox), @r"
    /repo on <branch>, 1 file changed
    0 of 2 tasks done, 2 open, 0 blocked; session s-1 works on them
    in progress: 1 One

    claude s-1  working, Steadfast is paused until <time>, <ago>: 1 prompt, 0 tool calls, 0 refusals
    ");
    sandbox.ok(&["off"]);
    insta::assert_snapshot!(said(&sandbox), @r"
    /repo on <branch>, 1 file changed
    0 of 2 tasks done, 2 open, 0 blocked; session s-1 works on them
    in progress: 1 One

    claude s-1  working, Steadfast is off, <ago>: 1 prompt, 0 tool calls, 0 refusals
    ");
    sandbox.ok(&["pause", "--end"]);
    sandbox.hook("SessionEnd", "s-1", json!({"reason": "other"}));
    insta::assert_snapshot!(said(&sandbox), @r"
    /repo on <branch>, 1 file changed
    needs a human: session s-1 ended with 2 tasks open; `steadfast resume` continues the plan
    0 of 2 tasks done, 2 open, 0 blocked; no session works on them
    in progress: 1 One

    claude s-1  ended (other), <ago>: 1 prompt, 0 tool calls, 0 refusals
    ");
}

#[test]
fn a_session_that_was_let_go_with_work_left() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["config", "set", "stop.max_idle", "0"]);
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Do the tasks."}));
    assert!(sandbox.as_agent("s-1", &["task", "start", "1"]).status.success());
    for _ in 0..3 {
        stop(&sandbox, "s-1");
    }
    insta::assert_snapshot!(said(&sandbox), @r"
    /repo on <branch>, nothing changed
    needs a human: session s-1 stopped as capped with 1 task open, see `steadfast why`; its next prompt rearms the stop gate
    0 of 1 tasks done, 1 open, 0 blocked; session s-1 works on them
    in progress: 1 One

    claude s-1  stopped, capped, <ago>: 1 prompt, 0 tool calls, 0 refusals
    ");
}

#[test]
fn much_that_waits_for_a_human() {
    let sandbox = Sandbox::new();
    sandbox.write("it.txt", "one");
    sandbox.ok(&["task", "add", "One", "--file", "it.txt", "--verify", "true"]);
    sandbox.ok(&["task", "done", "1"]);
    sandbox.write("it.txt", "two");
    for number in 2..=9 {
        sandbox.ok(&["task", "add", "More"]);
        sandbox.ok(&["task", "block", &number.to_string(), "--why", "the key is missing"]);
    }
    insta::assert_snapshot!(said(&sandbox), @r"
    /repo on <branch>, 1 file changed
    needs a human: task 2 is blocked: the key is missing
    needs a human: task 3 is blocked: the key is missing
    needs a human: task 4 is blocked: the key is missing
    needs a human: task 5 is blocked: the key is missing
    needs a human: task 6 is blocked: the key is missing
    needs a human: task 7 is blocked: the key is missing
    needs a human: 2 more, see `steadfast task list`
    1 of 9 tasks done, 0 open, 8 blocked; no session works on them
    done: 1 executed
    stale (files changed after they were done): 1

    No sessions yet. Restart a running session to load the hooks; in Codex, trust them when asked.
    ");
}

#[test]
fn a_session_whose_process_is_gone_is_killed_and_one_of_elsewhere_is_unknown() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.hook("UserPromptSubmit", "s-1", serde_json::json!({"prompt": "Do the tasks."}));
    sandbox.as_agent("s-1", &["task", "start", "1"]);
    assert!(sandbox.stop_is_refused("s-1"));
    // What `task list` and `log` say of it.
    let of_owner = || {
        let (list, log) = (sandbox.run(&["task", "list"]).stdout, sandbox.run(&["log"]).stderr);
        [list, log].map(|said| String::from_utf8(said).unwrap().contains("session s-1 is gone: killed"))
    };
    assert_eq!(of_owner(), [false, false]);
    let numbering = std::fs::read_link("/proc/self/ns/pid").unwrap();
    let note = |noted: &str| std::fs::write(sandbox.session("s-1").dir().join("process"), noted).unwrap();
    let ended = || {
        let status: serde_json::Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
        status["sessions"][0]["ended"].clone()
    };
    note(&format!("4194304000 1 {}", numbering.display()));
    let status = sandbox.ok(&["status"]);
    assert!(status.contains(" killed, ") && !status.contains("working"), "{status}");
    assert!(status.contains("no session works on them"), "{status}");
    assert_eq!(ended(), "killed");
    assert_eq!(of_owner(), [true, true]);
    note("4194304000 1 pid:[1]");
    let status = sandbox.ok(&["status"]);
    assert!(status.contains("working, if its process still runs (on another machine"), "{status}");
    assert_eq!(ended(), serde_json::Value::Null);
    assert_eq!(of_owner(), [false, false]);
}
