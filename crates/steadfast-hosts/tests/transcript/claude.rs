use serde_json::json;
use steadfast_hosts::transcript::{Stats, Summing, TokenUsage};
use steadfast_model::{Host, Millis};

use crate::sample::{File, call, claude, claude_session, lines, prompt, result, said, text};

#[test]
fn a_session_is_told_again_as_the_hooks_would_have() {
    let file = File::of(lines(&claude_session()));
    insta::assert_snapshot!(file.told(), @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"fix the auth bug","origin":"human"}}
    {"pre_tool":{"id":"c-1","tool":"Read","action":{"read":{"paths":["/repo/auth.rs"]}}}}
    {"post_tool":{"call":{"id":"c-1","tool":"Read","action":{"read":{"paths":["/repo/auth.rs"]}}},"outcome":"ok","millis":1000}}
    {"pre_tool":{"id":"c-2","tool":"Bash","action":{"shell":{"command":"cargo test"}}}}
    {"post_tool":{"call":{"id":"c-2","tool":"Bash","action":{"shell":{"command":"cargo test"}}},"outcome":{"failed":{"error":"Exit code 1"}},"millis":5000}}
    {"pre_tool":{"id":"c-3","tool":"Edit","action":{"write":{"paths":["/repo/theme.css"]}}}}
    {"permission":{"id":"c-3","tool":"Edit","action":{"write":{"paths":["/repo/theme.css"]}}}}
    {"post_tool":{"call":{"id":"c-3","tool":"Edit","action":{"write":{"paths":["/repo/theme.css"]}}},"outcome":{"failed":{"error":"the human refused it: not that file"}},"millis":2000}}
    "interrupt"
    {"prompt":{"text":"go on, with auth.rs","origin":"human"}}
    {"stop":{"again":false,"last_message":"Done.","background":[]}}
    {"pre_compact":{"trigger":"manual"}}
    {"session_start":{"source":"compact"}}
    {"post_compact":{"trigger":"manual"}}
    "#);
}

#[test]
fn a_session_in_numbers() {
    let expected = Stats {
        host: Some(Host::Claude),
        records: 15,
        damaged: 0,
        prompts: 2,
        tool_calls: 3,
        by_tool: [("Bash", 1), ("Edit", 1), ("Read", 1)].map(|(tool, count)| (tool.to_owned(), count)).into(),
        subagent_calls: 0,
        compactions: 1,
        interrupts: 1,
        tokens: TokenUsage { input: 12, cache_read: 400, cache_write: 80, output: 130 },
        models: [(String::new(), TokenUsage { input: 12, cache_read: 400, cache_write: 80, output: 130 })].into(),
        began: Some(Millis(1_772_359_200_000)),
        ended: Some(Millis(1_772_359_224_000)),
    };
    assert_eq!(File::of(lines(&claude_session())).stats(), expected);
}

/// A message of the model with this name.
fn said_by(model: &str, second: u32, message: &str, output_tokens: u64) -> serde_json::Value {
    let mut row = said(second, message, text("Done."), output_tokens);
    row["message"]["model"] = model.into();
    row
}

#[test]
fn the_tokens_of_each_model_are_apart_and_a_copied_message_counts_once_in_the_total() {
    let first = [prompt(0, "go"), said_by("claude-opus-5", 1, "m-1", 10), said_by("claude-haiku-5-5", 2, "m-2", 5)];
    let resumed = [&first[..], &[said_by("claude-opus-5", 9, "m-3", 7)]].concat();
    let mut summing = Summing::default();
    let mut outputs = |rows: &[serde_json::Value]| -> Vec<(String, u64)> {
        let models = summing.session(File::of(lines(rows)).open()).models;
        models.into_iter().map(|(model, tokens)| (model, tokens.output)).collect()
    };
    let of = |opus: u64| [("claude-haiku-5-5".to_owned(), 5), ("claude-opus-5".to_owned(), opus)];
    assert_eq!(outputs(&first), of(10));
    assert_eq!(outputs(&resumed), of(17), "a session has all of its messages");
    let total: Vec<(String, u64)> =
        summing.in_total().iter().map(|(model, tokens)| (model.clone(), tokens.output)).collect();
    assert_eq!(total, of(17));
}

#[test]
fn a_copy_of_what_was_before_counts_once() {
    let mut rows = claude_session();
    // A resumed session has the same rows again, under other names.
    let copies = rows.clone().into_iter().map(|mut row| {
        row["uuid"] = format!("copy of {}", row["uuid"]).into();
        row
    });
    rows.extend(copies);
    rows.push(prompt(100, "and now?"));
    let (once, twice) = (File::of(lines(&claude_session())).stats(), File::of(lines(&rows)).stats());
    let ended = Some(Millis(1_772_359_300_000));
    assert_eq!(twice, Stats { records: 31, prompts: once.prompts + 1, ended, ..once });
}

