//! A session whose files cannot be used.

use std::fs;

use serde_json::{Value, json};
use steadfast_model::{Entry, Fact};
use steadfast_store::read_lines;
use steadfast_testkit::wait_for;

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

    hint: a hook of this session is running; try again in a moment
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

    hint: `steadfast doctor` checks the journals and their disk
    ");
    assert_eq!(fs::read(&journal).unwrap(), before);
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["pause"]), @r"
    exit 1
    error: cannot open /repo/.git/steadfast/sessions/s-1: Is a directory (os error 21)

    hint: `steadfast doctor` checks the journals and their disk
    ");
}

/// Prompts enough that the journal is begun anew once it is in the ledger, each with a tool call.
fn talk_at_length(sandbox: &Sandbox) {
    // One sentence: each is read by itself.
    let prompt = "on and ".repeat(2_400);
    for number in 0..70 {
        sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": format!("{number} {prompt}")}));
        let call =
            json!({"tool_name": "Read", "tool_use_id": format!("call-{number}"), "tool_input": {"file_path": "a"}});
        sandbox.hook("PreToolUse", "s-1", call);
    }
    assert!(sandbox.session("s-1").journal_bytes() > 1 << 20);
}

/// What the log says, without times and paths.
fn log(sandbox: &Sandbox) -> String {
    let text = fs::read(sandbox.place().state.join("hook.log")).unwrap_or_default();
    let lines: Vec<String> = sandbox.without_paths(&text).lines().map(|line| line[21..].to_owned()).collect();
    lines.join("\n")
}

#[test]
fn a_journal_that_cannot_be_begun_anew() {
    let sandbox = with_a_session();
    talk_at_length(&sandbox);
    let draft = sandbox.session("s-1").dir().join("journal.new");
    fs::create_dir(&draft).unwrap();
    sandbox.ok(&["status"]);
    insta::assert_snapshot!(log(&sandbox), @"cannot drain the journal of s-1: cannot rotate the journal in /repo/.git/steadfast/sessions/s-1: Is a directory (os error 21)");
    fs::remove_dir(&draft).unwrap();
    sandbox.ok(&["status"]);
    assert!(sandbox.session("s-1").journal_bytes() < 1 << 20);
}

#[test]
fn a_ledger_put_back_from_before_its_journal_was_begun_anew() {
    let sandbox = with_a_session();
    sandbox.ok(&["status"]);
    let database = sandbox.place().state.join("state.db");
    let before = fs::read(&database).unwrap();
    talk_at_length(&sandbox);
    let sessions =
        || -> Value { serde_json::from_str::<Value>(&sandbox.ok(&["status", "--json"])).unwrap()["sessions"].take() };
    let counted = sessions();
    assert_eq!((&counted[0]["tool_calls"], &counted[0]["prompts"]), (&json!(70), &json!(71)));
    assert!(sandbox.session("s-1").journal_bytes() < 1 << 20);
    for name in ["state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(sandbox.place().state.join(name));
    }
    fs::write(&database, before).unwrap();

    sandbox.ok(&["status"]);
    let said = log(&sandbox);
    insta::assert_snapshot!(said, @"lines 2 to 141 of the journal of s-1 are not in this ledger: the ledger is older than the last rotation of the journal; only their counts were taken over");
    assert_eq!(sessions(), counted);
    sandbox.hook("PreToolUse", "s-1", json!({"tool_name": "Read", "tool_use_id": "last", "tool_input": {}}));
    assert_eq!(sessions()[0]["tool_calls"], 71);
    assert_eq!(log(&sandbox), said, "it is said once");
}

