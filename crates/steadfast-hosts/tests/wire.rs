//! What the hosts really sent, and what they are told.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use steadfast_hosts::{ClaudeVersion, WireContext, WireError, decode, encode};
use steadfast_model::{
    Answer, Direction, Event, EventKind, EventName, Host, Millis, PromptOrigin, Question, Ruling, SessionId, Verdict,
    Via,
};

fn around() -> WireContext {
    WireContext { at: Millis(1), cwd: "/elsewhere".into(), session: None, attended: None, other_host: None }
}

fn recorded(path: &str) -> Vec<(String, Vec<u8>)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)).unwrap();
    text.lines()
        .map(|line| {
            let payload: Value = serde_json::from_str(line).unwrap();
            (payload["hook_event_name"].as_str().unwrap().to_owned(), line.as_bytes().to_vec())
        })
        // Events we do not register for were recorded too.
        .filter(|(name, _)| EventName::parse(name).is_some())
        .collect()
}

fn events(host: Host, path: &str) -> Vec<Event> {
    recorded(path).iter().map(|(name, payload)| decode(host, Via::Local, name, payload, &around()).unwrap()).collect()
}

const CLAUDE: [&str; 7] = [
    "claude-code/2.1.197-interactive-ask-user-question.jsonl",
    "claude-code/2.1.197-interactive-compact.jsonl",
    "claude-code/2.1.197-print-deny-subagent-stop.jsonl",
    "claude-code/2.1.197-print-edit-failure-subagent-background.jsonl",
    "claude-code/2.1.197-print-tasks-and-stop-blocks.jsonl",
    "claude-code/2.1.325-print-edit-failure-subagent-background.jsonl",
    "claude-code/2.1.325-print-stop-blocks.jsonl",
];

const CODEX: &str = "codex/0.166.0-exec-shell-and-stop-blocks.jsonl";

#[test]
fn recorded_events_are_read_as_they_were_meant() {
    for (host, path) in CLAUDE.map(|path| (Host::Claude, path)).into_iter().chain([(Host::Codex, CODEX)]) {
        let mut text = String::new();
        for event in events(host, path) {
            let agent = event.agent.map_or_else(String::new, |agent| format!(" [{}:{}]", agent.agent_type, agent.id));
            let kind = serde_json::to_string(&event.kind).unwrap();
            writeln!(text, "{}{agent} {kind}", event.cwd).unwrap();
        }
        insta::assert_snapshot!(Path::new(path).file_stem().unwrap().to_str().unwrap(), text);
    }
}

#[test]
fn a_notification_of_a_background_task_is_not_the_human() {
    let origins: Vec<_> = events(Host::Claude, CLAUDE[5])
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::Prompt { origin, .. } => Some(origin),
            _ => None,
        })
        .collect();
    assert_eq!(origins, [PromptOrigin::Human, PromptOrigin::Notification, PromptOrigin::Notification]);
}

#[test]
fn a_subagents_task_is_not_the_human() {
    let payload = br#"{"session_id":"s","agent_id":"a-1","agent_type":"worker","prompt":"do the tasks"}"#;
    let event = decode(Host::Codex, Via::User, "UserPromptSubmit", payload, &around()).unwrap();
    assert!(matches!(event.kind, EventKind::Prompt { origin: PromptOrigin::Machine, .. }));
}

#[test]
fn the_compactions_own_agent_has_an_id_and_no_type() {
    let agents: Vec<_> = events(Host::Claude, CLAUDE[1]).into_iter().filter_map(|event| event.agent).collect();
    assert_eq!(agents.len(), 1);
    assert_eq!(agents[0].agent_type, "");
}

#[test]
fn what_the_payload_lacks_comes_from_around_it() {
    let outside = WireContext { session: Some(SessionId::new("env")), ..around() };
    let event = decode(Host::Claude, Via::User, "Stop", b"{}", &outside).unwrap();
    assert_eq!((event.session.as_str(), event.cwd.as_str()), ("env", "/elsewhere"));
}

