use serde_json::{Value, json};
use steadfast_hosts::transcript::{Stats, TokenUsage};
use steadfast_model::{Host, Millis};

use crate::sample::{File, codex, lines};

fn tokens(second: u32, input: u64, cached: u64, output: u64) -> Value {
    let total = json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output});
    codex(second, "event_msg", json!({"type": "token_count", "info": {"total_token_usage": total}}))
}

fn exec(second: u32, id: &str, command: &str) -> Value {
    let arguments = json!({"cmd": command}).to_string();
    codex(
        second,
        "response_item",
        json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}),
    )
}

fn output(second: u32, id: &str, output: &str) -> Value {
    codex(second, "response_item", json!({"type": "function_call_output", "call_id": id, "output": output}))
}

fn session() -> Vec<Value> {
    let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"text": text}]});
    vec![
        codex(0, "session_meta", json!({"id": "t-1", "cwd": "/repo", "source": "cli", "cli_version": "0.142.4"})),
        codex(0, "response_item", message("user", "# AGENTS.md instructions for /repo")),
        codex(1, "turn_context", json!({"turn_id": "u-1", "cwd": "/repo", "collaboration_mode": {"mode": "plan"}})),
        codex(1, "response_item", message("user", "fix the auth bug")),
        codex(1, "event_msg", json!({"type": "user_message", "message": "fix the auth bug"})),
        exec(2, "c-1", "cargo test"),
        output(5, "c-1", "Chunk ID: x\nWall time: 3 seconds\nProcess exited with code 101\nOutput:\nfailed"),
        tokens(5, 1_000, 600, 20),
        tokens(5, 1_000, 600, 20),
        codex(
            6,
            "response_item",
            json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c-2",
            "input": "*** Begin Patch\n*** Update File: src/auth.rs\n*** End Patch"}),
        ),
        codex(
            7,
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": "c-2", "output": "Exit code: 0"}),
        ),
        codex(
            7,
            "response_item",
            json!({"type": "function_call", "name": "write_stdin", "arguments": "{}", "call_id": "c-3"}),
        ),
        codex(
            8,
            "response_item",
            json!({"type": "function_call", "name": "read_wiki", "namespace": "mcp__deepwiki",
            "arguments": "{\"q\":1}", "call_id": "c-4"}),
        ),
        codex(8, "response_item", json!({"type": "web_search_call", "status": "completed"})),
        tokens(9, 3_000, 2_000, 50),
        codex(9, "compacted", json!({"message": "", "replacement_history": []})),
        codex(9, "event_msg", json!({"type": "context_compacted"})),
        codex(10, "response_item", message("assistant", "Fixed.")),
        codex(11, "event_msg", json!({"type": "task_complete", "turn_id": "u-1", "last_agent_message": "Fixed."})),
        codex(12, "event_msg", json!({"type": "user_message", "message": "and the theme"})),
        codex(13, "event_msg", json!({"type": "turn_aborted", "reason": "interrupted"})),
        codex(13, "response_item", message("user", "<turn_aborted>\nThe user interrupted the turn")),
    ]
}

#[test]
fn a_session_is_told_again_as_the_hooks_would_have() {
    let file = File::of(lines(&session()));
    insta::assert_snapshot!(file.told(), @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"fix the auth bug","origin":"human"}}
    {"pre_tool":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"cargo test"}}}}
    {"post_tool":{"call":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"cargo test"}}},"outcome":"ok","millis":3000}}
    {"pre_tool":{"id":"c-2","tool":"apply_patch","action":{"write":{"paths":["src/auth.rs"]}}}}
    {"post_tool":{"call":{"id":"c-2","tool":"apply_patch","action":{"write":{"paths":["src/auth.rs"]}}},"outcome":"ok","millis":1000}}
    {"pre_tool":{"id":"c-4","tool":"mcp__deepwiki__read_wiki","action":{"mcp":{"server":"deepwiki","tool":"read_wiki"}}}}
    {"pre_compact":{"trigger":""}}
    {"post_compact":{"trigger":""}}
    {"session_start":{"source":"compact"}}
    {"stop":{"again":false,"last_message":"Fixed."}}
    {"prompt":{"text":"and the theme","origin":"human"}}
    "interrupt"
    "#);
    assert!(
        file.events()
            .iter()
            .all(|event| event.session.as_str() == "t-1" && event.planning == (event.at.0 % 60_000 > 0))
    );
}

