//! Connections: what starts, ends, breaks or waits on one side is seen on the other.

use serde_json::Value;

use super::double::{Double, DoubleAct, RawMessage, RawWire, Scripted, TOKEN, post, proxy_to, request};
use crate::{CallJudge, NetworkSettings, ProxyError, ProxyRoute, RunningProxy, Upstream};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> DoubleAct {
    DoubleAct::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

fn send(text: &str) -> DoubleAct {
    DoubleAct::Send(text.as_bytes().to_vec())
}

fn ok(text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len())
}

/// Posts to a path below the token and returns the connection before the answer.
fn posted(proxy: &RunningProxy, path: &str) -> RawWire {
    let mut wire = RawWire::connect(proxy.address());
    wire.send(request("POST", proxy.address(), &format!("/{TOKEN}{path}"), "", b"{}")).unwrap();
    wire
}

fn both() -> [std::sync::Arc<Scripted>; 2] {
    [Scripted::observing(), Scripted::refusing(&[])]
}

#[test]
fn an_event_arrives_before_the_next_one_is_sent() {
    for judge in both() {
        let upstream = Double::start(|_| {
            vec![
                send(HEAD),
                chunk("data: {\"type\":\"a\"}\n\n"),
                DoubleAct::Wait,
                chunk("data: {\"type\":\"b\"}\n\n"),
                send("0\r\n\r\n"),
            ]
        });
        let proxy = proxy_to(&upstream.url(), judge);
        let mut wire = posted(&proxy, "/v1/messages");
        wire.read_to("{\"type\":\"a\"}\n\n");
        upstream.go_on();
        wire.read_to("{\"type\":\"b\"}\n\n");
        wire.read_to("0\r\n\r\n");
    }
}

#[test]
fn the_head_of_an_answer_arrives_before_its_body() {
    let upstream = Double::start(|_| vec![send(HEAD), DoubleAct::Wait, send("0\r\n\r\n")]);
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let mut wire = posted(&proxy, "/v1/messages");
    assert_eq!(wire.head().unwrap().status(), 200);
    upstream.go_on();
    wire.read_to("0\r\n\r\n");
}

#[test]
fn a_client_that_leaves_cancels_the_request() {
    for path in ["/v1/messages", "/v1/unknown"] {
        for judge in both() {
            let upstream = Double::start(|_| vec![send(HEAD), chunk("data: 1\n\n"), DoubleAct::SeeLeave]);
            let proxy = proxy_to(&upstream.url(), judge);
            let mut wire = posted(&proxy, path);
            wire.read_to("data: 1");
            drop(wire);
            upstream.sees_leave();
        }
    }
}

#[test]
fn a_client_that_leaves_before_the_answer_cancels_the_request() {
    let upstream = Double::start(|_| vec![DoubleAct::SeeLeave]);
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let wire = posted(&proxy, "/v1/messages");
    steadfast_testkit::wait_for("the request", || upstream.received().pop().ok_or_else(|| "none".to_owned()));
    drop(wire);
    upstream.sees_leave();
}

#[test]
fn an_answer_that_the_client_left_is_reported_with_its_usage() {
    let judge = Scripted::observing();
    let start = r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":9,"output_tokens":1}}}"#;
    let start = format!("data: {start}\n\n");
    let upstream = Double::start(move |_| vec![send(HEAD), chunk(&start), DoubleAct::SeeLeave]);
    let proxy = proxy_to(&upstream.url(), judge.clone());
    let mut wire = posted(&proxy, "/v1/messages");
    wire.read_to("message_start");
    drop(wire);
    let answer = steadfast_testkit::wait_for("the report", || {
        judge.answers.lock().unwrap().pop_front().ok_or_else(|| "none".to_owned())
    });
    assert_eq!((answer.1.usage.unwrap().input, answer.1.stop), (9, None));
}

#[test]
fn an_upstream_that_breaks_in_the_middle_is_seen_as_it_is() {
    let open_call = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"Write\",\"input\":{}}}\n\ndata: {\"type\":\"half";
    for judge in both() {
        for text in ["data: 1\n\nevent: half", open_call] {
            let upstream = Double::start(move |_| vec![send(HEAD), chunk(text), DoubleAct::Close]);
            let proxy = proxy_to(&upstream.url(), judge.clone());
            let answer = posted(&proxy, "/v1/messages").message(true).unwrap();
            assert_eq!((answer.status(), &*answer.text(), answer.is_whole), (200, text, false));
        }
    }
}