#[test]
fn a_late_event_that_cannot_be_taken_away() {
    let sandbox = with_a_session();
    let files = sandbox.session("s-1");
    let (_, lines) = read_lines(files.dir(), 0).unwrap();
    let Entry::Record(record) = &lines[0].entry else { panic!("{lines:?}") };
    files.leave_late(&record.event).unwrap();
    let script = "cd .git/steadfast/sessions/s-1 && mount --bind late late && mount -o remount,bind,ro late && cd - && \
                  exec \"$0\" \"$@\"";
    let Some(output) = sandbox.elsewhere(script, &["pause"]) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: the files of session s-1 cannot be used: Read-only file system (os error 30)

    hint: `steadfast doctor` checks the journals and their disk
    ");
}

#[test]
fn a_plan_that_another_event_made_needed() {
    let sandbox = with_a_session();
    sandbox.ok(&["task", "add", "One"]);
    let folder = sandbox.session("s-1").dir().to_owned();
    let kept = ["journal", "state"].map(|name| folder.join(name));
    let say = |enabled: &str, prompt: &str| {
        sandbox.ok(&["config", "set", "stop.enabled", enabled]);
        sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": prompt}));
        kept.clone().map(|path| fs::read(path).unwrap())
    };
    let off = say("false", "Look around.");
    let on = say("true", "Look around again.");
    sandbox.ok(&["config", "set", "stop.enabled", "false"]);

    // The hook of a stop looks while the gate is off, and gets the lock when another event has armed it.
    let lock = fs::File::options().append(true).open(folder.join("lock")).unwrap();
    let stop = json!({"session_id": "s-1", "cwd": sandbox.root(), "stop_hook_active": false, "background_tasks": []});
    let seen = (0..40).any(|_| {
        lock.lock().unwrap();
        kept.iter().zip(&off).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        let mut hook = sandbox.start_hook("Stop", &stop);
        // When it has opened the lock, it has looked. It does not wait for long: on a busy machine it may be over by now.
        wait_for("a hook that wants the lock", || {
            let opened = fs::read_dir(format!("/proc/{}/fd", hook.id())).into_iter().flatten().flatten();
            let wants = opened.filter_map(|file| fs::read_link(file.path()).ok()).any(|file| file == folder.join("lock"));
            if wants || hook.try_wait().unwrap().is_some() { Ok(()) } else { Err("it does not".to_owned()) }
        });
        kept.iter().zip(&on).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        lock.unlock().unwrap();
        hook.wait_with_output().unwrap();
        let (_, lines) = read_lines(&folder, 0).unwrap();
        let last = lines.into_iter().last().map(|line| line.entry);
        matches!(last, Some(Entry::Record(record)) if record.facts.plan == Fact::Unknown("it was not looked up in time".into()))
    });
    assert!(seen);
}

#[test]
fn a_session_of_a_newer_version() {
    let sandbox = with_a_session();
    sandbox.set_version("s-1", 99);
    insta::assert_snapshot!(fails(&sandbox, &["pause"]), @r"
    exit 1
    error: session s-1 was written by a newer version of steadfast (state 99, known 4)

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
    let expected = "exit 1\nerror: cannot read the journal in /repo/.git/steadfast/sessions/s-1: this version does not \
                    know the kind of line 2: update steadfast";
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
    insta::assert_snapshot!(fails(&sandbox, &["pause", "--end"]), @r"
    exit 1
    error: no session is running here, and none is to be paused

    hint: `steadfast status` lists the sessions of this repository
    ");
    insta::assert_snapshot!(fails(&sandbox, &["off", "--session", "s-9"]), @r"
    exit 1
    error: there is no session `s-9` here

    hint: `steadfast status` lists the sessions of this repository
    ");
    insta::assert_snapshot!(fails(&sandbox, &["pause", "--for", "soon"]), @r"
    exit 64
    error: invalid value 'soon' for '--for <TIME>': invalid time `soon`: expected a number with `s`, `m`, `h`, `d` or `w`, such as `1h30m`

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(fails(&sandbox, &["why", "--session", "s-9"]), @r"
    exit 1
    error: this repository has no session `s-9`

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
    insta::assert_snapshot!(log[21..], @"cannot drain the journal of s-1: the journal of session `s-1` has a gap: line 2 is missing before line 3");
}