#[test]
fn a_session_in_numbers() {
    let tools = [("Bash", 1), ("apply_patch", 1), ("mcp__deepwiki__read_wiki", 1), ("write_stdin", 1)];
    let expected = Stats {
        host: Some(Host::Codex),
        records: 22,
        damaged: 0,
        prompts: 2,
        tool_calls: 4,
        by_tool: tools.map(|(tool, count)| (tool.to_owned(), count)).into(),
        subagent_calls: 0,
        compactions: 1,
        interrupts: 1,
        tokens: TokenUsage { input: 1_000, cache_read: 2_000, cache_write: 0, output: 50 },
        models: [(String::new(), TokenUsage { input: 1_000, cache_read: 2_000, cache_write: 0, output: 50 })].into(),
        began: Some(Millis(1_772_359_200_000)),
        ended: Some(Millis(1_772_359_213_000)),
    };
    assert_eq!(File::of(lines(&session())).stats(), expected);
}

#[test]
fn what_a_sum_grew_by_belongs_to_the_model_of_the_turn() {
    let turn = |second: u32, model: &str| codex(second, "turn_context", json!({"turn_id": "u", "model": model}));
    let rows = [
        codex(0, "session_meta", json!({"id": "t-1", "cwd": "/repo"})),
        turn(1, "gpt-5.5"),
        tokens(2, 1_000, 0, 20),
        turn(3, "gpt-5-mini"),
        tokens(4, 1_500, 100, 30),
    ];
    let models = File::of(lines(&rows)).stats().models;
    let used = |input, cache_read, output| TokenUsage { input, cache_read, cache_write: 0, output };
    assert_eq!(
        models.into_iter().collect::<Vec<_>>(),
        [("gpt-5-mini".to_owned(), used(400, 100, 10)), ("gpt-5.5".to_owned(), used(1_000, 0, 20))]
    );
}

#[test]
fn a_newer_version_tells_of_the_human_in_another_way() {
    let item = |second, item: Value| codex(second, "event_msg", json!({"type": "item_completed", "item": item}));
    let file = File::of(lines(&[
        codex(0, "session_meta", json!({"id": "t-1", "cwd": "/repo"})),
        item(1, json!({"type": "UserMessage", "content": [{"type": "text", "text": "go"}]})),
        codex(
            2,
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [{"text": "Let me know!"}]}),
        ),
        item(3, json!({"type": "HookPrompt", "fragments": [{"text": "1 task is open"}]})),
        exec(4, "c-1", "ls"),
        output(5, "c-1", "Process exited with code 0"),
    ]));
    assert_eq!(file.stats().prompts, 1);
    insta::assert_snapshot!(file.told(), @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"go","origin":"human"}}
    {"stop":{"again":false,"last_message":"Let me know!"}}
    {"pre_tool":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"ls"}}}}
    {"post_tool":{"call":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"ls"}}},"outcome":"ok","millis":1000}}
    "#);
}

#[test]
fn a_message_that_is_told_of_twice_is_one_prompt() {
    let item = json!({"type": "UserMessage", "content": [{"type": "text", "text": "go"}]});
    let rows = |second| {
        [
            codex(1, "event_msg", json!({"type": "user_message", "message": "go"})),
            codex(second, "event_msg", json!({"type": "item_completed", "item": item})),
        ]
    };
    assert_eq!(File::of(lines(&rows(2))).stats().prompts, 1);
    assert_eq!(File::of(lines(&rows(9))).stats().prompts, 2, "they say it again");
}

#[test]
fn the_rollout_of_a_subagent_is_not_the_humans() {
    let mut rows = session();
    rows[0]["payload"]["source"] = json!({"subagent": {"thread_spawn": {"depth": 1}}});
    rows[0]["payload"]["session_id"] = "t-0".into();
    let file = File::of(lines(&rows));
    let stats = file.stats();
    assert_eq!((stats.prompts, stats.tool_calls, stats.subagent_calls), (0, 0, 4));
    let events = file.events();
    let agents: Vec<&str> = events[1..].iter().map(|event| event.agent.as_ref().unwrap().id.as_str()).collect();
    assert!(agents.iter().all(|agent| *agent == "t-1"), "{agents:?}");
    assert_eq!(events[0].session.as_str(), "t-0");
}

#[test]
fn the_first_versions_wrote_the_items_as_they_are() {
    let file = File::of(lines(&[
        json!({"id": "t-1", "timestamp": "2025-05-01T10:00:00Z", "instructions": null}),
        json!({"record_type": "state"}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>"}]}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it"}]}),
        json!({"type": "function_call", "name": "shell", "call_id": "c-1",
            "arguments": "{\"command\":[\"bash\",\"-lc\",\"ls src\"]}"}),
        json!({"type": "function_call_output", "call_id": "c-1", "output": "ok"}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Fixed."}]}),
    ]));
    let stats = file.stats();
    assert_eq!((stats.host, stats.prompts, stats.tool_calls), (Some(Host::Codex), 1, 1));
    insta::assert_snapshot!(file.told(), @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"fix it","origin":"human"}}
    {"pre_tool":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"ls src"}}}}
    {"post_tool":{"call":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"ls src"}}},"outcome":"ok"}}
    {"stop":{"again":false,"last_message":"Fixed."}}
    "#);
}