#[test]
fn unknown_fields_other_types_and_a_byte_order_mark_do_no_harm() {
    let payload = "\u{feff}{\"session_id\":\"s\",\"cwd\":7,\"permission_mode\":[],\"tool_name\":\"Edit\",\
                   \"tool_input\":\"{\\\"file_path\\\":\\\"a.rs\\\"}\",\"news\":{\"deep\":[1]},\"tool_use_id\":12}";
    let event = decode(Host::Claude, Via::Local, "PreToolUse", payload.as_bytes(), &around()).unwrap();
    let kind = serde_json::to_string(&event.kind).unwrap();
    assert_eq!(kind, r#"{"pre_tool":{"id":"12","tool":"Edit","action":{"write":{"paths":["a.rs"]}}}}"#);
}

#[test]
fn what_cannot_be_read_is_named() {
    let said = |name: &str, payload: &[u8]| {
        decode(Host::Claude, Via::Local, name, payload, &around()).unwrap_err().to_string()
    };
    let brackets = "[".repeat(200_000);
    assert_eq!(said("Stop", b""), "the payload is empty");
    assert_eq!(said("Stop", b"\xef\xbb\xbf \n"), "the payload is empty");
    assert_eq!(said("Stopp", b"{}"), "unknown event `Stopp`");
    assert_eq!(said("Stop", b"{}"), "the payload has no valid `session_id`");
    assert_eq!(said("PreToolUse", br#"{"session_id":"s"}"#), "the payload has no valid `tool_name`");
    assert_eq!(
        said("Stop", br#"{"session_id":"s","cursor_version":"3"}"#),
        "the payload comes from another host, Cursor"
    );
    for payload in [&b"hello"[..], b"[]", b"{\"session_id\":\"\xff\"}", b"{\"session_id\":", brackets.as_bytes()] {
        assert!(said("Stop", payload).starts_with("the payload is not a JSON object"), "{payload:.20?}");
    }
    let deep = format!("{{\"session_id\":\"s\",\"tool_name\":\"Bash\",\"tool_input\":{brackets}");
    assert!(matches!(
        decode(Host::Codex, Via::Local, "PreToolUse", deep.as_bytes(), &around()),
        Err(WireError::NotJson(_))
    ));
}

#[test]
fn nothing_is_kept_without_a_bound() {
    let long = "x".repeat(3 << 20);
    for (name, field) in [("UserPromptSubmit", "prompt"), ("Stop", "last_assistant_message"), ("StopFailure", "error")]
    {
        let payload = format!("{{\"session_id\":\"s\",\"{field}\":\"{long}\"}}");
        let event = decode(Host::Claude, Via::Local, name, payload.as_bytes(), &around()).unwrap();
        assert!(serde_json::to_string(&event).unwrap().len() < Event::READ + 1_000, "{name}");
        let kept = serde_json::to_string(&event.stored()).unwrap().len();
        assert!(kept < 20_000, "{name} stores {kept} bytes");
    }
}

fn question() -> Question {
    Question {
        heading: "H".into(),
        text: "Q?".into(),
        options: vec![("Yes".into(), "it is".into())],
        draft: "d".into(),
        preview: Some("the plan".into()),
    }
}

/// A version with which the tests run.
fn tested() -> Option<ClaudeVersion> {
    ClaudeVersion::of_agent("claude-code_2-1-325_harness")
}

fn answers() -> Vec<(&'static str, Answer)> {
    let reason = || "R".to_owned();
    let of = |verdict, direction| {
        let mut answer = Answer::default();
        answer.add(verdict, direction);
        answer
    };
    vec![
        ("pass", of(Verdict::Pass, Direction::Advice)),
        ("note", of(Verdict::Note(reason()), Direction::Advice)),
        ("context", of(Verdict::Context(reason()), Direction::Advice)),
        ("ask (advice)", of(Verdict::Ask { reason: reason() }, Direction::Advice)),
        ("ask (gate)", of(Verdict::Ask { reason: reason() }, Direction::Gate)),
        ("ask instead", of(Verdict::AskInstead(question()), Direction::Gate)),
        ("continue", of(Verdict::Continue { reason: reason() }, Direction::Advice)),
        ("deny", of(Verdict::Deny { reason: reason() }, Direction::Gate)),
    ]
}

#[test]
fn every_verdict_at_every_event_on_every_host() {
    let mut table = String::new();
    for host in [Host::Claude, Host::Codex] {
        for event in EventName::ALL {
            for (name, answer) in answers() {
                let said = encode(host, None, event, &answer).unwrap_or_else(|| "-".into());
                writeln!(table, "{:7} {:20} {name:13} {said}", host.as_str(), event.as_str()).unwrap();
            }
        }
    }
    insta::assert_snapshot!("verdict_event_host", table);
}

/// All else is as for every version.
#[test]
fn a_tested_version_gets_a_refusal_to_stop_as_feedback_and_the_plan_beside_the_question() {
    let mut differ = Vec::new();
    for event in EventName::ALL {
        for (name, answer) in answers() {
            let said = encode(Host::Claude, tested(), event, &answer);
            if said != encode(Host::Claude, None, event, &answer) {
                differ.push((event, name, said.unwrap()));
            }
        }
    }
    let feedback =
        |event: &str| format!(r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":"R"}}}}"#);
    let question = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","updatedInput":{"questions":[{"question":"Q?","header":"H","options":[{"label":"Yes","description":"it is","preview":"the plan"}],"multiSelect":false}]}}}"#;
    assert_eq!(
        differ,
        [
            (EventName::PreToolUse, "ask instead", question.to_owned()),
            (EventName::Stop, "continue", feedback("Stop")),
            (EventName::SubagentStop, "continue", feedback("SubagentStop")),
        ]
    );
}

#[test]
fn a_note_beside_a_refusal_to_stop_is_for_the_human() {
    let note = Some("the gate is closed".to_owned());
    let answer = Answer { ruling: Ruling::Continue { reason: "R".into() }, note, ..Answer::default() };
    assert_eq!(
        encode(Host::Claude, tested(), EventName::Stop, &answer).unwrap(),
        r#"{"systemMessage":"Steadfast: the gate is closed","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"R"}}"#
    );
}

#[test]
fn a_note_has_our_name_once() {
    for (note, said) in [
        ("the gate is closed", "Steadfast: the gate is closed"),
        ("Steadfast: 2 open tasks wait here", "Steadfast: 2 open tasks wait here"),
        ("Steadfast refused `ls`", "Steadfast refused `ls`"),
    ] {
        let answer = Answer { note: Some(note.to_owned()), ..Answer::default() };
        for host in Host::ALL {
            let written: Value = serde_json::from_str(&encode(host, None, EventName::Stop, &answer).unwrap()).unwrap();
            assert_eq!(written["systemMessage"], said, "{host}");
        }
    }
}

#[test]
fn the_simulated_agent_is_told_what_claude_is_told() {
    for event in EventName::ALL {
        for (name, answer) in answers() {
            assert_eq!(
                encode(Host::Sim, tested(), event, &answer),
                encode(Host::Claude, None, event, &answer),
                "{event:?} {name}"
            );
        }
    }
}

#[test]
fn at_the_end_of_a_turn_nothing_but_a_refusal_reaches_the_agent() {
    for host in Host::ALL {
        for event in [EventName::Stop, EventName::SubagentStop] {
            for (name, answer) in answers() {
                let said = encode(host, None, event, &answer).unwrap_or_default();
                assert!(!said.contains("hookSpecificOutput"), "{host} {event:?} {name}: {said}");
                assert_eq!(said.contains("\"block\""), name == "continue", "{host} {event:?} {name}: {said}");
            }
        }
    }
}

/// Codex drops the whole answer for one field it does not expect. These are its rules, per event.
#[test]
fn codex_is_never_told_a_field_it_does_not_know() {
    for event in EventName::ALL {
        for (name, answer) in answers() {
            let Some(said) = encode(Host::Codex, tested(), event, &answer) else { continue };
            let said: Value = serde_json::from_str(&said).unwrap();
            let keys: Vec<_> = said.as_object().unwrap().keys().map(String::as_str).collect();
            let inner: Vec<_> = said["hookSpecificOutput"]
                .as_object()
                .map(|specific| specific.keys().map(String::as_str).filter(|key| *key != "hookEventName").collect())
                .unwrap_or_default();
            let (outer_ok, inner_ok): (&[&str], &[&str]) = match event {
                EventName::PreToolUse => (
                    &["hookSpecificOutput", "systemMessage"],
                    &["permissionDecision", "permissionDecisionReason", "additionalContext"],
                ),
                EventName::PermissionRequest => (&["hookSpecificOutput", "systemMessage"], &["decision"]),
                EventName::PostToolUse | EventName::SessionStart | EventName::SubagentStart => {
                    (&["hookSpecificOutput", "systemMessage"], &["additionalContext"])
                }
                EventName::UserPromptSubmit => {
                    (&["decision", "reason", "hookSpecificOutput", "systemMessage"], &["additionalContext"])
                }
                EventName::Stop | EventName::SubagentStop => (&["decision", "reason", "systemMessage"], &[]),
                EventName::PreCompact | EventName::PostCompact | EventName::Interrupt => (&["systemMessage"], &[]),
                other => panic!("{other:?} {name}: Codex has no such event, yet it is told {said}"),
            };
            assert!(keys.iter().all(|key| outer_ok.contains(key)), "{event:?} {name}: {said}");
            assert!(inner.iter().all(|key| inner_ok.contains(key)), "{event:?} {name}: {said}");
            assert_ne!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{event:?} {name}");
        }
    }
}

#[test]
fn what_is_said_keeps_the_hosts_limit() {
    let long = Answer { ruling: Ruling::Continue { reason: "ä".repeat(20_000) }, ..Answer::default() };
    for (host, limit) in [(Host::Claude, 10_000), (Host::Codex, 8_000)] {
        let said: Value = serde_json::from_str(&encode(host, None, EventName::Stop, &long).unwrap()).unwrap();
        let length = said["reason"].as_str().unwrap().len();
        assert!(length < limit && length > limit / 2, "{host}: {length}");
    }
}

#[test]
fn another_host_is_told_by_its_environment_and_its_payload_together() {
    let told = |other_host, payload: &str| {
        let around = WireContext { other_host, ..around() };
        decode(Host::Claude, Via::Local, "PreToolUse", payload.as_bytes(), &around).map_err(|error| error.to_string())
    };
    let copilot =
        r#"{"session_id":"s","timestamp":"2026-11-16T10:00:00Z","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let claude = r#"{"session_id":"s","transcript_path":"/t","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let other = Err("the payload comes from another host, Copilot CLI".to_owned());
    assert_eq!(told(Some("Copilot CLI"), copilot), other);
    assert_eq!(told(Some("Copilot CLI"), r#"{"sessionId":"s","toolName":"bash"}"#), other);
    assert!(told(Some("Copilot CLI"), claude).is_ok());
    assert!(told(None, copilot).is_ok());
}
