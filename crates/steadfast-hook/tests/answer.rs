//! What goes wrong on the way to a verdict: silence with no gate closed, a refusal before a tool with one closed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "the test is another process at the database")]

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_hook::{HookCall, HookEnvironment, answer};
use steadfast_model::{AddedBy, Gate, GateScope, Host, Millis, SessionId, State, Via};
use steadfast_store::ledger::{Claiming, Ledger, NewTask};
use steadfast_store::{Place, SessionFiles, close_gate};
use steadfast_testkit::wait_for;

struct Repository {
    dir: tempfile::TempDir,
    place: Place,
}

impl Repository {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let place = Place::of(dir.path(), None).unwrap();
        place.create().unwrap();
        Self { dir, place }
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn close_gate(&self) {
        let scope = GateScope::Session(SessionId::new("s-1"));
        close_gate(&self.place, &Gate::new(scope, "the plan is not approved", Millis(1))).unwrap();
    }

    fn surroundings(&self) -> HookEnvironment {
        HookEnvironment::bare(Millis(1_000), self.root().to_owned())
    }

    fn ask(&self, event: &str, stdin: impl Read) -> Option<String> {
        let call = HookCall { host: Host::Claude, via: Via::Local, event: event.into() };
        answer(&call, &self.surroundings(), stdin).said
    }

    fn stop(&self) -> Option<String> {
        self.ask("Stop", Cursor::new(self.payload("")))
    }

