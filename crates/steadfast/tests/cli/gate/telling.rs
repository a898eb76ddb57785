//! What `status`, `why` and the MCP server say of the gate.

use super::*;
use crate::mcp::{Server, text};

#[test]
fn status_says_what_waits() {
    let sandbox = proposed();
    let said = sandbox.without_paths(sandbox.ok(&["status"]).as_bytes());
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("plan")).collect();
    insta::assert_snapshot!(plain(&lines.join("\n")), @r"
    the plan gate of session me is closed: .tdd-progress.md, PLAN.md cannot be written
    needs a human: plan HASH8 waits for a yes: Sign in with a code; `steadfast plan approve HASH8` shows it and asks
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
    the plan gate of session me is closed: .tdd-progress.md, PLAN.md cannot be written; plan HASH8 waits for a yes: Sign in with a code
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
    assert!(status.contains("put back while the plan gate was closed: what stood there is in "), "{status}");
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
    assert!(said.starts_with("error: `/etc/passwd` is no place for a plan"), "{said}");
}
