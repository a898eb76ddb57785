//! Compares the simulated agent with recordings of the real Claude Code: same events, same order, same fields.
//!
//! Excluded on purpose: `MessageDisplay` (used only by the host's screen) and the `model` field, which only an
//! interactive session has. The main thread and a subagent run at the same time in the real host, so each thread's
//! events are compared separately.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use steadfast_sim::{Action, Ending, Scenario, Turn};

use crate::fake_hook::FakeHook;

const BLOCK_TWICE: &str = r#"
if [ "$1" = Stop ]; then
  echo x >> "$here/stops"
  if [ "$(wc -l < "$here/stops")" -le 2 ]; then echo '{"decision": "block", "reason": "2 tasks are open"}'; fi
fi"#;

const BLOCK_ONCE: &str = r#"
if [ "$1" = Stop ] && mkdir "$here/blocked" 2>/dev/null; then
  echo '{"decision": "block", "reason": "2 tasks are open"}'
fi"#;

fn recording(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &Value| event["hook_event_name"] != "MessageDisplay")
        .collect()
}

/// Returns each event as its name, its distinguishing values, and its fields.
fn outline(events: &[Value], of_subagent: bool) -> Vec<String> {
    events
        .iter()
        .filter(|event| event.get("agent_id").is_some() == of_subagent)
        .map(|event| {
            let mut fields: Vec<&str> =
                event.as_object().unwrap().keys().map(String::as_str).filter(|name| *name != "model").collect();
            fields.sort_unstable();
            let detail: Vec<String> = ["source", "stop_hook_active", "trigger", "agent_type", "is_interrupt"]
                .into_iter()
                .filter_map(|name| event.get(name).map(|value| format!("{name}={value}")))
                .collect();
            format!("{} {} [{}]", event["hook_event_name"].as_str().unwrap(), detail.join(" "), fields.join(" "))
        })
        .collect()
}

/// Returns the types in `background_tasks` at every stop of the main thread.
fn background(events: &[Value]) -> Vec<String> {
    events
        .iter()
        .filter(|event| event["hook_event_name"] == "Stop")
        .map(|event| {
            let tasks = event["background_tasks"].as_array().unwrap();
            let kinds: Vec<String> = tasks
                .iter()
                .map(|task| {
                    let fields: Vec<&str> = task.as_object().unwrap().keys().map(String::as_str).collect();
                    format!("{} {fields:?}", task["type"])
                })
                .collect();
            kinds.join(", ")
        })
        .collect()
}

/// Returns true if a stopping subagent is still listed as running, in the first place.
fn lists_itself(events: &[Value]) -> bool {
    let stop = events.iter().find(|event| event["hook_event_name"] == "SubagentStop").unwrap();
    stop["background_tasks"][0]["id"] == stop["agent_id"]
}

#[test]
fn stops_that_are_blocked_look_as_in_claude_code() {
    let hook = FakeHook::new(BLOCK_TWICE);
    fs::write(hook.cwd().join("b.txt"), "hello\n").unwrap();
    let scenario = Scenario::new("stop-blocks")
        .prompt("fix the auth bug in src/auth")
        .turn(
            Turn::saying("Let me create tasks.")
                .calling([Action::tool("TaskCreate", json!({"subject": "Add import"}))]),
        )
        .shell("echo hi | tee out.txt")
        .write("b.txt", "hello\n")
        .tool("TaskUpdate", json!({"taskId": "1"}))
        .say("All done. Let me know if you need anything.");
    let ending = hook.agent(scenario).run(&mut |_| {}).unwrap();
    assert_eq!(ending, Ending::Stopped);
    let expected = recording("2.1.325-print-stop-blocks.jsonl");
    assert_eq!(outline(&hook.seen(), false), outline(&expected, false));
}