#[test]
fn a_json_answer_that_breaks_in_the_middle_is_seen_as_it_is() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{\"a\"";
    let upstream = Double::start(move |_| vec![send(head), DoubleAct::Close]);
    let proxy = proxy_to(&upstream.url(), Scripted::refusing(&[]));
    let answer = posted(&proxy, "/v1/messages").message(true).unwrap();
    assert_eq!((answer.status(), &*answer.text(), answer.is_whole), (200, "{\"a\"", false));
}

#[test]
fn an_upstream_that_closes_without_an_answer_closes_the_clients_connection() {
    let upstream = Double::start(|_| vec![DoubleAct::Close]);
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    assert_eq!(posted(&proxy, "/v1/messages").message(true), None);
    // A new connection: nothing says that the request was not executed.
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn a_kept_connection_that_closes_is_replaced_once() {
    // The second request on a connection closes it.
    let upstream = Double::start(|request| match request.header("x-number") {
        Some("2") => vec![DoubleAct::Close],
        _ => vec![send(&ok("fine"))],
    });
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let post_numbered = |number: &str| {
        let mut wire = RawWire::connect(proxy.address());
        let header = format!("x-number: {number}\r\n");
        wire.send(request("POST", proxy.address(), &format!("/{TOKEN}/v1/messages"), &header, b"{}")).unwrap();
        wire.message(true).map(|answer| answer.text())
    };
    assert_eq!(post_numbered("1").as_deref(), Some("fine"));
    assert_eq!(post_numbered("2"), None);
    let numbers: Vec<String> =
        upstream.received().iter().map(|request| request.header("x-number").unwrap().to_owned()).collect();
    // Once on the kept connection, once on a new one.
    assert_eq!(numbers, ["1", "2", "2"]);
    assert_eq!(post_numbered("3").as_deref(), Some("fine"));
}

#[test]
fn connections_to_the_upstream_are_kept() {
    let upstream = Double::start(|_| vec![send(&ok("fine"))]);
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    // Counts the connections on the way to the upstream.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, counted, target) = (listener.local_addr().unwrap(), count.clone(), upstream.address);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let (mut client, mut server) = (stream.unwrap(), std::net::TcpStream::connect(target).unwrap());
            let (mut back, mut answers) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut client, &mut server));
            std::thread::spawn(move || std::io::copy(&mut answers, &mut back));
        }
    });
    let proxy = proxy_to(&format!("http://{address}"), Scripted::observing());
    let mut wire = RawWire::connect(proxy.address());
    for _ in 0..20 {
        wire.send(request("POST", proxy.address(), &format!("/{TOKEN}/v1/messages"), "", b"{}")).unwrap();
        assert_eq!(wire.message(true).unwrap().text(), "fine");
    }
    // A request may come before the connection of the previous one is free again.
    assert!(count.load(std::sync::atomic::Ordering::SeqCst) <= 2);
}

#[test]
fn an_upstream_that_is_not_there_is_a_bad_gateway() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let proxy = proxy_to(&format!("http://{address}"), Scripted::observing());
    let answer = post(&proxy, "/v1/messages", "", b"{}");
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((answer.status(), &body["error"]["type"]), (502, &Value::from("api_error")));
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("steadfast proxy: cannot reach {address}: ")), "{message}");
}

#[test]
fn a_websocket_is_answered_with_426() {
    let upstream = Double::answering(ok("never"));
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let mut wire = RawWire::connect(proxy.address());
    let headers = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    wire.send(request("GET", proxy.address(), &format!("/{TOKEN}/v1/responses"), headers, b"")).unwrap();
    assert_eq!(wire.message(true).unwrap().status(), 426);
    assert_eq!(upstream.received(), []);
}

