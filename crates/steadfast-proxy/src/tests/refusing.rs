//! RefusedRequest calls between a client and an upstream that compares what comes back with what it produced.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::double::{Double, DoubleAct, Scripted, WHY, event_stream, post, proxy_to};
use crate::tests::client::{CALLS, FORMATS, answer, next_request, stored};
use crate::wire::{REFUSED_TOOL, WireFormat};

pub(super) fn path(format: WireFormat) -> &'static str {
    match format {
        WireFormat::Messages => "/v1/messages?beta=true",
        WireFormat::Responses => "/v1/responses",
        WireFormat::Chat => "/v1/chat/completions",
    }
}

/// The result of a call as the client sees it.
fn result(tool: &str) -> (String, bool) {
    if tool == REFUSED_TOOL { (format!("no such tool: {tool}"), true) } else { (format!("ran {tool}"), false) }
}

/// What the upstream has to see in the second request.
fn expected(format: WireFormat, refused: &[&str]) -> Value {
    let result = |tool: &str| if refused.contains(&tool) { (WHY.to_owned(), true) } else { result(tool) };
    next_request(format, &stored(format, answer(format).as_bytes()), result)
}

/// Answers with all calls and remembers the bodies of the requests.
pub(super) fn upstream(format: WireFormat) -> Double {
    let stream = event_stream(answer(format).as_bytes());
    Double::start(move |_| vec![DoubleAct::Send(stream.clone())])
}

#[test]
fn the_upstream_sees_what_it_produced_also_after_a_restart() {
    for format in FORMATS {
        for refused in [&["Write"][..], &["Read"], &["Write", "Read", "List"]] {
            let upstream = upstream(format);
            let judge = Scripted::refusing(refused);
            let proxy = proxy_to(&upstream.url(), judge.clone());
            let first = post(&proxy, path(format), "", b"{}");
            let conversation = stored(format, &first.body);
            for call in CALLS.iter().filter(|call| refused.contains(&call.tool)) {
                assert!(!tools(format, &conversation).contains(&call.tool.to_owned()), "{format:?}");
            }
            assert_eq!(judge.judged.lock().unwrap().len(), CALLS.len());
            let next = next_request(format, &conversation, result).to_string();
            post(&proxy, path(format), "", next.as_bytes());
            drop(proxy);
            let proxy = proxy_to(&upstream.url(), Scripted::observing());
            post(&proxy, path(format), "", next.as_bytes());
            for request in &upstream.received()[1..] {
                let body: Value = serde_json::from_slice(&request.body).unwrap();
                assert_eq!(body, expected(format, refused), "{format:?} {refused:?}");
                assert_eq!(request.header("content-length"), Some(&*request.body.len().to_string()));
            }
        }
    }
}

fn tools(format: WireFormat, stored: &Value) -> Vec<String> {
    let items = if format == WireFormat::Chat { &stored["tool_calls"] } else { stored };
    let name = |item: &Value| item.pointer("/function/name").unwrap_or(&item["name"]).as_str().map(str::to_owned);
    items.as_array().unwrap().iter().filter_map(name).collect()
}

#[test]
fn counting_tokens_and_compacting_see_the_models_own_calls_too() {
    for (format, path) in
        [(WireFormat::Messages, "/v1/messages/count_tokens"), (WireFormat::Responses, "/v1/responses/compact")]
    {
        let upstream = upstream(format);
        let proxy = proxy_to(&upstream.url(), Scripted::refusing(&["Write"]));
        let first = post(&proxy, self::path(format), "", b"{}");
        let next = next_request(format, &stored(format, &first.body), result).to_string();
        post(&proxy, path, "", next.as_bytes());
        let body: Value = serde_json::from_slice(&upstream.received()[1].body).unwrap();
        assert_eq!(body, expected(format, &["Write"]));
    }
}