#[test]
fn edits_failures_subagents_and_background_work_look_as_in_claude_code() {
    // The command in the background ends after a stop that lists it.
    let until_listed = r#"case "$1 $payload" in Stop*'"type":"shell"'*) touch "$here/listed" ;; esac"#;
    let hook = FakeHook::new(&format!("{BLOCK_ONCE}\n{until_listed}"));
    fs::write(hook.cwd().join("b.txt"), "hello\n").unwrap();
    let shell = |command: &str, description: &str| {
        Action::tool("Bash", json!({"command": command, "description": description}))
    };
    let scenario = Scenario::new("edit-failure-subagent-background")
        .prompt("Add a greeting, only touch b.txt, don't commit")
        .turn(Turn::saying("I'll look first.").calling([shell("cat b.txt && ls -la", "look"), Action::read("b.txt")]))
        .edit("b.txt", "hello", "hello world")
        .edit("b.txt", "no such text", "x")
        .shell("exit 3")
        .agent_in_background("general-purpose", "write a file")
        .say("subagent done")
        .tool("Bash", json!({"command": "until [ -e ../listed ]; do sleep 0.05; done", "description": "bg", "run_in_background": true}))
        .say("<promise>ALL TASKS COMPLETE</promise>")
        .subagent([
            Turn::doing([Action::write("sub.txt", "from sub\n")]),
            Turn::saying("<promise>ALL TASKS COMPLETE</promise>"),
        ]);
    let ending = hook.agent(scenario).run(&mut |_| {}).unwrap();
    assert_eq!(ending, Ending::Stopped);
    let expected = recording("2.1.325-print-edit-failure-subagent-background.jsonl");
    let seen = hook.seen();
    assert_eq!(outline(&seen, false), outline(&expected, false));
    assert_eq!(outline(&seen, true), outline(&expected, true));
    assert_eq!(background(&seen), background(&expected));
    assert!(lists_itself(&expected) && lists_itself(&seen));
}

#[test]
fn a_denied_call_and_a_subagent_in_the_foreground_look_as_in_claude_code() {
    let answers = r#"
case "$1 $payload" in
  PreToolUse*forbidden*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse",
      "permissionDecision": "deny", "permissionDecisionReason": "locked"}}' ;;
  SubagentStop*'"stop_hook_active":false'*) echo '{"decision": "block", "reason": "not yet"}' ;;
  Stop*'"last_assistant_message":"stop c"'*)
    echo x >> "$here/c"
    if [ "$(wc -l < "$here/c")" -le 2 ]; then echo '{"decision": "block", "reason": "open"}'; fi ;;
  Stop*) echo '{"decision": "block", "reason": "open"}' ;;
esac"#;
    let hook = FakeHook::new(answers);
    let scenario = Scenario::new("deny-subagent-stop")
        .prompt("plan it")
        .shell("echo forbidden > x")
        .agent("general-purpose", "do the thing")
        .shell("echo ok")
        .say("stop a")
        .say("stop b")
        .shell("echo ok2")
        .say("stop c")
        .subagent([Turn::saying("reply 1"), Turn::saying("reply 2")]);
    let ending = hook.agent(scenario).run(&mut |_| {}).unwrap();
    assert_eq!(ending, Ending::Stopped);
    let expected = recording("2.1.197-print-deny-subagent-stop.jsonl");
    let seen = hook.seen();
    assert_eq!(outline(&seen, false), outline(&expected, false));
    assert_eq!(outline(&seen, true), outline(&expected, true));
}

#[test]
fn a_compaction_looks_as_in_claude_code() {
    let hook = FakeHook::new("");
    let scenario = Scenario::new("compact")
        .prompt("plan it")
        .shell("echo one")
        .say("did one thing")
        .compact()
        .human("go on", "after compact");
    let ending = hook.agent(scenario).run(&mut |_| {}).unwrap();
    assert_eq!(ending, Ending::Stopped);
    let expected = recording("2.1.197-interactive-compact.jsonl");
    let names = |events: &[Value]| -> Vec<String> {
        events.iter().map(|event| event["hook_event_name"].as_str().unwrap().to_owned()).collect()
    };
    let seen = hook.seen();
    assert_eq!(names(&seen), names(&expected));
    assert_eq!(outline(&seen, false), outline(&expected, false));
    assert_eq!(outline(&seen, true), outline(&expected, true));
}
