//! Who is bound to a plan, with the built binary: several sessions, leases, and how a binding ends.

use serde_json::json;

use crate::plans::decided;
use crate::sandbox::Sandbox;

impl Sandbox {
    fn starts(&self, session: &str) {
        self.hook("SessionStart", session, json!({"source": "startup"}));
    }

    fn prompts(&self, session: &str, prompt: &str) -> String {
        self.hook("UserPromptSubmit", session, json!({"prompt": prompt}))
    }

    fn stops_with(&self, session: &str, message: &str) -> String {
        let stop = json!({"stop_hook_active": false, "background_tasks": [], "last_assistant_message": message});
        self.hook("Stop", session, stop)
    }

    fn wrote_file(&self, session: &str, file: &str) -> String {
        let path = self.root().join(file);
        let call = json!({"tool_name": "Write", "tool_use_id": format!("{session}-{file}"),
            "tool_input": {"file_path": path, "content": "x"}, "tool_response": {"success": true}});
        self.hook("PostToolUse", session, call)
    }

    fn refused(&self, session: &str, arguments: &[&str]) -> (i32, String) {
        let output = self.as_agent(session, arguments);
        (output.status.code().unwrap(), self.without_paths(&output.stderr))
    }
}

#[test]
fn a_session_resumed_beside_the_window_that_made_a_checkpoint_is_held_too() {
    let sandbox = decided();
    sandbox.starts("old");
    sandbox.prompts("old", "Run the plan");
    assert!(sandbox.as_agent("old", &["task", "start", "1.1"]).status.success());
    let said = sandbox.stops_with("old", "<promise>CONTEXT LIMIT - CHECKPOINT</promise>");
    assert!(!said.contains("\"block\"") && said.contains("`steadfast resume`"), "{said}");

    let printed = sandbox.ok(&["resume", "--print", "--host", "claude"]);
    let prompt = printed.split('\'').nth(1).unwrap();
    sandbox.starts("new");
    let told = sandbox.prompts("new", prompt);
    assert!(told.contains("steadfast plan release"), "{told}");
    let held = sandbox.stops_with("new", "<promise>ALL TASKS COMPLETE</promise>");
    assert!(held.contains("\"block\"") && held.contains("1.1 Greet people"), "{held}");
    assert!(sandbox.as_agent("new", &["task", "start", "1.1"]).status.success(), "it was put down at the checkpoint");
    sandbox.prompts("old", "how far are we?");
    assert!(sandbox.stop_is_refused("old"), "the old window is bound as before");
}

#[test]
fn a_cleared_session_beside_the_owner_stays_bound() {
    let sandbox = decided();
    for session in ["owner", "second"] {
        sandbox.starts(session);
        sandbox.prompts(session, "do the tasks");
    }
    let clear = |from: &str, to: &str| {
        sandbox.hook("SessionEnd", from, json!({"reason": "clear"}));
        sandbox.hook("SessionStart", to, json!({"source": "clear"}))
    };
    let told = clear("second", "third");
    assert!(told.contains("tasks are open"), "{told}");
    let held = sandbox.stops_with("third", "Let me know!");
    assert!(held.contains("\"block\"") && held.contains("1.1 Greet people"), "{held}");
    clear("third", "fourth");
    assert!(sandbox.stop_is_refused("fourth"), "it is inherited again");
    sandbox.prompts("fourth", "Stop here, leave the rest.");
    clear("fourth", "fifth");
    assert!(!sandbox.stop_is_refused("fifth"), "a session that was released leaves nothing");
    sandbox.hook("SessionEnd", "owner", json!({"reason": "prompt_input_exit"}));
    sandbox.starts("new");
    assert!(!sandbox.stop_is_refused("new"), "another window is not bound by it");
}

