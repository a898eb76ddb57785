//! Recordings: what is in them, what is not, and what replays of them see.

use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use steadfast_hosts::price::Prices;
use steadfast_model::{Action, EventKind, Host, Millis, Outcome};
use steadfast_proxy::{NetworkSettings, RunningProxy};

use super::{Service, Wire};
use crate::{ExchangeRecorder, Meter, RecordError, RecordedSessions, routes};

const KEY: &str = "an-api-key-of-no-known-form";

const NOW: Millis = Millis(1_000_000);

/// A token in the form of GitHub's.
fn token() -> String {
    ["gh", "p_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m"].concat()
}

struct Recorded {
    folder: tempfile::TempDir,
    recorder: Arc<ExchangeRecorder>,
    proxy: Option<RunningProxy>,
    token: String,
}

impl Recorded {
    fn start(service: &Service) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let recorder = ExchangeRecorder::create(&folder.path().join("r.jsonl"), Path::new("/repo"), NOW).unwrap();
        let url = format!("http://{}", service.address);
        let (routes, tokens) = routes([&*url], &NetworkSettings::default(), Some(&recorder)).unwrap();
        let proxy = RunningProxy::start(routes, Arc::new(Meter::new(Prices::built_in(), None))).unwrap();
        Self { folder, recorder, token: tokens[0].clone(), proxy: Some(proxy) }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("r.jsonl")
    }

    fn ask(&self, path: &str, headers: &str, body: &str) -> String {
        self.begin(path, headers, body).answer().1
    }

    fn begin(&self, path: &str, headers: &str, body: &str) -> Wire {
        let address = self.proxy.as_ref().unwrap().address();
        let mut wire = Wire::of(TcpStream::connect(address).unwrap());
        let length = body.len();
        wire.send(&format!(
            "POST /{}{path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {length}\r\n\r\n{body}",
            self.token
        ));
        wire
    }

    /// Ends the proxy, and returns what the recorder said and what it wrote.
    fn end(&mut self) -> (String, Vec<Value>) {
        self.proxy = None;
        let said = self.recorder.finish();
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        (said, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }
}

