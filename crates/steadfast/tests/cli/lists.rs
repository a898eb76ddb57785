//! Lists of tasks that are kept elsewhere: loaded with their statuses, and written again.

use std::fs;

use serde_json::Value;

use crate::sandbox::Sandbox;

const ISSUES: &str = r#"{"id":"bd-1","title":"Greet people","status":"closed","issue_type":"task","close_reason":"shipped"}
{"id":"bd-2","title":"Wave","status":"in_progress","issue_type":"task","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"}]}
{"id":"bd-3","title":"Bow","status":"blocked","issue_type":"bug","priority":0}
{"id":"bd-4","title":"Smile","status":"open","issue_type":"task","dependencies":[{"issue_id":"bd-4","depends_on_id":"bd-2","type":"blocks"}]}
"#;

const TASKS: &str = "## 1. Words\n\n- [x] 1.1 Greet people\n- [ ] 1.2 Wave\n\n## 2. Verification\n\n- [ ] 2.1 Look\n";

fn with(file: &str, text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    if let Some((folder, _)) = file.rsplit_once('/') {
        fs::create_dir_all(sandbox.root().join(folder)).unwrap();
    }
    sandbox.write(file, text);
    sandbox
}

fn stands(sandbox: &Sandbox, ids: &[&str]) -> Vec<String> {
    let line = |id: &&str| {
        let (status, class) = sandbox.stands(id);
        format!("{id} {status} {class}")
    };
    ids.iter().map(line).collect()
}

#[test]
fn a_list_is_loaded_with_its_statuses_and_what_was_done_is_claimed() {
    let sandbox = with(".beads/issues.jsonl", ISSUES);
    let output = sandbox.run(&["plan", "load", ".beads/issues.jsonl"]);
    let (said, noted) = (sandbox.without_paths(&output.stdout), sandbox.without_paths(&output.stderr));
    insta::assert_snapshot!(said, @r"
    plan bd: 4 tasks in 1 phase
    taken over: 1 done, as `claimed`; 1 in progress; 1 blocked
    decisions are in .steadfast/decisions/bd.md
    ");
    insta::assert_snapshot!(noted, @r"
    `.beads/issues.jsonl` is the issues of beads
    `.beads/issues.jsonl` was read as 4 tasks in 1 phase
    4 tasks have no check: they close on the agent's word, as `claimed`
    ");
    assert_eq!(
        stands(&sandbox, &["bd-1", "bd-2", "bd-3", "bd-4"]),
        ["bd-1 done claimed", "bd-2 in_progress -", "bd-3 blocked -", "bd-4 pending -"]
    );
    let ready: Value = serde_json::from_str(&sandbox.ok(&["task", "ready", "--json"])).unwrap();
    assert_eq!(ready["tasks"], Value::Array(Vec::new()), "bd-4 waits for bd-2");
}

#[test]
fn what_a_list_is_is_said_and_the_number_stands_alone() {
    let sandbox = with("openspec/changes/greet/tasks.md", TASKS);
    let output = sandbox.run(&["spec", "count", "openspec/changes/greet/tasks.md"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "`openspec/changes/greet/tasks.md` is the tasks of an OpenSpec change\n"
    );
    let compiled = sandbox.ok(&["spec", "compile", "openspec/changes/greet/tasks.md", "--json"]);
    let compiled: Value = serde_json::from_str(&compiled).unwrap();
    assert_eq!((&compiled["feature"], &compiled["tasks"][0]["status"]), (&"greet".into(), &"done".into()));
    // Nobody with a spec of their own reads a word of it.
    sandbox.write("SPEC.md", "# F\n\n## Phase 1\n\n- [ ] 1.1 A\n");
    let output = sandbox.run(&["spec", "count", "SPEC.md"]);
    assert_eq!((output.stdout, output.stderr), (b"2\n".to_vec(), Vec::new()));
}

#[test]
fn what_is_no_list_is_refused_with_its_place() {
    let sandbox = with("package.json", "{\"name\": \"greet\"}\n");
    let (code, said) = sandbox.fails(&["plan", "load", "package.json"]);
    assert_eq!(code, 1);
    assert!(said.contains("package.json:1:1: error[unknown-format]"), "{said}");
}

#[test]
fn loading_again_takes_over_what_was_done_since_and_reopens_nothing() {
    let sandbox = with("openspec/changes/greet/tasks.md", TASKS);
    let load = ["plan", "load", "openspec/changes/greet/tasks.md"];
    sandbox.ok(&load);
    sandbox.ok(&["task", "done", "2.1"]);
    // Begun again here: the list does not know better.
    sandbox.ok(&["task", "start", "1.1"]);
    sandbox.write("openspec/changes/greet/tasks.md", TASKS.replace("- [ ] 1.2", "- [x] 1.2"));
    let said = sandbox.ok(&load);
    assert!(said.contains("is already loaded and unchanged\ntaken over: 1 done, as `claimed`\n"), "{said}");
    assert_eq!(
        stands(&sandbox, &["1.1", "1.2", "2.1"]),
        ["1.1 in_progress claimed", "1.2 done claimed", "2.1 done forced"]
    );
}

/// A draft is known by its path as its file is: the yes is to the same plan.
#[test]
fn a_list_can_be_proposed_and_approved() {
    let file = "openspec/changes/greet/tasks.md";
    let sandbox = with(file, TASKS);
    sandbox.ok(&["plan", "propose", file]);
    let said = sandbox.ok(&["plan", "approve", "--yes"]);
    assert!(said.contains("it is loaded as plan greet: 3 tasks, 2 open\n"), "{said}");
    let written = fs::read_to_string(sandbox.root().join(file)).unwrap();
    assert!(written.contains("**Approved:**"), "{written}");
    let said = sandbox.ok(&["plan", "load", file]);
    assert!(said.starts_with("plan greet is already loaded and unchanged\n"), "{said}");
}

/// A human may say that it is done; from an agent that is its word.
#[test]
fn an_agents_list_does_not_close_what_has_a_check() {
    let spec = r#"{"feature": "F", "decisions": false, "phases": [{"id": "p", "tasks": [
        {"id": "1", "task": "A", "verification": "false", "status": "done"},
        {"id": "2", "task": "B", "status": "done"}]}]}"#;
    let sandbox = with("SPEC.json", spec);
    let output = sandbox.as_agent("s1", &["plan", "load", "SPEC.json"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("1 task was done there, but stays open here until its check passes"), "{said}");
    assert_eq!(stands(&sandbox, &["1", "2"]), ["1 pending -", "2 done claimed"]);
    let sandbox = with("SPEC.json", spec);
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    assert_eq!(stands(&sandbox, &["1", "2"]), ["1 done claimed", "2 done claimed"]);
}

