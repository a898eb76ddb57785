//! Raw HTTP to the scripted model.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use steadfast_sim::{Action, Cast, Scenario, ScriptedModel, Track, Turn, Usage};
use steadfast_testkit::{PATIENCE, wait_for};

fn connect(model: &ScriptedModel) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The status and the body of the next answer on a connection.
fn answer(stream: &mut TcpStream) -> (u16, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length: usize =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (status, String::from_utf8(body).unwrap())
}

fn post_on(stream: &mut TcpStream, path: &str, headers: &str, body: &Value) -> (u16, String) {
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    answer(stream)
}

fn post(model: &ScriptedModel, path: &str, headers: &str, body: &Value) -> (u16, String) {
    post_on(&mut connect(model), path, headers, body)
}

fn claude(text: &str) -> Value {
    json!({"model": "m", "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": text}]})
}

fn said(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    body["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The data of every server-sent event.
fn events(stream: &str) -> Vec<Value> {
    stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn a_stream_builds_up_text_and_parallel_calls() {
    let turn = Turn::saying("both").calling([Action::shell("ls"), Action::read("a.txt")]);
    let model = ScriptedModel::start(Scenario::new("x").turn(turn)).unwrap();
    let mut body = claude("go");
    body["stream"] = json!(true);
    let (status, stream) = post(&model, "/v1/messages?beta=true", "", &body);
    assert_eq!(status, 200);
    let events = events(&stream);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected = [&["message_start"][..], &block, &block, &block, &["message_delta", "message_stop"]].concat();
    assert_eq!(kinds, expected);
    let input: Value = serde_json::from_str(events[5]["delta"]["partial_json"].as_str().unwrap()).unwrap();
    assert_eq!((events[4]["content_block"]["name"].as_str(), &input["command"]), (Some("Bash"), &json!("ls")));
    assert_eq!(events[10]["delta"]["stop_reason"], "tool_use");
}

#[test]
fn the_script_advances_on_one_connection_and_side_requests_leave_it_alone() {
    let model = ScriptedModel::start(Scenario::new("x").say("one").say("two").say("three")).unwrap();
    let mut stream = connect(&model);
    let path = "/v1/messages?beta=true";
    let side = json!({"messages": [{"role": "user", "content": "a title, please"}]});
    let first = post_on(&mut stream, path, "", &claude("a")).1;
    let title = post_on(&mut stream, path, "", &side).1;
    let second = post_on(&mut stream, path, "", &claude("b")).1;
    assert_eq!([said(&first), said(&second)], ["one", "two"]);
    assert!(!said(&title).is_empty());
    let tracks: Vec<Track> = model.requests().iter().map(|request| request.track).collect();
    assert_eq!(tracks, [Track::Main, Track::Side, Track::Main]);
}

#[test]
fn sessions_side_by_side_play_each_its_own_part() {
    let two = |name: &str| Scenario::new(name).say(format!("{name} 1")).say(format!("{name} 2"));
    let cast = Cast::several().part("unit 1.", [two("a"), two("b")]).part("unit 2.", [two("c")]);
    let model = ScriptedModel::start(cast).unwrap();
    let ask = |session: &str, text: &str| {
        let header = format!("x-claude-code-session-id: {session}\r\n");
        post(&model, "/v1/messages", &header, &claude(text))
    };
    let asked = [("s1", "unit 1."), ("s2", "unit 2."), ("s1", "go on"), ("s3", "unit 1."), ("s2", "unit 1.")];
    let answers = asked.map(|(session, text)| said(&ask(session, text).1));
    assert_eq!(answers, ["a 1", "c 1", "a 2", "b 1", "c 2"]);
    assert_eq!(ask("s4", "unit 3.").0, 404);
}

#[test]
fn an_answer_reports_what_its_turn_takes() {
    let scenario = Scenario::new("x").say("much").using(Usage { input: 9_000, output: 300 }).say("as usual");
    let model = ScriptedModel::start(scenario).unwrap();
    let ask = || {
        let body: Value = serde_json::from_str(&post(&model, "/v1/messages", "", &claude("go")).1).unwrap();
        [body["usage"]["input_tokens"].clone(), body["usage"]["output_tokens"].clone()]
    };
    assert_eq!([ask(), ask()], [[9_000, 300], [100, 20]]);
}

#[test]
fn each_subagent_plays_its_script_from_the_start() {
    let scenario = Scenario::new("x").say("main").subagent([Turn::saying("first"), Turn::saying("second")]);
    let model = ScriptedModel::start(scenario).unwrap();
    let ask = |agent: &str| {
        let header = format!("x-claude-code-agent-id: {agent}\r\n");
        said(&post(&model, "/v1/messages", &header, &claude("go")).1)
    };
    assert_eq!([ask("a1"), ask("a2"), ask("a1")], ["first", "first", "second"]);
}

#[test]
fn a_fault_is_an_error_as_often_as_written() {
    let model = ScriptedModel::start(Scenario::new("x").fail(529, 2).say("up again")).unwrap();
    let ask = || post(&model, "/v1/messages", "", &claude("go"));
    let statuses = [ask().0, ask().0, ask().0];
    assert_eq!(statuses, [529, 529, 200]);
    let model = ScriptedModel::start(Scenario::new("x").fail(529, 1).say("up again")).unwrap();
    let body: Value = serde_json::from_str(&post(&model, "/v1/messages", "", &claude("go")).1).unwrap();
    assert_eq!(body["error"]["type"], "overloaded_error");
}

#[test]
fn the_newest_main_request_is_found_as_text() {
    let model = ScriptedModel::start(Scenario::new("x").say("ok")).unwrap();
    assert_eq!(model.last_request_text(), "");
    post(&model, "/v1/messages", "", &claude("first words"));
    post(&model, "/v1/messages", "", &claude("newest words"));
    post(&model, "/v1/messages", "x-claude-code-agent-id: a1\r\n", &claude("of a subagent"));
    let text = model.last_request_text();
    assert!(text.contains("newest words"), "{text}");
    assert!(!text.contains("of a subagent"), "{text}");
}

#[test]
fn codex_is_answered_with_items_and_a_completed_response() {
    let scenario = Scenario::new("x").turn(Turn::saying("go").calling([Action::shell("ls")]));
    let model = ScriptedModel::start(scenario).unwrap();
    let body = json!({"model": "m", "stream": true, "tools": [{"name": "exec_command"}], "input": []});
    let (status, stream) = post(&model, "/v1/responses", "", &body);
    assert_eq!(status, 200);
    let events = events(&stream);
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"]["type"])
        .collect();
    assert_eq!(done, ["message", "function_call"]);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["usage"]["total_tokens"], 120);
}

#[test]
fn a_chunked_body_that_waits_for_permission_is_read() {
    let model = ScriptedModel::start(Scenario::new("x").say("ok")).unwrap();
    let mut stream = connect(&model);
    write!(stream, "POST /v1/messages HTTP/1.1\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    assert_eq!(answer(&mut stream).0, 100);
    let body = claude("in chunks").to_string();
    let (start, end) = body.split_at(10);
    write!(stream, "{:x}\r\n{start}\r\n{:x}\r\n{end}\r\n0\r\n\r\n", start.len(), end.len()).unwrap();
    assert_eq!(answer(&mut stream).0, 200);
    assert!(model.last_request_text().contains("in chunks"));
}

#[test]
fn the_small_routes_answer() {
    let model = ScriptedModel::start(Scenario::new("x").say("ok")).unwrap();
    let mut stream = connect(&model);
    let (status, body) = post_on(&mut stream, "/v1/messages/count_tokens", "", &claude("count"));
    let tokens: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status, 200);
    assert!(tokens["input_tokens"].as_u64().unwrap() > 0);
    write!(stream, "HEAD / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(answer(&mut stream), (200, String::new()));
    write!(stream, "GET /v1/models HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(answer(&mut stream).0, 200);
    assert_eq!(post_on(&mut stream, "/v1/nonsense", "", &json!({})).0, 404);
}

#[test]
fn a_compressed_body_is_refused_with_the_way_out() {
    let model = ScriptedModel::start(Scenario::new("x").say("ok")).unwrap();
    let (status, body) = post(&model, "/v1/responses", "content-encoding: zstd\r\n", &json!({}));
    assert_eq!(status, 415);
    assert!(body.contains("cannot read `zstd`"), "{body}");
}

#[test]
fn a_recording_has_one_line_for_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.jsonl");
    let model = ScriptedModel::start_recording(Scenario::new("x").say("ok"), &file).unwrap();
    post(&model, "/v1/messages", "", &claude("keep this"));
    drop(model);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1);
    assert_eq!(
        (&lines[0]["track"], &lines[0]["body"]["messages"][0]["content"]),
        (&json!("main"), &json!("keep this"))
    );
}

#[test]
fn dropping_it_frees_the_port_and_hangs_up() {
    let model = ScriptedModel::start(Scenario::new("x").say("ok")).unwrap();
    let port = model.port();
    let mut idle = connect(&model);
    post_on(&mut idle, "/v1/messages", "", &claude("hello"));
    let listened = listeners(port);
    drop(model);
    assert_eq!(idle.read(&mut [0; 8]).unwrap(), 0);
    // Another test may use the port again, and a process that a test just started holds the socket until its program
    // runs.
    wait_for("the end of the listening socket", || {
        let left: Vec<String> = listeners(port).into_iter().filter(|socket| listened.contains(socket)).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
    #[cfg(target_os = "linux")]
    assert_eq!(listened.len(), 1);
}

/// The inodes of the sockets that listen on a port of the loopback device.
fn listeners(port: u16) -> Vec<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let address = format!("0100007F:{port:04X}");
    let rows = table.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    // The state of a listening socket is 0A.
    rows.filter(|row| row.get(1) == Some(&address.as_str()) && row.get(3) == Some(&"0A"))
        .filter_map(|row| row.get(9).map(|inode| (*inode).to_owned()))
        .collect()
}
