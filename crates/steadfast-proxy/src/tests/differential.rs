//! The same exchange directly and through the proxy: both sides see the same bytes.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::double::{Double, DoubleAct, RawMessage, RawWire, Scripted, TOKEN, chunked, proxy_to, request};
use crate::tests::client::{FORMATS, answer};
use crate::wire::WireFormat;

const EXCHANGES: usize = 1000;

/// A request, and the bytes of its answer in the pieces in which the upstream sends them.
#[derive(Clone, Debug)]
struct Exchange {
    method: &'static str,
    path: String,
    headers: String,
    body: Vec<u8>,
    answer: Vec<Vec<u8>>,
    /// The answer has no length: it lasts until the connection ends.
    closes: bool,
}

fn path() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "/v1/messages?beta=true",
        "/v1/messages",
        "/v1/messages/count_tokens?beta=true",
        "/v1/responses",
        "/v1/responses/compact",
        "/v1/chat/completions",
        "/v1/models?limit=1000",
        "/api/hello",
        "/",
        "?only=query",
        "/v1/%7Bodd%7D//path/../x?a=b&c=%20",
        "/v1/next_week/feature",
    ]);
    known.prop_map(str::to_owned)
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        Just(
            br#"{"model":"m","stream":true,"messages":[{"role":"user","content":"refused_by_steadfast \ud83d"}]}"#
                .to_vec()
        ),
        Just(br#"{"model": "m", "n": 1.0, "input" :[ ], "messages":[]}"#.to_vec()),
        prop::collection::vec(any::<u8>(), 1..3000),
        prop::collection::vec(any::<u8>(), 1..200).prop_map(|part| part.repeat(2000)),
    ]
}

/// Streams of all formats, changed in ways that the formats allow, and text that is no stream at all.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let known = (0..3usize, prop::sample::select(vec!["\n", "\r\n", "\r"]), any::<bool>(), 0..100usize);
    let known = known.prop_map(|(format, end, has_mark, cut)| {
        let stream = answer(FORMATS[format]).replace('\n', end);
        let length = stream.floor_char_boundary(stream.len() * (cut + 50).min(100) / 100);
        format!("{}{}", if has_mark { "\u{feff}" } else { "" }, &stream[..length]).into_bytes()
    });
    let huge = (0..3usize, 1..40usize)
        .prop_map(|(format, size)| answer(FORMATS[format]).replace("a.txt", &"long ".repeat(size << 10)).into_bytes());
    let error =
        Just(b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n".to_vec());
    prop_oneof![8 => known, 1 => huge, 1 => error, 1 => prop::collection::vec(any::<u8>(), 0..500)]
}

