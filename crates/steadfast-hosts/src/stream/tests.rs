use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::price::TokenPrice;

fn heard(host: Host, rows: &[Value]) -> Vec<AgentEvent> {
    let mut stream = AgentStream::of(host, &Prices::built_in());
    rows.iter().flat_map(|row| stream.line(row.to_string().as_bytes())).collect()
}

fn spent(micro_usd: Option<u64>, input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> AgentEvent {
    AgentEvent::Spent(Spent { micro_usd, input_tokens, cached_tokens, output_tokens })
}

fn tool(name: &str, target: &str) -> AgentEvent {
    AgentEvent::Tool { name: name.to_owned(), target: Some(target.to_owned()) }
}

fn said(text: &str) -> AgentEvent {
    AgentEvent::Said { text: text.to_owned() }
}

fn answer(id: &str, model: &str, block: Value, usage: [u64; 2]) -> Value {
    let [input, output] = usage;
    json!({"type": "assistant", "parent_tool_use_id": null, "message": {
        "id": id, "model": model, "content": [block], "usage": {"input_tokens": input, "output_tokens": output}}})
}

fn result(subtype: &str, more: Value) -> Value {
    let mut row = json!({"type": "result", "subtype": subtype, "is_error": subtype != "success",
        "total_cost_usd": 0.0032, "modelUsage": {
            "claude-opus-5-5": {"inputTokens": 300, "outputTokens": 70, "cacheReadInputTokens": 40, "cacheCreationInputTokens": 9},
            "claude-haiku-5-5": {"inputTokens": 100, "outputTokens": 10}}});
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

fn end(host: Host, row: Value) -> AgentEnd {
    match heard(host, &[row]).pop() {
        Some(AgentEvent::Ended(end)) => end,
        other => panic!("{other:?}"),
    }
}

#[test]
fn claude_is_reckoned_by_answer_until_it_says_what_it_cost() {
    let events = heard(
        Host::Claude,
        &[
            json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": "claude-opus-5-5"}),
            answer("msg_1", "claude-opus-5-5", json!({"type": "text", "text": "I begin."}), [100, 2]),
            answer(
                "msg_1",
                "claude-opus-5-5",
                json!({"type": "tool_use", "name": "Write", "input": {"file_path": "a.rs"}}),
                [100, 20],
            ),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "fine"}]}}),
            answer("msg_2", "claude-opus-5-5", json!({"type": "text", "text": "Done."}), [50, 10]),
            result("success", json!({"result": "Done."})),
        ],
    );
    let expected = [
        AgentEvent::Started { session: SessionId::new("s-1") },
        AgentEvent::Turn,
        said("I begin."),
        spent(Some(440), 100, 0, 2),
        tool("Write", "a.rs"),
        spent(Some(800), 100, 0, 20),
        AgentEvent::Turn,
        said("Done."),
        spent(Some(1_200), 150, 0, 30),
        spent(Some(3_200), 409, 40, 80),
        AgentEvent::Ended(AgentEnd::Finished),
    ];
    assert_eq!(events, expected);
}

#[test]
fn claude_that_goes_on_after_its_last_word_is_reckoned_on_top_of_what_it_said() {
    let events = heard(
        Host::Claude,
        &[
            result("success", json!({"result": "The rest runs in the background."})),
            answer("msg_3", "claude-opus-5-5", json!({"type": "thinking"}), [100, 20]),
        ],
    );
    assert_eq!(events[2..], [AgentEvent::Turn, spent(Some(4_000), 509, 40, 100)]);
}

#[test]
fn a_model_without_a_price_costs_tokens_only() {
    let rows = [answer("msg_1", "claude-next", json!({"type": "thinking"}), [100, 2])];
    assert_eq!(heard(Host::Claude, &rows), [AgentEvent::Turn, spent(None, 100, 0, 2)]);
}

#[test]
fn what_a_subagent_says_is_no_turn_and_costs_all_the_same() {
    let mut row = answer("msg_1", "claude-opus-5-5", json!({"type": "text", "text": "found"}), [100, 0]);
    row["parent_tool_use_id"] = json!("toolu_1");
    assert_eq!(heard(Host::Claude, &[row]), [spent(Some(400), 100, 0, 0)]);
}