#[test]
fn what_was_done_elsewhere_gives_no_refusals_back() {
    let sandbox = with("tasks.md", "- [ ] One\n- [ ] Two\n");
    sandbox.ok(&["plan", "load", "tasks.md"]);
    sandbox.hook("UserPromptSubmit", "s1", serde_json::json!({"prompt": "do the tasks of tasks.md"}));
    assert!(sandbox.stop_is_refused("s1"));
    let left = || sandbox.session("s1").peek().unwrap().stop;
    let before = left();
    sandbox.write("tasks.md", "- [x] One\n- [ ] Two\n");
    sandbox.ok(&["plan", "load", "tasks.md"]);
    assert_eq!(left(), before);
}

#[test]
fn a_plan_is_exported_and_loaded_again() {
    let sandbox = with(".beads/issues.jsonl", ISSUES);
    sandbox.ok(&["plan", "load", ".beads/issues.jsonl"]);
    for (to, file) in [("beads", "issues.jsonl"), ("markdown", "PLAN.md"), ("json", "PLAN.json")] {
        let printed = sandbox.ok(&["plan", "export", "--to", to]);
        sandbox.ok(&["plan", "export", "--to", to, "--output", file]);
        let written = fs::read_to_string(sandbox.root().join(file)).unwrap();
        assert_eq!(printed.lines().count(), written.lines().count());
        let other = with(file, &written);
        other.ok(&["plan", "load", file]);
        assert_eq!(
            stands(&other, &["bd-1", "bd-2", "bd-3", "bd-4"]),
            ["bd-1 done claimed", "bd-2 in_progress -", "bd-3 blocked -", "bd-4 pending -"],
            "{written}"
        );
        assert_eq!(other.task("bd-4")["blocked_by"], serde_json::json!(["bd-2"]));
    }
    let markdown = sandbox.ok(&["plan", "export", "--to", "markdown"]);
    insta::assert_snapshot!(markdown, @r"
    # bd

    Decisions: none

    ## Issues of bd {#tasks}

    - [x] Greet people {#bd-1}
      - Status: done: shipped
    - [~] Wave {#bd-2}
      - Depends on: bd-1
      - Status: in_progress
    - [!] Bow {#bd-3}
      - Status: blocked: it was blocked in .beads/issues.jsonl
      > bug, priority 0
    - [ ] Smile {#bd-4}
      - Depends on: bd-2
    ");
}