/// The events of a Claude session: a call whose input comes in these pieces.
fn call(id: &str, tool: &str, pieces: &[&str]) -> String {
    let mut events = vec![
        json!({"type": "message_start", "message": {"model": "claude-opus-5-5", "usage": {"input_tokens": 7}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": id, "name": tool}}),
    ];
    let delta = |piece: &&str| json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": piece}});
    events.extend(pieces.iter().map(delta));
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(|event| format!("data: {event}\n\n")).collect()
}

const SESSION: &str = "X-Claude-Code-Session-Id: s-1\r\n";

#[test]
fn a_recording_has_the_exchange_and_no_credential() {
    let service = Service::start(1, |_| call("c-1", "Bash", &["{\"command\":", "\"ls\"}"]));
    let mut recorded = Recorded::start(&service);
    let mode = fs::metadata(recorded.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let secrets = format!(
        "Authorization: Bearer {KEY}-1\r\nX-Api-Key: {KEY}-2\r\nCookie: sid={KEY}-3\r\nChatGPT-Account-Id: {KEY}-4\r\n\
         X-New-Thing: {KEY}-5\r\nAnthropic-Version: 2023-06-01\r\n{SESSION}"
    );
    // The agent read its own environment, and the whole conversation says so.
    let said = format!("it is {KEY}-1, {KEY}-2, at /{}/ and {} and {KEY}-3", recorded.token, token());
    let body = json!({"messages": [{"role": "user", "content": said}], "password": "Hunter22x"}).to_string();
    let answer = recorded.ask("/v1/messages?beta=true&key=in-the-query", &secrets, &body);
    assert!(answer.contains("c-1"));
    // Nothing is known about another path, so only its name is stored.
    recorded.ask("/v1/oauth/token", "", "{\"refresh_token\":\"of-another-form\"}");
    let (said, lines) = recorded.end();
    assert!(said.starts_with("recorded 2 exchanges in ") && said.ends_with(" kB)"), "{said}");
    let text = fs::read_to_string(recorded.file()).unwrap();
    for secret in [KEY, &recorded.token, &token(), "Hunter22x", "in-the-query", "of-another-form", "a-new-cookie"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    let [head, first, second] = lines.as_slice() else { panic!("{text}") };
    assert_eq!(head, &json!({"steadfast_recording": 1, "at": 1_000_000, "folder": "/repo"}));
    let shown = json!([first["method"], first["path"], first["format"], first["session"], first["status"]]);
    assert_eq!(shown, json!(["POST", "/v1/messages", "messages", "s-1", 200]));
    assert_eq!(first["request"]["headers"]["anthropic-version"], "2023-06-01");
    assert!(first["request"]["body"].as_str().unwrap().contains("it is [redacted"), "{first}");
    let read = &first["answer"];
    assert_eq!(read["headers"]["anthropic-ratelimit-tokens-reset"], "2026-11-20T00:00:00Z");
    assert_eq!(read["body"].as_str().unwrap(), call("c-1", "Bash", &["{\"command\":", "\"ls\"}"]));
    let called = json!([{"id": "c-1", "tool": "Bash", "namespace": null, "input": "{\"command\":\"ls\"}"}]);
    assert_eq!((&read["calls"], &read["is_whole"], &read["usage"]["output"]), (&called, &json!(true), &json!(5)));
    let shown = json!([second["path"], second["format"], second["request"]["body"], second["answer"]["calls"]]);
    assert_eq!(shown, json!(["/v1/oauth/token", null, null, null]));
}

#[test]
fn an_answer_with_a_length_is_whole_and_one_that_breaks_off_is_not() {
    for (missing, is_whole) in [(0, true), (1, false)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answered = std::thread::spawn(move || {
            let mut wire = Wire::of(listener.accept().unwrap().0);
            wire.request();
            let body = call("c-1", "Bash", &["{}"]);
            let head = format!("content-type: text/event-stream\r\ncontent-length: {}", body.len() + missing);
            wire.send(&format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}"));
        });
        let mut recorded = Recorded::start(&Service { address, requests: Arc::default() });
        let mut wire = recorded.begin("/v1/messages", SESSION, "{}");
        answered.join().unwrap();
        wire.read_to_the_end();
        let (_, lines) = recorded.end();
        assert_eq!(
            (&lines[1]["answer"]["is_whole"], lines[1]["answer"]["calls"][0]["id"].as_str()),
            (&json!(is_whole), Some("c-1"))
        );
    }
}

#[test]
fn a_secret_in_pieces_is_in_no_recording() {
    let token = token();
    let (one, two) = token.split_at(9);
    let input = format!("{{\"command\":\"echo {one}\u{0}{two}\"}}");
    let pieces: Vec<String> = input.split('\u{0}').map(str::to_owned).collect();
    let service =
        Service::start(1, move |_| call("c-1", "Bash", &pieces.iter().map(|piece| &**piece).collect::<Vec<_>>()));
    let mut recorded = Recorded::start(&service);
    recorded.ask("/v1/messages", SESSION, "{}");
    let (_, lines) = recorded.end();
    let text = fs::read_to_string(recorded.file()).unwrap();
    assert!(!text.contains(one) && !text.contains(two), "{text}");
    let read = &lines[1]["answer"];
    assert_eq!((&read["body"], &read["left_out"]), (&Value::Null, &json!("a secret may stand in pieces")));
    assert!(read["calls"][0]["input"].as_str().unwrap().starts_with("{\"command\":\"echo [redacted"), "{read}");
}

#[test]
fn a_file_that_exists_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine");
    fs::write(&path, "mine").unwrap();
    let error = ExchangeRecorder::create(&path, Path::new("/"), NOW).unwrap_err();
    assert!(matches!(error, RecordError::Exists(_)));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    let error = ExchangeRecorder::create(&folder.path().join("a/b"), Path::new("/"), NOW).unwrap_err();
    assert!(matches!(error, RecordError::Create { .. }));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_the_recording_and_not_the_agent() {
    let service = Service::start(1, |_| call("c-1", "Bash", &["{}"]));
    let mut recorded = Recorded::start(&service);
    let full: File = OpenOptions::new().write(true).open("/dev/full").unwrap();
    recorded.recorder = recorded.recorder.with_file(full);
    let url = format!("http://{}", service.address);
    let (routes, tokens) = routes([&*url], &NetworkSettings::default(), Some(&recorded.recorder)).unwrap();
    recorded.token = tokens[0].clone();
    recorded.proxy = Some(RunningProxy::start(routes, Arc::new(Meter::new(Prices::built_in(), None))).unwrap());
    for _ in 0..3 {
        assert!(recorded.ask("/v1/messages", SESSION, "{}").contains("message_stop"));
    }
    let (said, _) = recorded.end();
    assert!(said.starts_with("warning: the recording ") && said.contains("ends after 0 exchanges: No space"), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn a_recording_is_read_as_the_events_of_its_hooks() {
    let service = Service::start(1, |path| {
        match path {
        "/v1/messages" => call("c-1", "Bash", &["{\"command\":\"ls\"}"]),
        _ => "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"function_call\",\
              \"call_id\":\"d-1\",\"name\":\"exec_command\",\"arguments\":\"{\\\"cmd\\\":\\\"pwd\\\"}\"}]}}\n\n"
            .to_owned(),
    }
    });
    let mut recorded = Recorded::start(&service);
    let tools = json!([{"name": "Bash"}]);
    let prompt = json!([{"type": "text", "text": "<system-reminder>no</system-reminder>"}, {"type": "text", "text": "List it."}]);
    let mut messages = vec![json!({"role": "user", "content": prompt})];
    recorded.ask("/v1/messages", SESSION, &json!({"tools": tools, "messages": messages}).to_string());
    messages.push(
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c-1", "name": "Bash", "input": {}}]}),
    );
    let result = json!([{"type": "tool_result", "tool_use_id": "c-1", "content": "no", "is_error": true}]);
    messages.push(json!({"role": "user", "content": result}));
    recorded.ask("/v1/messages", SESSION, &json!({"tools": tools, "messages": messages}).to_string());
    recorded.ask("/v1/responses", "Session-Id: t-1\r\nThread-Id: t-1\r\n", "{}");
    recorded.ask("/v1/messages", "", "{}");
    recorded.end();
    let mut text = fs::read_to_string(recorded.file()).unwrap();
    text.push_str("{\"at\": 1, \"cut");
    fs::write(recorded.file(), text).unwrap();
    let read = RecordedSessions::read(&recorded.file()).unwrap().unwrap();
    assert_eq!((read.damaged, read.unknown), (1, 1));
    let [claude, codex] = read.sessions.as_slice() else { panic!("{read:?}") };
    let kinds: Vec<&str> = claude.events.iter().map(|event| event.kind.label()).collect();
    assert_eq!(kinds, ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"]);
    assert!(matches!(&claude.events[1].kind, EventKind::Prompt { text, .. } if text == "List it."), "{claude:?}");
    let EventKind::PostTool(result) = &claude.events[3].kind else { panic!("{claude:?}") };
    assert_eq!(
        (&result.call.action, &result.outcome),
        (&Action::shell("ls"), &Outcome::Failed { error: "no".to_owned() })
    );
    assert!(claude.events.iter().all(|event| event.cwd == "/repo"));
    let EventKind::PreTool(call) = &codex.events[1].kind else { panic!("{codex:?}") };
    assert_eq!((codex.events[1].host, &call.action, codex.id.as_str()), (Host::Codex, &Action::shell("pwd"), "t-1"));
    // Another file is no recording.
    fs::write(recorded.file(), "{\"type\": \"summary\"}\n").unwrap();
    assert!(RecordedSessions::read(&recorded.file()).unwrap().is_none());
}