#[test]
fn claude_says_why_it_ended() {
    let failed = |said: &str, status: Value| json!({"result": said, "is_error": true, "api_error_status": status});
    for (row, expected) in [
        (result("error_max_turns", json!({})), AgentEnd::TurnLimit),
        (result("error_max_budget_usd", json!({})), AgentEnd::BudgetSpent),
        (result("error_during_execution", json!({"errors": ["it broke"]})), AgentEnd::Failed("it broke".to_owned())),
        (result("success", failed("Prompt is too long", json!(400))), AgentEnd::ContextFull),
        (result("success", failed("", json!(429))), AgentEnd::RateLimited { until: None }),
        (
            result("success", failed("API Error: 401 no", json!(401))),
            AgentEnd::NoAccess("API Error: 401 no".to_owned()),
        ),
        (result("success", json!({"is_error": true, "terminal_reason": "blocking_limit"})), AgentEnd::ContextFull),
    ] {
        assert_eq!(end(Host::Claude, row), expected);
    }
}

#[test]
fn a_limit_that_is_only_near_is_none() {
    let limit =
        |status: &str| json!({"type": "rate_limit_event", "rate_limit_info": {"status": status, "resetsAt": 5}});
    let events = heard(
        Host::Claude,
        &[
            limit("allowed_warning"),
            limit("rejected"),
            result("success", json!({"is_error": true, "api_error_status": 429})),
        ],
    );
    let until = Some(Millis(5_000));
    assert_eq!(events[0], AgentEvent::RateLimited { until });
    assert_eq!(events[2], AgentEvent::Ended(AgentEnd::RateLimited { until }));
}

fn counted(input: u64, cached: u64, output: u64) -> Value {
    json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output})
}

#[test]
fn codex_is_reckoned_from_its_rollout() {
    let mut stream = AgentStream::of(Host::Codex, &Prices::built_in());
    let mut events = stream.line(br#"{"type":"thread.started","thread_id":"t-1"}"#);
    let count = json!({"type": "event_msg", "payload": {"type": "token_count",
        "info": {"total_token_usage": counted(1_000, 400, 20)}, "rate_limits": null}});
    let record = json!({"type": "token_usage_record", "payload": {"usage": counted(1_000, 400, 20),
        "thread_token_usage": counted(1_000, 400, 20)}});
    let context = json!({"type": "turn_context", "payload": {"model": "gpt-5.5"}});
    for row in [context, record, count.clone(), count] {
        events.extend(stream.record(row.to_string().as_bytes()));
    }
    for row in [
        json!({"type": "item.started", "item": {"type": "command_execution", "command": "/bin/bash -lc 'cargo test'"}}),
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}),
        json!({"type": "turn.completed", "usage": counted(2_000, 900, 40)}),
    ] {
        events.extend(stream.line(row.to_string().as_bytes()));
    }
    let expected = [
        AgentEvent::Started { session: SessionId::new("t-1") },
        AgentEvent::Turn,
        spent(Some(3_000 + 200 + 600), 600, 400, 20),
        tool("Bash", "cargo test"),
        said("Done."),
        spent(Some(5_500 + 450 + 1_200), 1_100, 900, 40),
        AgentEvent::Ended(AgentEnd::Finished),
    ];
    assert_eq!(events, expected);
}

#[test]
fn an_answer_of_codex_is_counted_before_the_tools_that_it_called_for_are_done() {
    let mut stream = AgentStream::of(Host::Codex, &Prices::built_in());
    stream.record(json!({"type": "turn_context", "payload": {"model": "gpt-5.5"}}).to_string().as_bytes());
    let mut counts = |all| {
        let record = json!({"type": "token_usage_record", "payload": {"thread_token_usage": all}});
        stream.record(record.to_string().as_bytes())
    };
    assert_eq!(counts(counted(100, 0, 20)), [AgentEvent::Turn, spent(Some(500 + 600), 100, 0, 20)]);
    assert_eq!(counts(counted(200, 0, 40)), [AgentEvent::Turn, spent(Some(1_000 + 1_200), 200, 0, 40)]);
}

#[test]
fn codex_without_its_rollout_costs_tokens_only() {
    let rows = [json!({"type": "turn.completed", "usage": counted(2_000, 900, 40)})];
    let expected = [AgentEvent::Turn, spent(None, 1_100, 900, 40), AgentEvent::Ended(AgentEnd::Finished)];
    assert_eq!(heard(Host::Codex, &rows), expected);
}

