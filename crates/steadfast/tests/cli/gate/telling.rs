//! What `status`, `why` and the MCP server say of the gate.

use super::*;
use crate::mcp::{Server, text};

#[test]
fn status_says_what_waits() {
    let sandbox = proposed();
    let said = sandbox.without_paths(sandbox.ok(&["status"]).as_bytes());
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("plan")).collect();
    insta::assert_snapshot!(plain(&lines.join("\n")), @"
    needs a human: plan HASH8 awaits approval: Sign in with a code; `steadfast plan approve HASH8` shows it and asks
    the plan gate of session me is closed: .tdd-progress.md, PLAN.md cannot be written
    ");
    let status: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!((&status["gate"], &status["approval"]), (&json!("locked"), &json!("required")));
    assert_eq!(status["draft"]["title"], "Sign in with a code");
    assert_eq!(status["kept"], json!([]));
}

#[test]
fn why_explains_a_refusal_with_the_gate() {
    let sandbox = proposed();
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.write_tool("me", "PLAN.md");
    let said = sandbox.without_paths(sandbox.ok(&["why", "--session", "me"]).as_bytes());
    let refused = "Just now `approval` refused `Write /repo/PLAN.md` of session me: The plan is not approved.";
    assert!(said.starts_with(refused), "{said}");
    let (_, gate) = said.split_once("The plan gate:\n").unwrap();
    insta::assert_snapshot!(plain(gate.trim()), @r"
    the plan gate of session me is closed: .tdd-progress.md, PLAN.md cannot be written; plan HASH8 waits for approval: Sign in with a code
    ");
    let json: Value = serde_json::from_str(&sandbox.ok(&["why", "--json"])).unwrap();
    assert_eq!(json["gate"], json!({"state": "locked", "put_back": [], "kept": []}));
}

#[test]
fn what_was_put_back_is_told_with_where_the_rest_is() {
    let sandbox = proposed();
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "make plan"}});
    sandbox.hook("PreToolUse", "me", call.clone());
    sandbox.write("PLAN.md", "**Approved:** now\n");
    sandbox.hook("PostToolUse", "me", call);
    assert!(!sandbox.root().join("PLAN.md").exists(), "it was not there when the gate closed");
    let said = sandbox.without_paths(sandbox.ok(&["why"]).as_bytes());
    let (_, gate) = said.split_once("The plan gate:\n").unwrap();
    assert!(
        gate.contains("`PLAN.md` was not there when the gate closed; it is in `/repo/.git/steadfast/seals/kept/"),
        "{gate}"
    );
    let status = sandbox.ok(&["status"]);
    assert!(
        status.contains("Steadfast restored a file while the plan gate was closed; the changed version is in "),
        "{status}"
    );
    // The log is bounded; what was kept is there all the same.
    fs::remove_file(sandbox.place().state.join("hook.log")).unwrap();
    let said = sandbox.without_paths(sandbox.ok(&["why"]).as_bytes());
    let kept = "  1 file is set aside; the newest is /repo/.git/steadfast/seals/kept/";
    assert!(said.lines().any(|line| line.starts_with(kept)), "{said}");
}

#[test]
fn what_has_no_copy_is_not_put_back_and_that_is_told() {
    let sandbox = with_spec();
    sandbox.write(".tdd-progress.md", "as it was");
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.agent(&["plan", "lock"]);
    let seals = sandbox.place().state.join("seals");
    let copies = fs::read_dir(seals).unwrap().flat_map(|scope| fs::read_dir(scope.unwrap().path()).unwrap());
    for file in copies.map(|file| file.unwrap().path()) {
        if fs::read(&file).is_ok_and(|text| text == b"as it was") {
            fs::remove_file(file).unwrap();
        }
    }
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "make plan"}});
    sandbox.hook("PreToolUse", "me", call.clone());
    sandbox.write(".tdd-progress.md", "something else");
    sandbox.hook("PostToolUse", "me", call);
    assert_eq!(fs::read_to_string(sandbox.root().join(".tdd-progress.md")).unwrap(), "something else");
    let said = sandbox.ok(&["why"]);
    let told = "`.tdd-progress.md` is not as sealed, and there is no copy to restore it from";
    assert!(said.contains(told), "{said}");
}

/// What an agent is told that may not do this.
fn reason(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_refused_beside_the_plan_is_told_with_the_reason() {
    let sandbox = with_spec();
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.agent(&["plan", "lock"]);
    let key = sandbox.home().join(".local/state/steadfast/approval.key");
    let files = ["steadfast.toml", ".claude/settings.local.json", ".git/steadfast/state.db", key.to_str().unwrap()];
    let mut told: Vec<String> = files.iter().map(|file| reason(&sandbox.write_tool("me", file))).collect();
    sandbox.hook("SubagentStart", "me", json!({"agent_id": "a-1", "agent_type": "planner"}));
    let input = json!({"file_path": sandbox.root().join("notes.txt"), "content": "x"});
    let call = json!({"tool_name": "Write", "tool_use_id": "p-1", "tool_input": input, "agent_id": "a-1",
        "agent_type": "planner"});
    told.push(reason(&sandbox.hook("PreToolUse", "me", call)));
    insta::assert_snapshot!(sandbox.without_paths(told.join("\n").as_bytes()), @r"
    `steadfast.toml` cannot be changed while the plan gate is closed.
    `.claude/settings.local.json` decides whether Steadfast is called. A human changes it; `steadfast pause` in a terminal lets an agent do it.
    .git/steadfast/ is Steadfast's own state. `steadfast task` and `steadfast status` show what is in it.
    The key that approvals are signed with is for Steadfast alone.
    A planner may read, and write only .steadfast/scratch/: `notes.txt` is not written.
    ");
}

#[test]
fn the_server_keeps_a_draft_in_the_words_of_the_command_line() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    let said = text(&server.call("plan_propose", json!({"text": SPEC, "path": "PLAN.md"})));
    insta::assert_snapshot!(plain(&said), @r"
    plan HASH8: Sign in with a code, 2 tasks, to be written to PLAN.md
    The plan gate is closed now. A human approves it with the message `approve plan HASH8`, in Claude Code's question, or by `steadfast plan approve HASH8` in a terminal.
    ");
    let status = server.call("plan_status", json!({}))["structuredContent"].clone();
    assert_eq!(
        (&status["approval"], &status["gate"], &status["plan"]),
        (&json!("required"), &json!("locked"), &Value::Null)
    );
    let wrong = server.call("plan_propose", json!({"text": "# Nothing to do"}));
    assert_eq!(wrong["isError"], true);
    let refused = server.call("plan_propose", json!({"text": SPEC, "path": "/etc/passwd"}));
    let said = refused["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("error: a plan cannot be written to `/etc/passwd`"), "{said}");
}