    fn tool(&self) -> Option<String> {
        self.ask("PreToolUse", Cursor::new(self.payload(r#","tool_name":"Edit","tool_input":{"file_path":"a"}"#)))
    }

    fn payload(&self, more: &str) -> Vec<u8> {
        format!("{{\"session_id\":\"s-1\",\"cwd\":{:?}{more}}}", self.root()).into_bytes()
    }

    /// A list of tasks that session `s-1` works on.
    fn with_tasks(self, count: u32) -> Self {
        let mut ledger = Ledger::open(&self.place.state).unwrap();
        let plan = ledger.list_plan(&self.place.worktree(), "tasks", AddedBy::Human, Millis(1)).unwrap();
        for n in 1..=count {
            ledger.add_task(&plan, NewTask::new(format!("Task {n}"), AddedBy::Human), Millis(1)).unwrap();
        }
        ledger.take_plan(&plan, &SessionId::new("s-1"), Claiming::UnlessHeld, Millis(1)).unwrap();
        self
    }

    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.place.state.join("hook.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn refused(said: Option<String>) -> bool {
    said.is_some_and(|said| said.contains("\"decision\":\"block\""))
}

fn denied(said: Option<String>) -> bool {
    said.is_some_and(|said| said.contains("\"permissionDecision\":\"deny\"") && said.contains("not approved"))
}

/// Ends in the middle of a panic of ours.
struct Panics;

impl Read for Panics {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("a bug")
    }
}

fn bad_payloads() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("empty", Vec::new()),
        ("not JSON", b"hello".to_vec()),
        ("a byte order mark alone", b"\xef\xbb\xbf".to_vec()),
        ("invalid UTF-8", b"{\"session_id\":\"\xff\xfe\",\"tool_name\":\"Edit\"}".to_vec()),
        ("50 MB", vec![b'x'; 50 << 20]),
        ("200,000 brackets", vec![b'['; 200_000]),
        ("200,000 nested objects", b"{\"a\":".repeat(200_000)),
        ("no session", b"{\"tool_name\":\"Edit\"}".to_vec()),
        ("no tool", b"{\"session_id\":\"s-1\"}".to_vec()),
        ("fields of another type", b"{\"session_id\":{\"a\":1},\"tool_name\":[2]}".to_vec()),
        ("a list", b"[1,2,3]".to_vec()),
    ]
}

#[test]
fn bad_input_is_answered_with_silence_and_one_line_in_the_log() {
    for (name, payload) in bad_payloads() {
        let repository = Repository::new();
        assert_eq!(repository.ask("PreToolUse", Cursor::new(payload)), None, "{name}");
        let log = repository.log();
        assert_eq!(log.len(), 1, "{name}: {log:?}");
        assert!(log[0].starts_with("1970-01-01T00:00:01Z claude local PreToolUse: the payload"), "{name}: {log:?}");
    }
}

#[test]
fn an_unknown_event_is_answered_with_silence() {
    let repository = Repository::new();
    repository.close_gate();
    assert_eq!(repository.ask("PreBrew", Cursor::new(repository.payload(""))), None);
    assert!(repository.log()[0].ends_with("unknown event `PreBrew`"), "{:?}", repository.log());
}

#[test]
fn behind_a_closed_gate_bad_input_before_a_tool_is_denied() {
    for (name, payload) in bad_payloads() {
        let repository = Repository::new();
        repository.close_gate();
        assert!(denied(repository.ask("PreToolUse", Cursor::new(payload.clone()))), "{name}");
        assert_eq!(repository.ask("PostToolUse", Cursor::new(payload)), None, "{name}, after the tool");
    }
}

#[test]
fn behind_a_closed_gate_a_panic_denies_and_without_one_it_passes() {
    let repository = Repository::new();
    assert_eq!(repository.ask("PreToolUse", Panics), None);
    assert!(repository.log()[0].ends_with("panicked: a bug"), "{:?}", repository.log());
    repository.close_gate();
    assert!(denied(repository.ask("PreToolUse", Panics)));
    assert_eq!(repository.ask("Stop", Panics), None);
}

#[test]
fn the_session_of_an_unreadable_event_comes_from_the_environment() {
    let repository = Repository::new();
    repository.close_gate();
    let call = HookCall { host: Host::Claude, via: Via::Local, event: "PreToolUse".into() };
    let of = |session: &str| {
        let around = HookEnvironment { session: Some(SessionId::new(session)), ..repository.surroundings() };
        answer(&call, &around, Cursor::new(b"?".to_vec())).said
    };
    assert!(denied(of("s-1")));
    assert_eq!(of("s-2"), None, "another session's gate does not stand before this one");
}

#[test]
fn an_agent_of_a_run_is_not_offered_the_tasks_it_was_started_for() {
    let repository = Repository::new().with_tasks(2);
    let payload = format!("{{\"session_id\":\"s-2\",\"cwd\":{:?},\"source\":\"startup\"}}", repository.root());
    let start = |run_spent: Option<PathBuf>| {
        let call = HookCall { host: Host::Claude, via: Via::Local, event: "SessionStart".into() };
        // Long enough for the session that has the tasks to count as gone.
        let now = Millis(24 * 60 * 60 * 1_000);
        let around = HookEnvironment { run_spent, now, ..repository.surroundings() };
        answer(&call, &around, Cursor::new(payload.as_bytes())).said
    };
    assert_eq!(start(Some(repository.root().join("spent"))), None);
    assert!(start(None).is_some_and(|said| said.contains("that no session works on")));
}

#[test]
fn who_works_for_a_run_that_spent_its_budget_may_end_and_nothing_else() {
    let repository = Repository::new().with_tasks(2);
    let file = repository.root().join("spent");
    let ask = |event: &str, more: &str| {
        let call = HookCall { host: Host::Claude, via: Via::Local, event: event.into() };
        let around = HookEnvironment { run_spent: Some(file.clone()), ..repository.surroundings() };
        answer(&call, &around, Cursor::new(repository.payload(more))).said
    };
    let edit = |id: &str| {
        let more = format!(r#","tool_use_id":"{id}","tool_name":"Edit","tool_input":{{"file_path":"a"}}"#);
        ask("PreToolUse", &more)
    };
    assert_eq!(edit("t-1"), None);
    assert!(refused(ask("Stop", "")));
    fs::write(&file, "25.03 of 25 US dollars\nand more\n").unwrap();
    let said = edit("t-2").unwrap();
    assert!(said.contains("\"permissionDecision\":\"deny\""), "{said}");
    assert!(said.contains("The budget of this run is spent (25.03 of 25 US dollars)"), "{said}");
    assert_eq!(ask("Stop", ""), None);
    // Another's budget is nothing to a session that works for nobody's run.
    assert!(refused(repository.ask("Stop", Cursor::new(repository.payload("")))));
    fs::remove_file(&file).unwrap();
    assert_eq!(edit("t-3"), None, "more was granted");
}

#[test]
fn a_gate_is_also_closed_on_codex() {
    let repository = Repository::new();
    repository.close_gate();
    let call = HookCall { host: Host::Codex, via: Via::User, event: "PreToolUse".into() };
    assert!(denied(answer(&call, &repository.surroundings(), Cursor::new(b"?".to_vec())).said));
}

#[test]
fn where_init_left_nothing_the_hook_ends_at_once() {
    let repository = Repository::new();
    fs::remove_dir_all(&repository.place.state).unwrap();
    assert_eq!(repository.tool(), None);
    assert_eq!(repository.ask("PreToolUse", Cursor::new(b"?".to_vec())), None);
    assert!(!repository.place.state.exists());
}

#[test]
fn stopping_early_is_refused_and_ends_after_three_idle_refusals() {
    let repository = Repository::new().with_tasks(2);
    let answers: Vec<bool> = (0..5).map(|_| refused(repository.stop())).collect();
    assert_eq!(answers, [true, true, true, false, false]);
}

#[test]
fn a_session_that_wanders_off_is_held_all_the_same() {
    let repository = Repository::new().with_tasks(2);
    assert!(refused(repository.stop()));
    let other = Repository::new();
    for elsewhere in [std::env::temp_dir(), other.root().to_owned()] {
        let call = HookCall { host: Host::Claude, via: Via::Local, event: "Stop".into() };
        let around = HookEnvironment {
            cwd: elsewhere.clone(),
            project: Some(repository.root().to_owned()),
            ..repository.surroundings()
        };
        let payload = format!("{{\"session_id\":\"s-1\",\"cwd\":{elsewhere:?}}}");
        assert!(refused(answer(&call, &around, Cursor::new(payload.into_bytes())).said), "{elsewhere:?}");
    }
}

#[test]
fn a_second_session_in_the_same_repository_stops_freely() {
    let repository = Repository::new().with_tasks(2);
    let other = String::from_utf8(repository.payload("")).unwrap().replace("s-1", "s-2");
    assert_eq!(repository.ask("Stop", Cursor::new(other.into_bytes())), None);
}

#[test]
fn a_database_held_by_another_process_is_read_all_the_same() {
    let repository = Repository::new().with_tasks(2);
    let held = rusqlite::Connection::open(repository.place.state.join("state.db")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE; UPDATE plan SET title = title").unwrap();
    assert!(refused(repository.stop()));
}

#[test]
fn a_damaged_database_is_replaced_by_its_slice() {
    let repository = Repository::new().with_tasks(2);
    for file in ["state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(repository.place.state.join(file));
    }
    fs::write(repository.place.state.join("state.db"), vec![7; 9_000]).unwrap();
    assert!(refused(repository.stop()));
}

#[test]
fn without_database_and_slice_the_agent_is_let_go_and_the_human_told() {
    let repository = Repository::new().with_tasks(2);
    for file in ["state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(repository.place.state.join(file));
    }
    fs::write(repository.place.state.join("state.db"), vec![7; 9_000]).unwrap();
    fs::remove_dir_all(repository.place.state.join("plans")).unwrap();
    let said = repository.stop().unwrap();
    assert!(said.starts_with("{\"systemMessage\":\"Steadfast could not read the tasks: the ledger"), "{said}");
}

#[test]
fn a_refusal_that_cannot_be_written_down_is_not_given() {
    let repository = Repository::new().with_tasks(2);
    let files = SessionFiles::of(&repository.place, &SessionId::new("s-1"));
    fs::create_dir_all(files.dir().parent().unwrap()).unwrap();
    // Root may write into a read-only folder; nobody can make a folder where a file is.
    fs::write(files.dir(), "in the way").unwrap();
    assert_eq!(repository.stop(), None);
    assert!(repository.log()[0].contains("claude local Stop: cannot "), "{:?}", repository.log());
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_nothing_is_refused_and_the_agent_goes_on() {
    let repository = Repository::new().with_tasks(2);
    let files = SessionFiles::of(&repository.place, &SessionId::new("s-1"));
    fs::create_dir_all(files.dir()).unwrap();
    std::os::unix::fs::symlink("/dev/full", files.dir().join("journal")).unwrap();
    assert_eq!(repository.stop(), None);
    assert_eq!(repository.tool(), None);
    assert!(repository.log()[0].contains("No space left on device"), "{:?}", repository.log());
    repository.close_gate();
    assert!(denied(repository.tool()));
}

#[test]
fn a_held_lock_lets_go_and_a_closed_gate_denies() {
    let repository = Repository::new().with_tasks(2);
    repository.stop();
    let files = SessionFiles::of(&repository.place, &SessionId::new("s-1"));
    std::thread::scope(|scope| {
        // Held until there are answers.
        let lock = fs::File::options().write(true).open(files.dir().join("lock")).unwrap();
        lock.lock().unwrap();
        let answers = scope.spawn(|| {
            let stopped = repository.stop();
            repository.close_gate();
            (stopped, denied(repository.tool()))
        });
        wait_for("the answers", || if answers.is_finished() { Ok(()) } else { Err("a wait for the lock".to_owned()) });
        assert_eq!(answers.join().unwrap(), (None, true));
    });
}

#[test]
fn an_event_that_came_too_late_for_the_lock_is_journalled_by_the_next() {
    let repository = Repository::new().with_tasks(2);
    repository.stop();
    let files = SessionFiles::of(&repository.place, &SessionId::new("s-1"));
    let lock = fs::File::options().write(true).open(files.dir().join("lock")).unwrap();
    lock.lock().unwrap();
    repository.tool();
    assert_eq!(repository.stop(), None);
    drop(lock);
    assert!(refused(repository.stop()));
    let state: State = files.load(Duration::ZERO).unwrap().unwrap();
    assert_eq!(
        (state.sequence, state.tool_calls, state.stop.refused),
        (4, 1, 2),
        "the late stop was let go, so it is not on the account"
    );
    assert_eq!(files.late().len(), 0);
}

#[test]
fn state_deleted_in_mid_session_does_not_refund_the_budget() {
    let repository = Repository::new().with_tasks(2);
    repository.stop();
    let files = SessionFiles::of(&repository.place, &SessionId::new("s-1"));
    fs::remove_file(files.dir().join("state")).unwrap();
    repository.stop();
    let state: State = files.load(Duration::ZERO).unwrap().unwrap();
    assert_eq!(state.stop.refused, 2);
}

#[test]
fn secrets_never_reach_the_journal() {
    let repository = Repository::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let call =
        format!(r#","tool_name":"Bash","tool_input":{{"command":"curl -H 'Authorization: Bearer {secret}' x"}}"#);
    repository.ask("PreToolUse", Cursor::new(repository.payload(&call)));
    repository.ask("UserPromptSubmit", Cursor::new(repository.payload(&format!(r#","prompt":"use {secret}""#))));
    repository.ask("Stop", Cursor::new(repository.payload(&format!(r#","last_assistant_message":"used {secret}""#))));
    let files = SessionFiles::of(&repository.place, &SessionId::new("s-1"));
    let journal = fs::read_to_string(files.dir().join("journal")).unwrap();
    assert_eq!(journal.lines().count(), 3);
    assert!(!journal.contains(&secret), "{journal}");
    assert!(journal.contains("[redacted:"), "{journal}");
}

#[test]
fn a_configuration_that_does_not_parse_leaves_the_last_one_standing() {
    let repository = Repository::new().with_tasks(2);
    let config = repository.root().join("steadfast.toml");
    fs::write(&config, "[stop]\nmax_idle = 1\n").unwrap();
    assert!(refused(repository.stop()));
    fs::write(&config, "[stop]\nmax_idle = what\n").unwrap();
    assert!(!refused(repository.stop()), "one idle refusal was the limit, and still is");
    assert!(repository.log().iter().any(|line| line.contains("steadfast.toml:2:12")), "{:?}", repository.log());
}

/// Recorded from Copilot CLI 1.0.102, which runs the hooks of `.claude/settings.json`: no `transcript_path`, a `timestamp`.
#[test]
fn a_host_that_we_are_not_wired_into_continues_also_at_a_closed_gate() {
    let repository = Repository::new();
    repository.close_gate();
    let ask = |other_host, event: &str, payload: &str| {
        let call = HookCall { host: Host::Claude, via: Via::Local, event: event.into() };
        let around = HookEnvironment { other_host, session: Some(SessionId::new("s-1")), ..repository.surroundings() };
        answer(&call, &around, Cursor::new(payload.as_bytes().to_vec())).said
    };
    let copilot = format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s-1","timestamp":"2026-11-16T10:00:00.000Z","cwd":{:?},"tool_name":"Write","tool_input":{{"path":"a","file_text":"$(touch b)"}}}}"#,
        repository.root()
    );
    assert_eq!(ask(Some("Copilot CLI"), "PreToolUse", &copilot), None);
    let camel = r#"{"sessionId":"s-1","timestamp":1789000000000,"toolName":"bash","toolArgs":{}}"#;
    assert_eq!(ask(Some("Copilot CLI"), "PermissionRequest", camel), None);
    // Claude Code that was started by another host's agent has its variables, and its own payload.
    let claude = "no JSON";
    assert!(ask(Some("Copilot CLI"), "PreToolUse", claude).is_some());
}
