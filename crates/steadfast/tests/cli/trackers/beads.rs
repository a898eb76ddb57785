use serde_json::json;

use super::fake_bd::{Beads, issue, part};

fn three() -> Vec<serde_json::Value> {
    vec![
        issue("bd-1", "open", &[]),
        part("bd-1.1", "bd-1", "open"),
        issue("bd-1.2", "open", &[("bd-1", "parent-child"), ("bd-1.1", "blocks")]),
        part("bd-1.3", "bd-1", "in_progress"),
        issue("bd-9", "open", &[]),
    ]
}

#[test]
fn the_tasks_of_an_epic_are_the_tasks_and_what_is_done_here_is_told_there() {
    let beads = Beads::new(&three());
    assert_eq!(beads.tasks(), ["bd-1.1 pending", "bd-1.2 pending", "bd-1.3 in_progress"]);
    assert_eq!(beads.calls(), ["list --json --all --limit=0 --parent=bd-1"]);
    let ready = beads.sandbox.ok(&["task", "ready"]);
    assert!(ready.contains("bd-1.1") && !ready.contains("bd-1.2"), "{ready}");

    beads.calls();
    beads.sandbox.ok(&["task", "start", "bd-1.1"]);
    beads.sandbox.ok(&["task", "done", "bd-1.1", "--force"]);
    beads.sandbox.ok(&["task", "block", "bd-1.3", "--why", "the key is missing"]);
    assert_eq!(
        beads.writes(),
        [
            "update --claim --json -- bd-1.1",
            "close --reason=forced by steadfast: a human closed it --json -- bd-1.1",
            "update --status=blocked --append-notes=blocked: the key is missing --json -- bd-1.3",
        ]
    );
    assert_eq!(["bd-1.1", "bd-1.2", "bd-1.3"].map(|id| beads.status(id)), ["closed", "open", "blocked"]);
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 pending", "bd-1.3 blocked"]);
    beads.sandbox.ok(&["task", "unblock", "bd-1.3"]);
    assert_eq!(beads.writes(), ["update --status=open --json -- bd-1.3"]);
}

#[test]
fn a_check_is_the_reason_an_issue_is_closed() {
    let mut checked = part("bd-1.1", "bd-1", "open");
    checked["metadata"] = json!({"steadfast": {"verify": "test -f done.txt"}});
    let beads = Beads::new(&[checked]);
    assert_eq!(beads.sandbox.run(&["task", "done", "bd-1.1"]).status.code(), Some(1));
    assert_eq!(beads.writes(), Vec::<String>::new());
    assert_eq!(beads.tasks(), ["bd-1.1 pending"]);
    beads.sandbox.write("done.txt", "");
    beads.sandbox.ok(&["task", "done", "bd-1.1"]);
    let told = beads.writes().concat();
    assert!(told.starts_with("close --reason=executed by steadfast: `test -f done.txt` passed in 0."), "{told}");
    assert_eq!(beads.status("bd-1.1"), "closed");
}

#[test]
fn closing_there_what_has_a_check_closes_nothing_here() {
    let checked = |status: &str| {
        let mut issue = part("bd-1.1", "bd-1", status);
        issue["metadata"] = json!({"steadfast": {"verify": "test -f done.txt"}});
        issue
    };
    let beads = Beads::new(&[checked("open")]);
    assert_eq!(beads.tasks(), ["bd-1.1 pending"]);
    beads.put(&[checked("closed")]);
    let said = beads.said(&["task", "list"]);
    assert!(said.contains("bd-1.1 was closed there, but its check has not passed, so it stays open here"), "{said}");
    assert_eq!(beads.tasks(), ["bd-1.1 pending"]);
    beads.sandbox.write("done.txt", "");
    beads.sandbox.ok(&["task", "done", "bd-1.1"]);
    assert_eq!(beads.tasks(), ["bd-1.1 done"]);
    // It is closed there already.
    assert_eq!(beads.writes(), Vec::<String>::new());
}

