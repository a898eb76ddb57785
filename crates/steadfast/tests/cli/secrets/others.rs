//! The same through loops, reviews, the MCP server, and a file that a human takes.

use std::fs;

use serde_json::json;
use steadfast_model::{Finding, FindingSeverity, Millis, Resolution, ReviewKind};
use steadfast_store::ledger::{Ledger, NewReview};

use super::{found_in, kinds, settle, told};
use crate::mcp::Server;
use crate::run::git;
use crate::sandbox::Sandbox;

/// Nothing of it is kept, but where sealed files are, and nothing was shown.
fn assert_nowhere(sandbox: &Sandbox, secrets: &[String], shown: &str) {
    settle(sandbox);
    let seen: Vec<&String> = secrets.iter().filter(|secret| shown.contains(secret.as_str())).collect();
    assert_eq!(seen, Vec::<&String>::new());
    let kept = found_in(&sandbox.place().state, secrets).into_iter().filter(|line| !line.contains("/seals/"));
    assert_eq!(kept.collect::<Vec<_>>(), Vec::<String>::new());
    assert_eq!(found_in(&sandbox.root().join(".steadfast"), secrets), Vec::<String>::new());
}

fn all() -> (Vec<String>, Vec<String>) {
    kinds().into_iter().map(|(said, secret)| (said.replace("{}", &secret), secret)).unzip()
}

#[test]
fn of_a_loop_and_its_reviews_nothing_is_kept() {
    let sandbox = Sandbox::new();
    let (said, secrets) = all();
    let lines: String = said.iter().map(|line| format!("- {line}\n")).collect();
    let spec = format!(
        "# Codes\n\nPeople sign in with a code.\n\n## Constraints\n{lines}\n## Success criteria\n{lines}\n\
         ## Phase 1: Codes\n\n- [ ] 1.1 Make codes\n  - Files: src/code.txt\n  - Verify: `true`\n"
    );
    sandbox.write("SPEC.md", spec);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "a spec"]);
    let mut shown = sandbox.hook("SessionStart", "of-secrets", json!({"source": "startup"}));
    for words in [
        &["loop", "start", "SPEC.md"][..],
        &["loop", "advance", "shape"],
        &["loop", "shape", "SPEC.md"],
        &["loop", "advance", "decompose"],
        &["plan", "load", "SPEC.md"],
        &["loop", "advance", "executing"],
    ] {
        let output = sandbox.as_agent("of-secrets", words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        shown += &String::from_utf8_lossy(&output.stdout);
        shown += &String::from_utf8_lossy(&output.stderr);
    }
    let mut ledger = Ledger::open(&sandbox.place().state).unwrap();
    let id = ledger.unfinished_loop(&sandbox.place().worktree()).unwrap().unwrap().id;
    let finding = |text: &String| Finding {
        id: 0,
        severity: FindingSeverity::Blocker,
        file: "src/code.txt".into(),
        line: 1,
        expert: "security".into(),
        text: text.clone(),
        must_not: Some(text.clone()),
        resolution: Resolution::Open,
    };
    let findings: Vec<Finding> = said.iter().map(finding).collect();
    let review = NewReview {
        kind: ReviewKind::Light { wave: 1 },
        score: Some(3),
        findings: &findings,
        passed: false,
        now: Millis(1),
    };
    ledger.add_review(&id, &review).unwrap();
    drop(ledger);
    for (number, why) in said.iter().enumerate().step_by(4) {
        shown += &told(&sandbox, &["loop", "review", "waive", &(number + 1).to_string(), "--why", why]);
    }
    for words in [&["loop", "status"][..], &["loop", "status", "--json"], &["status"], &["resume", "--print"], &["log"]]
    {
        shown += &told(&sandbox, words);
    }
    shown += &sandbox.hook(
        "Stop",
        "of-secrets",
        json!({"stop_hook_active": false, "background_tasks": [], "last_assistant_message": said.join("\n")}),
    );
    assert!(shown.contains("[redacted:"));
    assert_nowhere(&sandbox, &secrets, &shown);
}

#[test]
fn through_the_mcp_server_comes_no_secret() {
    let sandbox = Sandbox::new();
    let (said, secrets) = all();
    let mut server = Server::start(&sandbox);
    server.ask(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    );
    let mut shown = String::new();
    for (number, some) in said.chunks(4).enumerate() {
        let (text, id) = (some.join(" "), (number + 1).to_string());
        for (tool, arguments) in [
            ("task_add", json!({"title": format!("Task {number} {text}")})),
            ("task_start", json!({"id": id})),
            ("task_note", json!({"id": id, "text": text})),
            ("decide", json!({"text": text, "why": text})),
            ("task_block", json!({"id": id, "why": text})),
            ("task_list", json!({})),
            ("plan_status", json!({})),
        ] {
            let answer = server.call(tool, arguments);
            assert_ne!(answer["isError"], true, "{tool}: {answer}");
            shown += &answer.to_string();
        }
    }
    assert!(shown.contains("[redacted:"), "{shown}");
    drop(server);
    shown += &told(&sandbox, &["task", "list", "--json"]);
    assert_nowhere(&sandbox, &secrets, &shown);
}

/// The file's own content stays in the seal, as documented. What is said of it and journalled holds none.
#[test]
fn of_a_file_that_a_human_takes_only_the_seal_keeps_it() {
    let sandbox = Sandbox::new();
    let (said, secrets) = all();
    sandbox.write("steadfast.toml", "[approval]\nprotected = [\"gated.txt\"]\n");
    sandbox.write("gated.txt", "as it was\n");
    sandbox.write("draft.md", "# F\n\n## Phase 1: P\n\n- [ ] 1.1 Do it\n  - verify: `true`\n");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "gated"]);
    let session = "takes-secrets";
    let mut shown = sandbox.hook("SessionStart", session, json!({"source": "startup"}));
    let proposed = sandbox.as_agent(session, &["plan", "propose", "draft.md", "--path", "PLAN.md"]);
    assert!(proposed.status.success(), "{}", String::from_utf8_lossy(&proposed.stderr));
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "sh write.sh"}, "tool_response": {}});
    shown += &sandbox.hook("PreToolUse", session, call.clone());
    sandbox.write("gated.txt", said.join("\n"));
    shown += &sandbox.hook("PostToolUse", session, call);
    assert_eq!(fs::read_to_string(sandbox.root().join("gated.txt")).unwrap(), "as it was\n", "{shown}");
    shown += &told(&sandbox, &["plan", "take", "gated.txt"]);
    assert_eq!(fs::read_to_string(sandbox.root().join("gated.txt")).unwrap(), said.join("\n"), "{shown}");
    for words in [&["status"][..], &["why"], &["log"], &["plan", "status"]] {
        shown += &told(&sandbox, words);
    }
    assert_nowhere(&sandbox, &secrets, &shown);
}
