use std::fs;

use serde_json::json;

use crate::sandbox::Sandbox;

const PLAN: &str = "# TDD Progress: Sign in\n\n## Slice 1: Guard the pipe\n\n**Status:** done\n\n\
    ## Slice 2: Lock\n\n**Status:** fail\n**Depends on:** Slice 1\n\n### Test 1\n\n**Status:** pass\n\n\
    ## Slice 3: Lifecycle\n\n**Status:** pending\n**Depends on:** Slice 2\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("steadfast.toml", "[ledger]\nsource = \"tdd-progress\"\n");
    sandbox.write(".tdd-progress.md", PLAN);
    sandbox
}

fn tasks(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.ok(&["task", "list"]);
    let words = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    listed.lines().map(words).collect()
}

fn file(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.root().join(".tdd-progress.md")).unwrap()
}

#[test]
fn slices_are_tasks_and_what_failed_is_not_over() {
    let sandbox = sandbox();
    sandbox.ok(&["plan", "load"]);
    assert_eq!(tasks(&sandbox), ["1 done", "2 pending", "3 pending"]);
    sandbox.ok(&["task", "start", "2"]);
    assert_eq!(file(&sandbox), PLAN.replace("**Status:** fail", "**Status:** in-progress"));
    sandbox.ok(&["task", "done", "2"]);
    assert_eq!(file(&sandbox), PLAN.replace("**Status:** fail", "**Status:** done"));
    sandbox.ok(&["task", "block", "3", "--why", "no   key"]);
    assert!(file(&sandbox).contains("**Status:** blocked: no key\n"), "{}", file(&sandbox));
    assert_eq!(tasks(&sandbox), ["1 done", "2 done", "3 blocked"]);
}

#[test]
fn on_an_agents_word_a_slice_is_not_done_in_the_file() {
    let sandbox = sandbox();
    sandbox.ok(&["plan", "load"]);
    assert!(sandbox.as_agent("me", &["task", "start", "2"]).status.success());
    sandbox.write("lock.sh", "");
    let output = sandbox.as_agent("me", &["task", "done", "2"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success()
            && said.contains("2 stays in progress there, because no check confirms that it is done"),
        "{said}"
    );
    assert_eq!(file(&sandbox), PLAN.replace("**Status:** fail", "**Status:** in-progress"));
    // Here it counts as done, and a human's word closes it there.
    assert_eq!(tasks(&sandbox), ["1 done", "2 done", "3 pending"]);
    sandbox.ok(&["task", "done", "2", "--force"]);
    assert_eq!(file(&sandbox), PLAN.replace("**Status:** fail", "**Status:** done"));
}

#[test]
fn what_is_written_into_the_file_is_what_holds() {
    let sandbox = sandbox();
    sandbox.ok(&["plan", "load"]);
    sandbox.write(".tdd-progress.md", PLAN.replace("fail", "pass").replace("Lifecycle", "The lock's life"));
    let output = sandbox.run(&["task", "list"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "`.tdd-progress.md`: 2 was closed there: Lock\n`.tdd-progress.md`: 3 was renamed: The lock's life\n"
    );
    assert_eq!(tasks(&sandbox), ["1 done", "2 done", "3 pending"]);
}

#[test]
fn nobody_is_held_by_slices_that_nobody_approved() {
    let sandbox = sandbox();
    let begin = |session: &str| {
        sandbox.hook("SessionStart", session, json!({"source": "startup"}));
        sandbox.hook("UserPromptSubmit", session, json!({"prompt": "Work on the tasks."}))
    };
    let said = begin("one");
    assert!(said.contains("not approved") || said.contains("approv"), "{said}");
    assert!(!sandbox.stop_is_refused("one"));
    // A line in the file is no signature.
    sandbox.write(".tdd-progress.md", PLAN.replace("Sign in\n", "Sign in\n\n**Approved:** 2026-02-20T10:00:00Z\n"));
    begin("one");
    assert!(!sandbox.stop_is_refused("one"));
    assert!(sandbox.ok(&["plan", "status"]).contains("no signature"), "{}", sandbox.ok(&["plan", "status"]));
    // A human who loads it has approved it.
    sandbox.ok(&["plan", "load"]);
    begin("one");
    assert!(sandbox.stop_is_refused("one"));
    // Another plan in the same file is another plan.
    sandbox.write(".tdd-progress.md", PLAN.replace("Lifecycle", "Rewrite everything"));
    assert!(!sandbox.stop_is_refused("one"));
}

#[test]
fn a_sealed_file_is_not_written_and_that_is_said() {
    let sandbox = sandbox();
    sandbox.ok(&["plan", "load"]);
    sandbox.ok(&["plan", "lock"]);
    let output = sandbox.run(&["task", "done", "2"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`.tdd-progress.md` cannot be written while the plan gate is closed"), "{said}");
    assert_eq!(file(&sandbox), PLAN);
    sandbox.ok(&["plan", "unlock"]);
    sandbox.ok(&["task", "list"]);
    assert_eq!(file(&sandbox), PLAN.replace("**Status:** fail", "**Status:** done"));
}

#[test]
fn without_the_file_nothing_is_followed() {
    let sandbox = sandbox();
    fs::remove_file(sandbox.root().join(".tdd-progress.md")).unwrap();
    assert_eq!(tasks(&sandbox), Vec::<String>::new());
    let start = sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    assert_eq!(start, "");
    assert!(!sandbox.stop_is_refused("me"));
}