#[test]
fn what_happens_there_happens_here_and_is_said_in_a_line_each() {
    let beads = Beads::new(&three());
    let said = beads.said(&["plan", "status"]);
    assert!(said.contains("now following epic bd-1 of beads: 3 tasks, 3 open\n"), "{said}");
    let mut renamed = part("bd-1.2", "bd-1", "open");
    renamed["title"] = "Another title".into();
    beads.put(&[part("bd-1.1", "bd-1", "closed"), renamed, part("bd-1.4", "bd-1", "deferred")]);
    let said = beads.said(&["task", "ready"]);
    let there: Vec<&str> = said.lines().filter(|line| line.starts_with("epic")).collect();
    assert_eq!(
        there,
        [
            "epic bd-1 of beads: bd-1.3 was removed: Work of bd-1.3",
            "epic bd-1 of beads: bd-1.1 was closed there: Work of bd-1.1",
            "epic bd-1 of beads: bd-1.2 was renamed: Another title",
            "epic bd-1 of beads: bd-1.4 is new: Work of bd-1.4",
        ]
    );
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 pending", "bd-1.4 blocked"]);
    beads.put(&[part("bd-1.1", "bd-1", "open"), part("bd-1.2", "bd-1", "hooked"), part("bd-1.4", "bd-1", "open")]);
    let said = beads.said(&["task", "list"]);
    let there: Vec<&str> = said.lines().filter(|line| line.starts_with("epic")).collect();
    assert_eq!(
        there,
        [
            "epic bd-1 of beads: bd-1.1 was reopened there: Work of bd-1.1",
            "epic bd-1 of beads: bd-1.2 was renamed: Work of bd-1.2",
            "epic bd-1 of beads: bd-1.2 is in progress there: Work of bd-1.2",
            "epic bd-1 of beads: bd-1.4 is open there: Work of bd-1.4",
        ]
    );
    assert_eq!(beads.tasks(), ["bd-1.1 pending", "bd-1.2 in_progress", "bd-1.4 pending"]);
    assert_eq!(beads.writes(), Vec::<String>::new());
    assert!(!beads.said(&["task", "list"]).contains("epic"));
}

#[test]
fn parts_of_parts_belong_to_the_epic_and_what_waits_outside_of_it_is_blocked() {
    let mut nested = part("bd-1.1", "bd-1", "open");
    nested["issue_type"] = "epic".into();
    let mut whole = part("bd-1.2", "bd-1", "open");
    whole["dependent_count"] = 1.into();
    let beads = Beads::new(&[
        issue("bd-1", "open", &[]),
        nested,
        part("bd-1.1.1", "bd-1.1", "open"),
        whole,
        part("bd-7", "bd-1.2", "open"),
        issue("bd-1.3", "open", &[("bd-1", "parent-child"), ("bd-9", "blocks")]),
        issue("bd-1.4", "open", &[("bd-1", "parent-child"), ("bd-8", "blocks"), ("bd-9", "related")]),
        issue("bd-8", "closed", &[]),
        issue("bd-9", "open", &[]),
    ]);
    assert_eq!(
        beads.tasks(),
        ["bd-1.1 pending", "bd-1.1.1 pending", "bd-1.2 pending", "bd-1.3 blocked", "bd-1.4 pending", "bd-7 pending"]
    );
    let list = beads.sandbox.ok(&["task", "list"]);
    assert!(list.contains("(depends on `bd-9`, which is outside the epic)"), "{list}");
    // A whole is done after its parts.
    let ready = beads.sandbox.ok(&["task", "ready"]);
    let ready: Vec<&str> = ready.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ready, ["bd-1.1.1", "bd-1.4", "bd-7"]);
}

#[test]
fn a_program_that_knows_fewer_flags_is_asked_otherwise() {
    let beads = Beads::new(&three());
    beads.mode("old");
    assert_eq!(beads.tasks(), ["bd-1.1 pending", "bd-1.2 pending", "bd-1.3 in_progress"]);
    beads.calls();
    beads.sandbox.ok(&["task", "start", "bd-1.1"]);
    beads.sandbox.ok(&["task", "block", "bd-1.1", "--why", "no key"]);
    let told = beads.writes();
    assert_eq!(told[1], "update --status=in_progress --json -- bd-1.1");
    assert_eq!(told[3..], ["update --status=blocked --json -- bd-1.1", "comments add -- bd-1.1 blocked: no key"]);
    assert_eq!(beads.status("bd-1.1"), "blocked");
}

#[test]
fn without_an_epic_every_issue_is_a_task_and_br_answers_as_well() {
    let beads = Beads::new(&three());
    std::fs::rename(beads.file("bd"), beads.file("br")).unwrap();
    beads.sandbox.write("steadfast.toml", "[ledger]\nsource = \"beads\"\n");
    // The epic waits for its parts.
    let tasks = ["bd-1 pending", "bd-1.1 pending", "bd-1.2 pending", "bd-1.3 in_progress", "bd-9 pending"];
    assert_eq!(beads.tasks(), tasks);
}

