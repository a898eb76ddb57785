use serde_json::{Value, json};

use crate::sandbox::{Sandbox, as_just_now};

fn with_tasks(titles: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for title in titles {
        sandbox.ok(&["task", "add", title]);
    }
    sandbox
}

fn status_of(sandbox: &Sandbox) -> Vec<(String, String)> {
    let list: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
    let field = |task: &Value, name: &str| task[name].as_str().unwrap().to_owned();
    list["tasks"].as_array().unwrap().iter().map(|task| (field(task, "id"), field(task, "status"))).collect()
}

#[test]
fn a_task_goes_its_way_and_each_step_says_what_is_left() {
    let sandbox = with_tasks(&["Write the parser", "Write its tests"]);
    insta::assert_snapshot!(sandbox.ok(&["task", "list"]), @r"
    1  pending      Write the parser
    2  pending      Write its tests
    ");
    insta::assert_snapshot!(sandbox.ok(&["task", "start", "1"]), @r"
    1 Write the parser: in progress
    0 of 2 tasks done, 2 open, 0 blocked.
    ");
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "1"]), @r"
    1 Write the parser: done (forced: a human closed it)
    1 of 2 tasks done, 1 open, 0 blocked. Next is 2 Write its tests.
    ");
    insta::assert_snapshot!(sandbox.ok(&["task", "block", "2", "--why", "no fixtures"]), @r"
    2 Write its tests: blocked
    1 of 2 tasks done, 0 open, 1 blocked.
    ");
    insta::assert_snapshot!(sandbox.ok(&["task", "list"]), @r"
    1  done         Write the parser  (forced)
    2  blocked      Write its tests  (no fixtures)
    ");
}

#[test]
fn the_json_of_a_list_has_the_keys_it_promises() {
    let sandbox = with_tasks(&["One"]);
    sandbox.ok(&["task", "done", "1"]);
    let list: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
    let task = list["tasks"][0].as_object().unwrap();
    for key in ["id", "title", "kind", "type", "phase", "status", "verify", "blocked_by", "stuck_count", "evidence"] {
        assert!(task.contains_key(key), "{key}");
    }
    assert_eq!(task["evidence"]["class"], "forced");
}

#[test]
fn errors_name_the_thing_and_the_next_command() {
    let sandbox = with_tasks(&["One"]);
    let (code, said) = sandbox.fails(&["task", "done", "11"]);
    assert_eq!(code, 1);
    assert!(said.starts_with("error: there is no task `11` in plan `list-"), "{said}");
    assert!(said.ends_with("; similar ids: `1`\n\nhint: `steadfast task list` shows all tasks\n"), "{said}");
    assert_eq!(sandbox.fails(&["task", "frobnicate"]).0, 64);
    assert_eq!(sandbox.fails(&["task", "block", "1", "--why", " "]).0, 64);
    assert_eq!(sandbox.fails(&["task", "add", " "]).0, 64);
    let bare = Sandbox::bare();
    insta::assert_snapshot!(bare.fails(&["task", "list"]).1, @r"
    error: steadfast is not set up for `/repo`

    hint: `steadfast init` sets it up; it shows what it changes first
    ");
}

#[test]
fn a_damaged_ledger_is_named_with_what_to_do() {
    let sandbox = with_tasks(&["One"]);
    let database = sandbox.place().state.join("state.db");
    for kind in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{kind}", database.display()));
    }
    std::fs::write(&database, vec![7; 9_000]).unwrap();
    let (code, said) = sandbox.fails(&["task", "list"]);
    assert_eq!(code, 1);
    assert!(said.starts_with("error: the ledger `/repo/.git/steadfast/state.db` is damaged"), "{said}");
    assert!(said.contains("hint: move `/repo/.git/steadfast/state.db` away"), "{said}");
    std::fs::rename(&database, database.with_extension("damaged")).unwrap();
    sandbox.ok(&["status"]);
}

#[test]
fn a_session_that_cannot_be_told_does_not_undo_what_was_done() {
    let sandbox = with_tasks(&["One"]);
    sandbox.as_agent("s-1", &["task", "start", "1"]);
    sandbox.stop_is_refused("s-1");
    let journal = sandbox.session("s-1").dir().join("journal");
    std::fs::remove_file(&journal).unwrap();
    std::fs::create_dir(&journal).unwrap();
    sandbox.ok(&["task", "done", "1"]);
    assert_eq!(status_of(&sandbox), [("1".to_owned(), "done".to_owned())]);
}

#[test]
fn what_is_no_file_in_a_sessions_folder_is_not_waited_for() {
    let sandbox = with_tasks(&["One"]);
    let folder = sandbox.place().session_dir("strange");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["state", "journal"] {
        assert!(std::process::Command::new("mkfifo").arg(folder.join(name)).status().unwrap().success());
    }
    sandbox.ok(&["status"]);
}

#[test]
fn a_task_that_waits_for_another_is_not_ready() {
    let sandbox = with_tasks(&["First"]);
    sandbox.ok(&["task", "add", "Second", "--after", "1"]);
    insta::assert_snapshot!(sandbox.ok(&["task", "ready"]), @"1  pending      First");
    sandbox.ok(&["task", "done", "1"]);
    insta::assert_snapshot!(sandbox.ok(&["task", "next"]), @"2  pending      Second");
}

#[test]
fn only_a_human_puts_a_blocked_task_back() {
    let sandbox = with_tasks(&["One"]);
    sandbox.ok(&["task", "block", "1", "--why", "broken"]);
    for arguments in [["task", "unblock", "1"], ["task", "start", "1"], ["task", "done", "1"]] {
        let output = sandbox.as_agent("s-1", &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    sandbox.ok(&["task", "unblock", "1"]);
    assert_eq!(status_of(&sandbox), [("1".to_owned(), "pending".to_owned())]);
}

#[test]
fn the_session_that_starts_a_task_is_held_and_another_is_not() {
    let sandbox = with_tasks(&["One", "Two"]);
    assert!(!sandbox.stop_is_refused("s-1"), "nobody works on them yet");
    assert!(sandbox.as_agent("s-1", &["task", "start", "1"]).status.success());
    assert!(sandbox.stop_is_refused("s-1"));
    assert!(!sandbox.stop_is_refused("s-2"));
    for id in ["1", "2"] {
        let output = sandbox.as_agent("s-1", &["task", "done", id]);
        assert_eq!(
            output.status.success(),
            id == "2",
            "what was written for 1 is a change since 2 was added: {output:?}"
        );
        sandbox.write("work.txt", id);
        assert!(sandbox.as_agent("s-1", &["task", "done", id]).status.success());
    }
    assert!(!sandbox.stop_is_refused("s-1"));
}

#[test]
fn a_command_without_a_session_in_its_environment_takes_the_claim_of_its_call() {
    let sandbox = with_tasks(&["One", "Two"]);
    let call =
        |command: &str, id: &str| json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
    sandbox.hook("PreToolUse", "s-1", call("steadfast task start 1", "call-1"));
    sandbox.hook("PreToolUse", "s-2", call("steadfast task list", "call-2"));
    sandbox.ok(&["task", "start", "1"]);
    sandbox.hook("PostToolUse", "s-1", call("steadfast task start 1", "call-1"));
    assert!(sandbox.stop_is_refused("s-1"));
    assert!(!sandbox.stop_is_refused("s-2"));

    sandbox.ok(&["task", "add", "By a human, after the call"]);
    let list: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!(list["plan"]["owner"], "s-1");
}

#[test]
fn a_call_that_was_refused_leaves_no_claim_past_the_next_stop() {
    let sandbox = with_tasks(&["One"]);
    let call = json!({"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": {"command": "steadfast task add X"}});
    sandbox.hook("PreToolUse", "s-1", call);
    assert!(!sandbox.stop_is_refused("s-1"));
    sandbox.ok(&["task", "add", "By a human"]);
    let status: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!(status["plan"]["owner"], Value::Null);
}

#[test]
fn what_the_human_added_gives_refusals_back_and_what_the_agent_added_does_not() {
    let sandbox = with_tasks(&["Human's", "Human's too"]);
    assert!(sandbox.as_agent("s-1", &["task", "start", "1"]).status.success());
    assert!(sandbox.as_agent("s-1", &["task", "add", "Agent's"]).status.success());
    assert!(sandbox.stop_is_refused("s-1"));
    let earned = || sandbox.session("s-1").peek().unwrap().stop.earned;
    sandbox.write("work.txt", "all of it");
    sandbox.as_agent("s-1", &["task", "done", "3"]);
    assert_eq!(earned(), 0);
    sandbox.as_agent("s-1", &["task", "done", "1"]);
    assert_eq!(earned(), 3);
    sandbox.ok(&["task", "start", "1"]);
    sandbox.ok(&["task", "done", "1"]);
    assert_eq!(earned(), 3, "a task that was opened again is not paid for twice");
}

#[test]
fn a_prompt_that_names_the_tasks_takes_them() {
    let sandbox = with_tasks(&["One"]);
    let said = sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Please do the tasks."}));
    assert!(said.contains("Steadfast holds the tasks of this session: 1 of 1 tasks is open: 1 One."), "{said}");
    assert!(sandbox.stop_is_refused("s-1"));
}

#[test]
fn the_status_says_where_things_stand_and_what_needs_a_human() {
    let sandbox = with_tasks(&["One", "Two", "Three"]);
    sandbox.as_agent("s-1", &["task", "start", "1"]);
    sandbox.ok(&["task", "block", "3", "--why", "no key"]);
    while sandbox.stop_is_refused("s-1") {}
    std::fs::write(sandbox.root().join("new.txt"), "x").unwrap();
    let shown = sandbox.ok(&["status"]);
    let shown = shown.replace(&sandbox.root().display().to_string(), "REPO");
    let branch = shown.split_whitespace().nth(2).unwrap_or_default().trim_end_matches(',').to_owned();
    insta::assert_snapshot!(as_just_now(&shown.replacen(&branch, "BRANCH", 1)), @r"
    REPO on BRANCH, 1 file changed
    needs a human: task 3 is blocked: no key
    needs a human: session s-1 stopped as capped with 2 tasks open, see `steadfast why`; its next prompt rearms the stop gate
    0 of 3 tasks done, 2 open, 1 blocked; session s-1 works on them
    in progress: 1 One

    claude s-1  stopped, capped, just now: 0 prompts, 0 tool calls, 3 refusals
    ");
    let json: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!(json["needs_human"].as_array().unwrap().len(), 2);
    assert_eq!(json["changed"], 1);
}

#[test]
fn a_cleared_session_hands_its_tasks_to_the_next() {
    let sandbox = with_tasks(&["One"]);
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Please do the tasks."}));
    sandbox.hook("SessionEnd", "s-1", json!({"reason": "clear"}));
    let said = sandbox.hook("SessionStart", "s-2", json!({"source": "clear"}));
    assert!(said.contains("the tasks of this session"), "{said}");
    assert!(sandbox.stop_is_refused("s-2"));
}