#[test]
fn what_one_session_has_started_is_not_taken_by_another() {
    let sandbox = decided();
    for session in ["one", "two"] {
        sandbox.starts(session);
        sandbox.prompts(session, "do the tasks");
    }
    assert!(sandbox.as_agent("one", &["task", "start", "1.1"]).status.success());
    assert_eq!(
        sandbox.refused("two", &["task", "start", "1.1"]),
        (
            2,
            "error: task `1.1` is in progress in session one\n\nhint: `steadfast task next` shows a task that no \
             other session works on\n"
                .to_owned()
        )
    );
    let next = sandbox.as_agent("two", &["task", "next"]);
    assert!(!String::from_utf8_lossy(&next.stdout).contains("1.1 "), "{next:?}");
    let held = sandbox.stops_with("two", "Let me know!");
    assert!(held.contains("\"block\"") && !held.contains("1.1 Greet people"), "{held}");
    let held = sandbox.stops_with("one", "Let me know!");
    assert!(held.contains("1.1 Greet people (in progress)"), "{held}");
    sandbox.hook("SessionEnd", "one", json!({"reason": "prompt_input_exit"}));
    assert!(sandbox.as_agent("two", &["task", "start", "1.1"]).status.success(), "its session is over");
}

#[test]
fn a_human_releases_the_sessions_of_this_worktree_and_an_agent_does_not() {
    let sandbox = decided();
    assert_eq!(sandbox.ok(&["plan", "release"]), "No session is bound to the plan of this worktree.\n");
    for session in ["one", "two", "reader"] {
        sandbox.starts(session);
    }
    sandbox.prompts("one", "do the tasks");
    sandbox.prompts("two", "continue with the plan");
    sandbox.prompts("reader", "what is the plan?");
    let (code, said) = sandbox.refused("one", &["plan", "release"]);
    assert!(code == 2 && said.contains("human"), "{code} {said}");
    assert!(sandbox.stop_is_refused("one") && sandbox.stop_is_refused("two"));
    let said = sandbox.ok(&["plan", "release"]);
    assert!(said.contains("session one is released") && said.contains("session two is released"), "{said}");
    assert!(!said.contains("reader"), "{said}");
    assert!(!sandbox.stop_is_refused("one") && !sandbox.stop_is_refused("two"));
    let status = sandbox.ok(&["status", "--json"]);
    assert!(status.contains("\"released\":\"released by the user\""), "{status}");
    assert!(!status.contains("\"released\":\"complete\""), "{status}");
    sandbox.prompts("one", "ok, finish the rest");
    assert!(sandbox.stop_is_refused("one"));
}

#[test]
fn an_edit_alone_is_told_once_and_after_a_bare_go_ahead_it_binds() {
    let sandbox = decided();
    sandbox.starts("edits");
    sandbox.prompts("edits", "Fix the typo in greet.txt");
    let told = sandbox.wrote_file("edits", "greet.txt");
    assert!(told.contains("belongs to the open task 1.1"), "{told}");
    assert!(!sandbox.wrote_file("edits", "greet.txt").contains("belongs to"));
    assert!(!sandbox.stop_is_refused("edits"));
    sandbox.prompts("edits", "go");
    sandbox.wrote_file("edits", "greet.md");
    assert!(sandbox.stop_is_refused("edits"));
}

#[test]
fn who_is_bound_to_a_plan_is_held_while_another_is_in_force() {
    let sandbox = decided();
    sandbox.starts("bound");
    sandbox.prompts("bound", "Run the plan");
    sandbox.write(
        "OTHER.json",
        r#"{"feature": "Other", "phases": [{"id": "p", "name": "P", "tasks": [
            {"id": "9.1", "task": "Something else", "verification": "true"}]}]}"#,
    );
    sandbox.ok(&["plan", "load", "OTHER.json"]);
    let said = sandbox.stops_with("bound", "<promise>ALL TASKS COMPLETE</promise>");
    assert!(said.contains("\"block\"") && said.contains("1.1 Greet people"), "{said}");
}

#[test]
fn a_plan_that_is_loaded_again_keeps_all_who_are_bound_to_it() {
    let sandbox = decided();
    for session in ["one", "two"] {
        sandbox.starts(session);
        sandbox.prompts(session, "do the tasks");
    }
    let spec = std::fs::read_to_string(sandbox.root().join("SPEC.json")).unwrap();
    sandbox.write("SPEC.json", spec.replace("Describe it", "Describe it well"));
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    assert!(sandbox.stop_is_refused("one") && sandbox.stop_is_refused("two"));
}