#[test]
fn codex_at_its_limit_says_when_the_last_window_opens() {
    let mut stream = AgentStream::of(Host::Codex, &Prices::default());
    let limits = json!({"type": "event_msg", "payload": {"type": "token_count", "info": null, "rate_limits": {
        "primary": {"used_percent": 100.0, "resets_at": 10}, "secondary": {"used_percent": 40.0, "resets_at": 99}}}});
    assert_eq!(stream.record(limits.to_string().as_bytes()), []);
    let failed = json!({"type": "turn.failed", "error": {"message": "You\u{2019}ve hit your usage limit."}});
    let expected = AgentEnd::RateLimited { until: Some(Millis(10_000)) };
    assert_eq!(stream.line(failed.to_string().as_bytes()), [AgentEvent::Ended(expected)]);
}

#[test]
fn codex_that_waits_for_a_limit_says_so() {
    let waits = json!({"type": "error", "message": "Reconnecting... 3/5 (unexpected status 429 Too Many Requests)"});
    assert_eq!(heard(Host::Codex, &[waits]), [AgentEvent::RateLimited { until: None }]);
    let busy = json!({"type": "error", "message": "Reconnecting... 3/5 (unexpected status 500)"});
    assert_eq!(heard(Host::Codex, &[busy]), []);
}

#[test]
fn the_simulated_agent_says_what_it_spent_and_how_it_ended() {
    let events = heard(
        Host::Sim,
        &[
            json!({"moment": "session_started", "source": "startup", "session": "s-1"}),
            json!({"moment": "turn"}),
            json!({"moment": "said", "who": "main", "text": "What is next?"}),
            json!({"moment": "said", "who": "a01", "text": "I am another."}),
            json!({"moment": "tool_starting", "who": "main", "tool": "Bash", "target": "ls"}),
            json!({"moment": "spent", "usd": 0.25}),
            json!({"moment": "ended", "ending": "halted", "reason": "enough", "status": null}),
        ],
    );
    let expected = [
        AgentEvent::Started { session: SessionId::new("s-1") },
        AgentEvent::Turn,
        said("What is next?"),
        tool("Bash", "ls"),
        spent(Some(250_000), 0, 0, 0),
        AgentEvent::Ended(AgentEnd::Failed("halted: enough".to_owned())),
    ];
    assert_eq!(events, expected);
}

#[test]
fn the_simulated_agent_ends_as_the_others_do() {
    let ended = |ending: &str, status: Value| json!({"moment": "ended", "ending": ending, "status": status});
    for (row, expected) in [
        (ended("stopped", Value::Null), AgentEnd::Finished),
        (ended("turn_limit", Value::Null), AgentEnd::TurnLimit),
        (ended("budget_spent", Value::Null), AgentEnd::BudgetSpent),
        (ended("model_failed", json!(429)), AgentEnd::RateLimited { until: None }),
        (ended("model_failed", json!(413)), AgentEnd::ContextFull),
    ] {
        assert_eq!(end(Host::Sim, row), expected);
    }
}

proptest! {
    #[test]
    fn whatever_is_printed_nothing_breaks(lines in prop::collection::vec(line(), 0..12)) {
        for host in Host::ALL {
            let mut stream = AgentStream::of(host, &Prices::default().with("m", TokenPrice { input: -1.0, cached: f64::MAX, output: f64::NAN }));
            for line in &lines {
                let _ = stream.line(line.as_bytes());
                let _ = stream.record(line.as_bytes());
            }
        }
    }
}

/// What a host prints, with other things in its place, or torn.
fn line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!("m")),
        Just(json!("result")),
        Just(json!(["x", {}])),
        Just(
            json!({"type": "token_count", "info": {"total_token_usage": {"input_tokens": u64::MAX, "cached_input_tokens": 7}}})
        ),
        Just(
            json!({"id": "m", "model": "m", "usage": {"input_tokens": u64::MAX, "output_tokens": u64::MAX}, "content": [{}]})
        ),
    ];
    let kind = prop::sample::select(vec![
        "assistant",
        "result",
        "rate_limit_event",
        "turn_context",
        "event_msg",
        "turn.failed",
    ]);
    let keys =
        prop::sample::select(vec!["message", "payload", "usage", "modelUsage", "total_cost_usd", "error", "moment"]);
    (kind, prop::collection::vec((keys, value), 0..5), any::<prop::sample::Index>()).prop_map(|(kind, members, cut)| {
        let mut row = json!({"type": kind});
        for (key, value) in members {
            row[key] = value;
        }
        let text = row.to_string();
        let cut = cut.index(text.len() * 4);
        text.get(..cut).unwrap_or(&text).to_owned()
    })
}