#[test]
fn the_stop_gate_holds_a_session_by_its_epic_and_says_what_happened_there() {
    let beads = Beads::new(&three());
    let start = beads.begin("me");
    assert!(start.contains("now following epic bd-1 of beads: 3 tasks, 3 open"), "{start}");
    let refused = beads.stop("me", "I made good progress.");
    assert_eq!(refused["decision"], "block");
    assert!(refused["reason"].as_str().unwrap().contains("bd-1.3"), "{refused}");
    let refused = beads.stop("me", "<promise>EPIC COMPLETE</promise>");
    assert_eq!(refused["decision"], "block", "{refused}");

    // Somebody else closes one, the agent itself another.
    beads.put(&[part("bd-1.1", "bd-1", "closed"), part("bd-1.2", "bd-1", "open"), part("bd-1.3", "bd-1", "closed")]);
    let refused = beads.stop("me", "Done.");
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.contains("bd-1.2") && reason.contains("bd-1.1 was closed there"), "{reason}");
    beads.put(&[part("bd-1.1", "bd-1", "closed"), part("bd-1.2", "bd-1", "closed"), part("bd-1.3", "bd-1", "closed")]);
    let released = beads.stop("me", "<promise>EPIC COMPLETE</promise>");
    assert_ne!(released["decision"], "block", "{released}");
    assert!(released["systemMessage"].as_str().unwrap().contains("bd-1.2 was closed there"), "{released}");
}

#[test]
fn what_is_left_of_an_epic_is_blocked_and_the_human_is_told() {
    let beads = Beads::new(&three());
    beads.begin("me");
    beads.put(&[
        part("bd-1.1", "bd-1", "closed"),
        part("bd-1.2", "bd-1", "blocked"),
        part("bd-1.3", "bd-1", "deferred"),
    ]);
    let released = beads.stop("me", "That is all I can do.");
    assert_ne!(released["decision"], "block", "{released}");
    assert!(released["systemMessage"].as_str().unwrap().contains("blocked"), "{released}");
}

#[test]
fn a_session_that_came_for_something_else_is_not_held_by_an_epic() {
    let beads = Beads::new(&three());
    beads.sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    beads.sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "What does main.rs do?"}));
    assert_eq!(beads.stop("me", "It starts the program."), serde_json::Value::Null);
}

#[test]
fn without_the_program_the_exported_file_is_read() {
    let beads = Beads::new(&three());
    std::fs::remove_file(beads.file("bd")).unwrap();
    let said = beads.said(&["task", "list"]);
    assert!(said.contains("`bd` and `br` are not on the PATH"), "{said}");
    std::fs::create_dir(beads.sandbox.root().join(".beads")).unwrap();
    std::fs::copy(beads.file("issues.jsonl"), beads.sandbox.root().join(".beads/issues.jsonl")).unwrap();
    assert_eq!(beads.tasks(), ["bd-1.1 pending", "bd-1.2 pending", "bd-1.3 in_progress"]);
    let ready = beads.sandbox.ok(&["task", "ready"]);
    assert!(ready.contains("bd-1.1") && !ready.contains("bd-1.2"), "{ready}");
    // What is done here cannot be told there, and that is said; it is told once the program is back.
    let said = beads.said(&["task", "done", "bd-1.1", "--force"]);
    assert!(said.contains("`bd` and `br` are not on the PATH"), "{said}");
    beads.sandbox.write(".beads/issues.jsonl", "{\"id\": \"bd-1\"}\n{half");
    let said = beads.said(&["task", "list"]);
    assert!(said.contains("cannot read epic") && said.contains("line 2"), "{said}");
}

#[test]
fn one_epic_of_a_list_is_loaded_by_itself() {
    let sandbox = crate::sandbox::Sandbox::new();
    let mut issues = three();
    issues.push(issue("bd-9.1", "open", &[("bd-9", "parent-child"), ("bd-1.1", "blocks")]));
    issues.push(part("bd-9.2", "bd-9", "open"));
    let lines: String = issues.iter().map(|issue| format!("{issue}\n")).collect();
    sandbox.write("issues.jsonl", &lines);
    let loaded = sandbox.ok(&["plan", "load", "issues.jsonl", "--epic", "bd-1"]);
    assert!(loaded.starts_with("plan bd-1: 3 tasks"), "{loaded}");
    let listed = sandbox.ok(&["task", "list"]);
    assert!(listed.contains("bd-1.3") && !listed.contains("bd-9"), "{listed}");
    // Another epic is another plan; what it waits for outside keeps it from being begun.
    sandbox.ok(&["plan", "load", "issues.jsonl", "--epic", "bd-9"]);
    let listed = sandbox.ok(&["task", "list"]);
    assert!(listed.contains("bd-9.1") && !listed.contains("bd-1.3"), "{listed}");
    let ready = sandbox.ok(&["task", "ready"]);
    assert!(ready.contains("bd-9.2") && !ready.contains("bd-9.1"), "{ready}");
    assert!(sandbox.ok(&["plan", "list"]).contains("bd-1 "));
    let (code, said) = sandbox.fails(&["plan", "load", "issues.jsonl", "--epic", "bd-7"]);
    assert!(code == 1 && said.contains("there is no issue `bd-7`"), "{code}: {said}");
    assert_eq!(sandbox.fails(&["plan", "load", "--epic", "bd-1"]).0, 64);
}