#[test]
fn only_clients_of_this_machine_with_the_token_pass() {
    let upstream = Double::answering(ok("fine"));
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let port = proxy.address().port();
    let status = |path: &str, host: &str, headers: &str| {
        let mut wire = RawWire::connect(proxy.address());
        wire.send(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n")).unwrap();
        wire.message(true).unwrap().status()
    };
    let (good, ours) = (format!("/{TOKEN}/v1/models?limit=1"), format!("127.0.0.1:{port}"));
    let refused = [
        status("/v1/models", &ours, ""),
        status(&format!("/{TOKEN}x/v1/models"), &ours, ""),
        status(&format!("/{}/v1/models", TOKEN.replace('0', "1")), &ours, ""),
        status("/", &ours, ""),
        status(&good, "example.com", ""),
        status(&good, &format!("example.com:{port}"), ""),
        status(&good, "127.0.0.1", ""),
        status(&good, &ours, "Origin: https://example.com\r\n"),
        status(&good, &ours, "Origin: null\r\n"),
    ];
    assert_eq!(refused, [404, 404, 404, 404, 403, 403, 403, 403, 403]);
    assert_eq!(upstream.received(), []);
    assert_eq!([status(&good, &ours, ""), status(&good, &format!("localhost:{port}"), "")], [200, 200]);
    let paths: Vec<String> = upstream.received().iter().map(|request| request.path().to_owned()).collect();
    assert_eq!(paths, ["/v1/models?limit=1", "/v1/models?limit=1"]);
}

#[test]
fn two_routes_lead_to_two_upstreams() {
    let (first, second) = (Double::answering(ok("first")), Double::answering(ok("second")));
    let route = |token: &str, url: &str| {
        ProxyRoute::new(token, Upstream::new(url, &NetworkSettings::default()).unwrap()).unwrap()
    };
    let other = "fedcba9876543210";
    let routes = vec![route(TOKEN, &first.url()), route(other, &format!("{}/base/", second.url()))];
    let proxy = RunningProxy::start(routes, Scripted::observing()).unwrap();
    let text = |token: &str| {
        let mut wire = RawWire::connect(proxy.address());
        wire.send(request("POST", proxy.address(), &format!("/{token}/v1/messages?beta=true"), "", b"{}")).unwrap();
        wire.message(true).unwrap().text()
    };
    assert_eq!([text(TOKEN), text(other)], ["first", "second"]);
    assert_eq!(second.received()[0].path(), "/base/v1/messages?beta=true");
}

#[test]
fn headers_of_one_connection_stay_on_it() {
    let answer = "HTTP/1.1 200 Very OK\r\nX-Mixed-Case: a\r\nKeep-Alive: timeout=5\r\nConnection: x-hop\r\nX-Hop: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\ncontent-length: 0\r\n\r\n";
    let upstream = Double::answering(answer);
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let headers = "X-Api-Key: secret\r\nAnthropic-Beta: a,b\r\nAccept-Encoding: gzip, br\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\n";
    let answer = post(&proxy, "/v1/messages", headers, b"{}");
    let named = |message: &RawMessage| -> Vec<(String, String)> {
        let mut headers = message.headers.clone();
        headers.sort();
        headers
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    assert_eq!(answer.first, "HTTP/1.1 200 Very OK");
    assert_eq!(
        named(&answer),
        pairs(&[("Set-Cookie", "a"), ("Set-Cookie", "b"), ("X-Mixed-Case", "a"), ("content-length", "0")])
    );
    let received = &upstream.received()[0];
    let host = upstream.address.to_string();
    let expected = pairs(&[
        ("Accept-Encoding", "identity"),
        ("Anthropic-Beta", "a,b"),
        ("Content-Length", "2"),
        ("Host", &host),
        ("X-Api-Key", "secret"),
    ]);
    assert_eq!(named(received), expected);
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let upstream = Double::answering(ok("never"));
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let answer = post(&proxy, "/v1/messages", &format!("x-long: {}\r\n", "a".repeat(300 << 10)), b"{}");
    assert_eq!(answer.status(), 431);
    assert_eq!(upstream.received(), []);
}

#[test]
fn a_spent_budget_refuses_each_request_in_the_form_that_ends_its_host() {
    let upstream = Double::answering(ok("{}"));
    let spent = std::sync::Arc::new(Scripted { observes: true, budget: Some(0), ..Scripted::default() });
    let proxy = proxy_to(&upstream.url(), spent);
    let refused = |path: &str| {
        let answer = post(&proxy, path, "", b"{}");
        assert!(answer.text().contains("steadfast proxy: the budget is spent"), "{}", answer.text());
        (answer.status(), answer.header("x-should-retry").map(str::to_owned))
    };
    assert_eq!(refused("/v1/messages"), (429, Some("false".to_owned())));
    assert_eq!(refused("/v1/responses"), (400, None));
    assert_eq!(refused("/v1/chat/completions"), (400, None));
    let paths = ["/v1/messages", "/v1/responses"].repeat(10);
    std::thread::scope(|scope| paths.iter().for_each(|path| drop(scope.spawn(|| refused(path)))));
    assert_eq!(upstream.received(), []);
    // Counting tokens costs nothing.
    assert_eq!(post(&proxy, "/v1/messages/count_tokens", "", b"{}").status(), 200);
}

/// The ends of answers with usage, up to the event after which a client sends its next request.
const ENDS: [(&str, &str, &str); 3] = [
    (
        "/v1/messages",
        "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n\
         data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n\
         data: {\"type\":\"message_stop\"}\n\n",
        "message_stop",
    ),
    (
        "/v1/responses",
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":1}}}\n\n",
        "completed",
    ),
    (
        "/v1/chat/completions",
        "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}\n\n\
         data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
        "[DONE]",
    ),
];

fn with_budget_of_one_answer(observes: bool) -> std::sync::Arc<Scripted> {
    std::sync::Arc::new(Scripted { observes, budget: Some(1), ..Scripted::default() })
}

#[test]
fn an_answer_is_counted_before_the_client_has_its_end() {
    for (path, events, last) in ENDS {
        for observes in [true, false] {
            let upstream = Double::start(move |_| vec![send(HEAD), chunk(events), DoubleAct::Wait, send("0\r\n\r\n")]);
            let proxy = proxy_to(&upstream.url(), with_budget_of_one_answer(observes));
            let mut wire = posted(&proxy, path);
            wire.read_to(last);
            // The answer has not ended, as its connection goes.
            assert!(matches!(post(&proxy, path, "", b"{}").status(), 429 | 400), "{path}");
            assert_eq!(upstream.received().len(), 1);
            upstream.go_on();
            wire.read_to("0\r\n\r\n");
        }
    }
}

#[test]
fn a_request_that_arrives_while_the_budget_is_spent_is_not_forwarded() {
    let (path, events, _) = ENDS[0];
    let upstream = Double::start(move |_| vec![DoubleAct::Wait, send(HEAD), chunk(events), send("0\r\n\r\n")]);
    let proxy = proxy_to(&upstream.url(), with_budget_of_one_answer(true));
    let mut first = posted(&proxy, path);
    let mut second = RawWire::connect(proxy.address());
    let whole = request("POST", proxy.address(), &format!("/{TOKEN}{path}"), "Expect: 100-continue\r\n", b"{}");
    let (head, body) = whole.split_at(whole.len() - 2);
    second.send(head).unwrap();
    // The proxy waits for the body of a request that it would forward.
    second.read_to("100 Continue\r\n\r\n");
    upstream.go_on();
    first.read_to("0\r\n\r\n");
    second.send(body).unwrap();
    assert_eq!(second.message(true).unwrap().status(), 429);
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn a_request_that_is_too_long_is_refused() {
    let upstream = Double::answering(ok("never"));
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let answer = post(&proxy, "/v1/messages", "", &vec![b' '; (64 << 20) + 1]);
    assert_eq!(answer.status(), 413);
    assert_eq!(upstream.received(), []);
}

#[test]
fn a_long_upload_to_an_unknown_path_is_streamed() {
    let upstream = Double::answering(ok("fine"));
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let body = vec![b'x'; 70 << 20];
    assert_eq!(post(&proxy, "/v1/files", "", &body).text(), "fine");
    assert!(upstream.received()[0].body == body, "the body is the same");
}

#[test]
fn an_address_of_the_network_and_a_weak_token_are_refused() {
    let upstream = || Upstream::new("http://127.0.0.1:1", &NetworkSettings::default()).unwrap();
    let judge: std::sync::Arc<dyn CallJudge> = Scripted::observing();
    let started = RunningProxy::start_at("0.0.0.0:0".parse().unwrap(), Vec::new(), judge);
    assert!(matches!(started, Err(ProxyError::NotLoopback { .. })));
    for token in ["", "short", "0123456789abcde/", "0123456789abcdé"] {
        assert!(matches!(ProxyRoute::new(token, upstream()), Err(ProxyError::Token)), "{token}");
    }
}

#[test]
fn a_proxy_that_ends_frees_its_port_and_closes_its_connections() {
    let upstream = Double::start(|_| vec![send(HEAD), chunk("data: 1\n\n"), DoubleAct::SeeLeave]);
    let proxy = proxy_to(&upstream.url(), Scripted::observing());
    let address = proxy.address();
    let mut wire = posted(&proxy, "/v1/messages");
    wire.read_to("data: 1");
    drop(proxy);
    upstream.sees_leave();
    assert!(!wire.message(true).is_some_and(|message| message.is_whole));
    drop(std::net::TcpListener::bind(address).unwrap());
}

#[test]
fn a_secret_stands_in_no_debug_output() {
    let network = NetworkSettings {
        https_proxy: "http://user:hunter2@proxy.example:8080".to_owned(),
        ..NetworkSettings::default()
    };
    let route = ProxyRoute::new(TOKEN, Upstream::new("https://api.example.com", &network).unwrap()).unwrap();
    let shown = format!("{route:?}");
    assert!(!shown.contains(TOKEN) && !shown.contains("hunter2"), "{shown}");
}
