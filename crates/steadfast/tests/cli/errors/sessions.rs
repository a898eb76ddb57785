//! A session whose files cannot be used.

use std::fs;

use serde_json::json;

use super::{fails, failure};
use crate::sandbox::Sandbox;

fn with_a_session() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Look around."}));
    sandbox
}

#[test]
fn a_session_that_another_holds() {
    let sandbox = with_a_session();
    let lock = fs::File::options().append(true).open(sandbox.session("s-1").dir().join("lock")).unwrap();
    lock.lock().unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["pause"]), @r"
    exit 1
    error: another process holds the lock of session s-1

    hint: a hook of this session is at work; try again in a moment
    ");
}

#[test]
fn a_journal_that_cannot_be_written() {
    let sandbox = with_a_session();
    let journal = sandbox.session("s-1").dir().join("journal");
    let before = fs::read(&journal).unwrap();
    insta::assert_snapshot!(failure(&sandbox, &sandbox.full(&["pause"])), @r"
    exit 1
    error: cannot append to the journal in /repo/.git/steadfast/sessions/s-1: File too large (os error 27)

    hint: `steadfast doctor` looks at the journals and the disk they are on
    ");
    assert_eq!(fs::read(&journal).unwrap(), before);
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["pause"]), @r"
    exit 1
    error: cannot open /repo/.git/steadfast/sessions/s-1: Is a directory (os error 21)

    hint: `steadfast doctor` looks at the journals and the disk they are on
    ");
}

#[test]
fn a_session_of_a_newer_version() {
    let sandbox = with_a_session();
    let state = sandbox.session("s-1").dir().join("state");
    let known = format!("\"version\":{}", steadfast_model::STATE_VERSION);
    let text = fs::read_to_string(&state).unwrap();
    fs::write(&state, text.replacen(&known, "\"version\":99", 1)).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["pause"]), @r"
    exit 1
    error: session s-1 was written by a newer version of steadfast (state 99, known 1)

    hint: update steadfast, or end that session
    ");
}

#[test]
fn a_journal_with_a_line_of_a_newer_kind() {
    let sandbox = with_a_session();
    let path = sandbox.session("s-1").dir().join("journal");
    let (sequence, body) = (2_u64, r#"{"epilogue":{"mood":"bright"}}"#);
    let line = format!("{:08x} {sequence:016x} {:08x} {body}\n", body.len(), checksum(sequence, body.as_bytes()));
    let newer = fs::read_to_string(&path).unwrap() + &line;
    fs::write(&path, &newer).unwrap();
    let said = fails(&sandbox, &["pause"]);
    let expected = "exit 1\nerror: cannot read the journal in /repo/.git/steadfast/sessions/s-1: line 2 is of a kind that \
                    this version does not know: update steadfast";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

/// CRC-32 over the sequence and the body, as the journal's format says.
fn checksum(sequence: u64, body: &[u8]) -> u32 {
    let bytes = sequence.to_be_bytes();
    let sum = bytes.iter().chain(body).fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    });
    !sum
}

#[test]
fn sessions_that_are_not_there() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(fails(&sandbox, &["off"]), @r"
    exit 1
    error: no session is running here

    hint: `steadfast status` lists the sessions of this repository
    ");
    insta::assert_snapshot!(fails(&sandbox, &["off", "--session", "s-9"]), @r"
    exit 1
    error: there is no session `s-9` here

    hint: `steadfast status` lists the sessions of this repository
    ");
    insta::assert_snapshot!(fails(&sandbox, &["pause", "--for", "soon"]), @r"
    exit 64
    error: invalid value 'soon' for '--for <TIME>': `soon` is no time; expected a number with `s`, `m`, `h` or `d`, such as `10m`

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(fails(&sandbox, &["why", "--session", "s-9"]), @r"
    exit 1
    error: there is no session `s-9` in this repository

    hint: `steadfast status` lists the sessions
    ");
}

#[test]
fn a_journal_with_a_gap() {
    let sandbox = with_a_session();
    for n in 0..2 {
        sandbox.hook("PreToolUse", "s-1", json!({"tool_name": "Read", "tool_use_id": n.to_string(), "tool_input": {}}));
    }
    let journal = sandbox.session("s-1").dir().join("journal");
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&journal, format!("{}\n{}\n", lines[0], lines[2])).unwrap();
    fs::remove_file(sandbox.session("s-1").dir().join("state")).unwrap();
    sandbox.ok(&["status"]);
    let log = fs::read_to_string(sandbox.place().state.join("hook.log")).unwrap();
    // Without the time.
    insta::assert_snapshot!(log[21..], @"the journal of s-1 was not drained: the journal of session `s-1` has a gap: line 2 is missing before line 3");
}