#[test]
fn a_compressed_request_is_restored_and_any_other_one_passes_as_it_is() {
    let format = WireFormat::Responses;
    let upstream = upstream(format);
    let proxy = proxy_to(&upstream.url(), Scripted::refusing(&["Write"]));
    let first = post(&proxy, "/v1/responses", "", b"{}");
    let next = next_request(format, &stored(format, &first.body), result).to_string();
    let compressed =
        |text: &str| ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let header = "Content-Encoding: zstd\r\n";
    post(&proxy, "/v1/responses", header, &compressed(&next));
    let other = compressed(r#"{"input":[]}"#);
    post(&proxy, "/v1/responses", header, &other);
    post(&proxy, "/v1/responses", header, b"not zstd");
    let received = upstream.received();
    let body: Value = serde_json::from_slice(&received[1].body).unwrap();
    assert_eq!((body, received[1].header("content-encoding")), (expected(format, &["Write"]), None));
    assert_eq!((&received[2].body, received[2].header("content-encoding")), (&other, Some("zstd")));
    assert_eq!(received[3].text(), "not zstd");
}

/// The scripted answer without streaming.
fn whole(format: WireFormat) -> Value {
    let stored = stored(format, answer(format).as_bytes());
    match format {
        WireFormat::Messages => {
            json!({"type": "message", "model": "m", "content": stored, "usage": {"input_tokens": 1}})
        }
        WireFormat::Responses => json!({"model": "m", "status": "completed", "output": stored}),
        WireFormat::Chat => {
            json!({"model": "m", "choices": [{"index": 0, "message": stored, "finish_reason": "tool_calls"}]})
        }
    }
}

#[test]
fn calls_of_an_answer_without_streaming_are_refused_and_put_back() {
    for format in FORMATS {
        let body = whole(format).to_string();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        let upstream = Double::answering(format!("{head}{body}"));
        let proxy = proxy_to(&upstream.url(), Scripted::refusing(&["Write", "List"]));
        let first: Value = serde_json::from_slice(&post(&proxy, path(format), "", b"{}").body).unwrap();
        let conversation = match format {
            WireFormat::Messages => &first["content"],
            WireFormat::Responses => &first["output"],
            WireFormat::Chat => &first["choices"][0]["message"],
        };
        assert_eq!(tools(format, conversation), [REFUSED_TOOL, "Read", REFUSED_TOOL], "{format:?}");
        let next = next_request(format, conversation, result).to_string();
        post(&proxy, path(format), "", next.as_bytes());
        let body: Value = serde_json::from_slice(&upstream.received()[1].body).unwrap();
        assert_eq!(body, expected(format, &["Write", "List"]), "{format:?}");
    }
}

#[test]
fn a_judge_that_fails_is_replaced_by_its_ruling_without_judgement() {
    let upstream = upstream(WireFormat::Messages);
    let judge = Arc::new(Scripted { broken: vec!["Write"], ..Scripted::default() });
    let proxy = proxy_to(&upstream.url(), judge);
    let first = post(&proxy, "/v1/messages", "", b"{}");
    assert_eq!(tools(WireFormat::Messages, &stored(WireFormat::Messages, &first.body)), [REFUSED_TOOL, "Read", "List"]);
    assert!(first.text().contains("steadfast failed"));
}

#[test]
fn calls_that_nobody_may_refuse_are_seen_and_not_judged() {
    let upstream = upstream(WireFormat::Responses);
    let judge = Arc::new(Scripted { free: vec!["Read", "List"], refused: vec!["Read"], ..Scripted::default() });
    let proxy = proxy_to(&upstream.url(), judge.clone());
    let first = post(&proxy, "/v1/responses", "x-codex-turn-metadata: {}\r\nsession-id: s\r\n", b"{}");
    assert_eq!(first.text(), answer(WireFormat::Responses));
    let names = |calls: &Mutex<Vec<crate::wire::WireCall>>| -> Vec<String> {
        calls.lock().unwrap().iter().map(|call| call.tool.clone()).collect()
    };
    assert_eq!(
        (names(&judge.judged), names(&judge.seen)),
        (vec!["Write".to_owned()], vec!["Read".into(), "List".into()])
    );
    let (exchange, seen) = judge.answers.lock().unwrap().pop_front().unwrap();
    assert_eq!((exchange.session.as_deref(), exchange.turn.as_deref()), (Some("s"), Some("{}")));
    assert_eq!((&*seen.text, seen.usage.unwrap().output), ("two calls", 87));
}

#[test]
fn rate_limits_are_reported_with_the_answer() {
    let judge = Scripted::observing();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nAnthropic-RateLimit-Unified-5h-Utilization: 0.5\r\nretry-after: 3\r\nrequest-id: r\r\ncontent-length: 2\r\n\r\n{}";
    let upstream = Double::answering(head);
    let proxy = proxy_to(&upstream.url(), judge.clone());
    post(&proxy, "/v1/messages", "Authorization: Bearer sk-made-up\r\n", b"{}");
    let (_, answer) = judge.answers.lock().unwrap().pop_front().unwrap();
    let expected = [("anthropic-ratelimit-unified-5h-utilization", "0.5"), ("retry-after", "3")];
    assert_eq!(answer.limits, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}