#[test]
fn a_summary_without_a_boundary_is_a_compaction() {
    let summary = claude(1, "user", json!({"isCompactSummary": true, "message": {"role": "user", "content": "x"}}));
    assert_eq!(File::of(lines(&[prompt(0, "go"), summary])).stats().compactions, 1);
}

#[test]
fn what_subagents_do_is_told_apart() {
    let progress = |second, id: &str, inner| {
        let data = json!({"type": "agent_progress", "agentId": "a-1", "message": inner});
        claude(second, "progress", json!({"parentToolUseID": id, "data": data}))
    };
    let usage = json!({"input_tokens": 9, "output_tokens": 9});
    let echo = |block| {
        json!({"type": "assistant", "timestamp": "2026-03-01T10:00:02.000Z",
        "message": {"id": "m-9", "role": "assistant", "content": [block], "usage": usage}})
    };
    let back = json!({"type": "user", "timestamp": "2026-03-01T10:00:03.000Z", "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c-2", "content": "ok"}]}});
    let mut ended = result(9, "c-1", "found it", json!({}));
    ended["toolUseResult"] = json!({"agentId": "a-1", "totalDurationMs": 7000});
    let file = File::of(lines(&[
        prompt(0, "look around"),
        said(1, "m-1", call("c-1", "Task", json!({"subagent_type": "Explore", "prompt": "look"})), 5),
        progress(2, "c-1", echo(call("c-2", "Grep", json!({"path": "src"})))),
        progress(3, "c-1", back),
        progress(4, "c-1", echo(text("Found."))),
        ended,
    ]));
    let stats = file.stats();
    assert_eq!((stats.tool_calls, stats.subagent_calls, stats.prompts), (1, 1, 1));
    assert_eq!(stats.tokens.output, 5, "what a subagent's own file counts is not counted here");
    insta::assert_snapshot!(file.told(), @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"look around","origin":"human"}}
    {"pre_tool":{"id":"c-1","tool":"Task","action":{"delegate":{"agent_type":"Explore"}}}}
    "subagent_start" in a-1 (Explore)
    {"pre_tool":{"id":"c-2","tool":"Grep","action":{"read":{"paths":["src"]}}}} in a-1 (Explore)
    {"post_tool":{"call":{"id":"c-2","tool":"Grep","action":{"read":{"paths":["src"]}}},"outcome":"ok","millis":1000}} in a-1 (Explore)
    {"subagent_stop":{"again":false,"last_message":"Found."}} in a-1 (Explore)
    {"post_tool":{"call":{"id":"c-1","tool":"Task","action":{"delegate":{"agent_type":"Explore"}}},"outcome":"ok","millis":7000}}
    "#);
}

#[test]
fn inline_sidechains_are_subagents_too() {
    let aside = |mut row: serde_json::Value| {
        row["isSidechain"] = true.into();
        row
    };
    let file = File::of(lines(&[
        prompt(0, "look around"),
        said(1, "m-1", call("c-1", "Task", json!({"subagent_type": "Explore"})), 5),
        aside(prompt(2, "You are to look around.")),
        aside(said(3, "m-2", call("c-2", "Read", json!({"file_path": "a"})), 5)),
        aside(result(4, "c-2", "a", json!({}))),
        aside(said(5, "m-3", text("An a."), 5)),
        result(6, "c-1", "An a.", json!({})),
    ]));
    let stats = file.stats();
    assert_eq!((stats.prompts, stats.tool_calls, stats.subagent_calls), (1, 1, 1));
    insta::assert_snapshot!(file.told(), @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"look around","origin":"human"}}
    {"pre_tool":{"id":"c-1","tool":"Task","action":{"delegate":{"agent_type":"Explore"}}}}
    "subagent_start" in sidechain (Explore)
    {"pre_tool":{"id":"c-2","tool":"Read","action":{"read":{"paths":["a"]}}}} in sidechain (Explore)
    {"post_tool":{"call":{"id":"c-2","tool":"Read","action":{"read":{"paths":["a"]}}},"outcome":"ok","millis":1000}} in sidechain (Explore)
    {"subagent_stop":{"again":false,"last_message":"An a."}} in sidechain (Explore)
    {"post_tool":{"call":{"id":"c-1","tool":"Task","action":{"delegate":{"agent_type":"Explore"}}},"outcome":"ok","millis":5000}}
    "#);
}