/// Answers that are not streamed.
fn whole() -> impl Strategy<Value = Vec<u8>> {
    let bodies = vec![
        "",
        "{}",
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#,
        r#"{"id":"msg_1","model":"m","content":[{"type":"tool_use","id":"1","name":"Write","input":{"a":1.0}}],"usage":{}}"#,
        r#"{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"a\": 1}"}}]}}]}"#,
        r#"{"output":[{"type":"function_call","call_id":"1","name":"a","arguments":"{}"}],"status":"completed"}"#,
        "not json",
    ];
    prop::sample::select(bodies).prop_map(|body| body.as_bytes().to_vec())
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let method = prop::sample::select(vec!["POST", "POST", "POST", "POST", "GET", "PUT", "DELETE", "PATCH", "OPTIONS"]);
    let headers = prop::sample::select(vec![
        "",
        "Authorization: Bearer sk-made-up\r\nanthropic-beta: a,b\r\nanthropic-beta: c\r\n",
        "Content-Type: application/json\r\nContent-Encoding: zstd\r\n",
        "X-Odd:  padded \r\nx-empty:\r\n",
        "x-claude-code-session-id: s1\r\nX-Stainless-Retry-Count: 0\r\n",
    ]);
    let status = prop::sample::select(vec![
        "200 OK",
        "200 OK",
        "200 OK",
        "201 Created",
        "400 Bad",
        "429 Too Many",
        "500 x",
        "529 Overloaded",
    ]);
    let kind = prop::sample::select(vec![
        "text/event-stream",
        "text/event-stream; charset=utf-8",
        "application/json",
        "text/plain",
        "",
    ]);
    let extra = prop::sample::select(vec![
        "",
        "retry-after: 3\r\nx-should-retry: true\r\n",
        "Content-Encoding: gzip\r\n",
        "anthropic-ratelimit-unified-5h-utilization: 0.5\r\n",
    ]);
    let body_of_answer = prop_oneof![3 => stream(), 1 => whole(), 1 => body()];
    let framing = (0..3usize, prop::collection::vec(1..900usize, 1..5));
    ((method, path(), headers, body()), (status, kind, extra), body_of_answer, framing).prop_map(
        |((method, path, headers, body), (status, kind, extra), answer, (framing, sizes))| {
            let kind = if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
            let mut pieces = Vec::new();
            let mut rest = &answer[..];
            for size in sizes.iter().cycle() {
                let (piece, after) = rest.split_at((*size).min(rest.len()));
                pieces.push(piece);
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            let (length, pieces) = match framing {
                0 => (
                    format!("content-length: {}\r\n", answer.len()),
                    pieces.iter().map(|piece| piece.to_vec()).collect(),
                ),
                1 => ("transfer-encoding: chunked\r\n".to_owned(), vec![chunked(&pieces)]),
                _ => {
                    ("connection: close\r\n".to_owned(), pieces.iter().map(|piece| piece.to_vec()).collect::<Vec<_>>())
                }
            };
            let head = format!("HTTP/1.1 {status}\r\n{kind}{extra}{length}\r\n").into_bytes();
            let body = if method == "GET" { Vec::new() } else { body };
            let answer = [vec![head], pieces].concat();
            Exchange { method, path, headers: headers.to_owned(), body, answer, closes: framing == 2 }
        },
    )
}

/// Everything that a side can see apart from the rules for headers.
fn seen(mut message: RawMessage) -> RawMessage {
    let changed = ["host", "connection", "transfer-encoding", "accept-encoding", "content-length"];
    message.headers.retain(|(name, _)| !changed.contains(&&*name.to_ascii_lowercase()));
    message.headers.sort();
    message
}

/// Plays exchanges directly and through the proxy.
fn compare(judge: impl Fn() -> Arc<Scripted>, seed: u64) {
    let current: Arc<Mutex<Option<Exchange>>> = Arc::default();
    let played = Arc::clone(&current);
    let upstream = Double::start(move |_| {
        let exchange = played.lock().unwrap().clone().unwrap();
        let sent = exchange.answer.into_iter().map(DoubleAct::Send);
        sent.chain(exchange.closes.then_some(DoubleAct::Close)).collect()
    });
    let proxy = proxy_to(&upstream.url(), judge());
    let mut runner =
        TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() });
    for number in 0..EXCHANGES / 2 {
        let exchange = exchange().new_tree(&mut runner).unwrap().current();
        *current.lock().unwrap() = Some(exchange.clone());
        let play = |address, path: String| {
            let mut wire = RawWire::connect(address);
            wire.send(request(exchange.method, address, &path, &exchange.headers, &exchange.body)).unwrap();
            seen(wire.message(true).unwrap())
        };
        let direct_path =
            if exchange.path.starts_with('?') { format!("/{}", exchange.path) } else { exchange.path.clone() };
        let direct = play(upstream.address, direct_path);
        let proxied = play(proxy.address(), format!("/{TOKEN}{}", exchange.path));
        assert_eq!(proxied.first, direct.first, "{number}: {exchange:?}");
        assert_eq!(proxied.text(), direct.text(), "{number}: {exchange:?}");
        assert!(proxied == direct, "{number}: {proxied:?} is not {direct:?}: {exchange:?}");
        let [first, second]: [RawMessage; 2] = upstream.received().split_off(2 * number).try_into().unwrap();
        assert_eq!(seen(second), seen(first), "{number}: {exchange:?}");
    }
}

#[test]
fn an_observed_exchange_is_the_same_as_without_the_proxy() {
    compare(Scripted::observing, 1);
}

#[test]
fn an_exchange_whose_calls_are_allowed_is_the_same_as_without_the_proxy() {
    compare(|| Scripted::refusing(&[]), 2);
}

#[test]
fn a_stream_that_is_split_at_any_byte_is_the_same() {
    for format in FORMATS {
        let path = path_of(format);
        let stream = answer(format);
        let at: Arc<Mutex<usize>> = Arc::default();
        let (cut, text) = (Arc::clone(&at), stream.clone());
        let upstream = Double::start(move |_| {
            let (first, second) = text.as_bytes().split_at(*cut.lock().unwrap());
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", text.len());
            vec![DoubleAct::Send([head.as_bytes(), first].concat()), DoubleAct::Send(second.to_vec())]
        });
        let proxy = proxy_to(&upstream.url(), Scripted::refusing(&[]));
        let mut wire = RawWire::connect(proxy.address());
        for cut in 0..=stream.len() {
            *at.lock().unwrap() = cut;
            wire.send(request("POST", proxy.address(), &format!("/{TOKEN}{path}"), "", b"{}")).unwrap();
            assert_eq!(wire.message(true).unwrap().text(), stream, "{format:?} {cut}");
        }
    }
}

fn path_of(format: WireFormat) -> &'static str {
    match format {
        WireFormat::Messages => "/v1/messages",
        WireFormat::Responses => "/v1/responses",
        WireFormat::Chat => "/v1/chat/completions",
    }
}
