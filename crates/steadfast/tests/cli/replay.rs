use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::transcript::session;

#[test]
fn every_action_is_a_line_with_the_keys_it_promises() {
    let sandbox = Sandbox::bare();
    fs::write(sandbox.root().join("a.jsonl"), session("/repo", &["ls", "steadfast off"])).unwrap();
    let said = sandbox.ok(&["replay", "a.jsonl", "--json"]);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reason =
        "Only a human can run `steadfast off`. If it is needed, say so; a human runs it in a terminal of their own.";
    assert_eq!(
        lines,
        [
            json!({
                "n": 1, "tool": "Bash", "target": "ls", "score": 10, "level": "none", "type": "none", "verdict": "pass",
                "reasons": [],
            }),
            json!({
                "n": 2, "tool": "Bash", "target": "steadfast off", "score": 10, "level": "none", "type": "none",
                "verdict": "deny", "reasons": [reason],
            }),
        ]
    );
}

#[test]
fn people_see_what_would_have_been_said() {
    let sandbox = Sandbox::bare();
    fs::write(sandbox.root().join("a.jsonl"), session("/repo", &["ls", "steadfast off"])).unwrap();
    let output = sandbox.run(&["replay", "a.jsonl"]);
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    2026-03-01 10:00:03  integrity (enforce)  deny  Bash steadfast off
        Only a human can run `steadfast off`. If it is needed, say so; a human runs it in a terminal of their own.
    ");
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    2 actions, 0 steps, 1 verdict
    ");
}

#[test]
fn every_step_has_its_score_and_all_of_them_are_a_picture() {
    let sandbox = Sandbox::bare();
    let commands =
        ["cat src/auth/token.rs", "echo 1 > src/auth/token.rs", "echo 2 > web/menu.ts", "echo 3 > web/menu.ts"];
    fs::write(sandbox.root().join("a.jsonl"), session("/repo", &commands)).unwrap();
    let said = sandbox.ok(&["replay", "a.jsonl", "--json", "--scope", "src/auth/"]);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scored: Vec<_> = lines.iter().map(|line| (line["score"].clone(), line["level"].clone())).collect();
    let of = |score: u8, level: &str| (json!(score), json!(level));
    assert_eq!(scored, [of(10, "none"), of(10, "none"), of(7, "nudge"), of(5, "correct")]);
    let picture = sandbox.ok(&["replay", "a.jsonl", "--scope", "src/auth/"]);
    assert!(picture.ends_with("█▆▄\n"), "{picture}");
}

#[test]
fn the_rules_of_the_repository_hold_and_nothing_is_left_behind() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join("steadfast.toml"), "[mode]\nintegrity = \"observe\"\n").unwrap();
    fs::write(sandbox.root().join("a.jsonl"), session("/repo", &["steadfast off"])).unwrap();
    let said = sandbox.ok(&["replay", "a.jsonl"]);
    assert!(said.contains("integrity (observe)  deny"), "{said}");
    assert!(!sandbox.session("s-1").dir().exists(), "a replay is no session");
}

#[test]
fn what_nobody_writes_is_said_to_be_so() {
    let sandbox = Sandbox::bare();
    fs::write(sandbox.root().join("a.jsonl"), "hello\n").unwrap();
    let (code, said) = sandbox.fails(&["replay", "a.jsonl"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @"
    error: `a.jsonl` is not a Claude Code or Codex transcript, and not a recording of `steadfast proxy`

    hint: `steadfast transcript stats` lists the transcripts of this repository
    ");
}