#[test]
fn what_goes_on_in_the_background_holds_a_stop() {
    let mut shell = result(2, "c-1", "running", json!({}));
    shell["toolUseResult"] = json!({"backgroundTaskId": "b-1", "interrupted": false});
    let mut agent = result(4, "c-2", "launched", json!({}));
    agent["toolUseResult"] = json!({"agentId": "a-1", "status": "async_launched"});
    let file = File::of(lines(&[
        prompt(0, "go"),
        said(1, "m-1", call("c-1", "Bash", json!({"command": "sleep 9"})), 5),
        shell,
        said(3, "m-2", call("c-2", "Agent", json!({"subagent_type": "Explore"})), 5),
        agent,
        said(5, "m-3", text("I wait."), 5),
        prompt(6, "<task-notification>\n<task-id>b-1</task-id>"),
        prompt(7, "<task-notification>\n<task-id>a-1</task-id>"),
        said(8, "m-4", text("All is done."), 5),
    ]));
    assert_eq!(file.stats().prompts, 1, "a notification is not the human");
    insta::assert_snapshot!(file.told(), @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"go","origin":"human"}}
    {"pre_tool":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"sleep 9"}}}}
    {"post_tool":{"call":{"id":"c-1","tool":"Bash","action":{"shell":{"command":"sleep 9"}}},"outcome":"ok","millis":1000}}
    {"pre_tool":{"id":"c-2","tool":"Agent","action":{"delegate":{"agent_type":"Explore"}}}}
    "subagent_start" in a-1 (Explore)
    {"post_tool":{"call":{"id":"c-2","tool":"Agent","action":{"delegate":{"agent_type":"Explore"}}},"outcome":"ok","millis":1000}}
    {"stop":{"again":false,"last_message":"I wait.","background":[{"what":"subagent","status":"running"},{"what":"shell","status":"running"}]}}
    {"prompt":{"text":"<task-notification>\n<task-id>b-1</task-id>","origin":"notification"}}
    {"subagent_stop":{"again":false}} in a-1 (Explore)
    {"prompt":{"text":"<task-notification>\n<task-id>a-1</task-id>","origin":"notification"}}
    {"stop":{"again":false,"last_message":"All is done.","background":[]}}
    "#);
}

#[test]
fn what_was_typed_while_the_agent_worked_is_the_humans() {
    let mut beside = result(2, "c-1", "ok", json!({}));
    beside["message"]["content"].as_array_mut().unwrap().push(text("and check the length"));
    let attached = claude(3, "attachment", json!({"attachment": {"type": "queued_command", "prompt": "use ruff"}}));
    let queued = claude(4, "queue-operation", json!({"operation": "enqueue", "content": "wait"}));
    let file = File::of(lines(&[
        prompt(0, "go"),
        said(1, "m-1", call("c-1", "Bash", json!({"command": "ls"})), 5),
        beside,
        attached,
        queued,
    ]));
    assert_eq!(file.stats().prompts, 3, "what is only queued may be taken back");
}

#[test]
fn a_message_in_one_row_or_in_several_is_one_prompt() {
    let picture = json!({"type": "image", "source": {"type": "base64", "data": "xx"}});
    let row = |content: serde_json::Value| claude(0, "user", json!({"message": {"role": "user", "content": content}}));
    let (one, two) = (row(json!([picture, text("what is this?")])), row(json!([text("what is this?")])));
    let alone = row(json!([picture]));
    for rows in [&[one.clone()][..], &[one, alone.clone(), two.clone()], &[alone.clone(), two], &[alone]] {
        assert_eq!(File::of(lines(rows)).stats().prompts, 1, "{rows:?}");
    }
    // Two that were given to the agent at once are two.
    let queued =
        |text: &str| claude(0, "attachment", json!({"attachment": {"type": "queued_command", "prompt": text}}));
    assert_eq!(File::of(lines(&[queued("use ruff"), queued("and black")])).stats().prompts, 2);
}

#[test]
fn what_another_than_the_human_prompts_is_not_theirs() {
    for (key, value) in [("origin", json!({"kind": "peer"})), ("promptSource", json!("system"))] {
        let mut row = prompt(0, "wake up");
        row[key] = value;
        assert_eq!(File::of(lines(&[row])).stats().prompts, 0, "{key}");
    }
    let mut row = prompt(0, "go");
    row["origin"] = json!({"kind": "human"});
    assert_eq!(File::of(lines(&[row])).stats().prompts, 1);
}

#[test]
fn rows_that_lack_what_rows_have_are_rows() {
    let file = File::of(lines(&[
        json!({"type": "summary", "summary": "Auth", "leafUuid": "x"}),
        json!({"type": "user", "message": {"role": "user", "content": "go"}}),
        json!({"type": "assistant", "message": {"content": [call("c-1", "Bash", json!({"command": "ls"}))]}}),
        json!({"type": "assistant", "message": {"content": "not a list"}}),
        json!({"type": "user", "message": {"content": ["a text", null, {"type": "tool_result"}]}}),
        json!({"message": null}),
    ]));
    let stats = file.stats();
    assert_eq!((stats.records, stats.damaged, stats.prompts, stats.tool_calls), (6, 0, 1, 1));
}
