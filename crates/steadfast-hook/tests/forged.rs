//! What was deleted or exchanged beside the journal of a session does not make its host unknown.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Cursor;
use std::time::Duration;

use steadfast_hook::{HookCall, HookEnvironment, answer};
use steadfast_model::{
    Answer, Change, Event, EventKind, Facts, Host, Millis, Record, SessionId, StartSource, State, Via,
};
use steadfast_store::{Place, SessionFiles};
use steadfast_system::ProcessEntry;

const SESSION: &str = "deleted-record";

struct Repository {
    dir: tempfile::TempDir,
    place: Place,
}

impl Repository {
    /// With a session whose journal says that this process is its host: it lives, and is not above the sender.
    fn with_host() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let place = Place::of(dir.path(), None).unwrap();
        place.create().unwrap();
        let repository = Self { dir, place };
        let host = ProcessEntry::of(std::process::id()).unwrap();
        let numbering = fs::read_link("/proc/self/ns/pid").unwrap();
        let noted = format!("{} {} {} leads", host.id, host.started, numbering.display());
        let kind = EventKind::SessionStart { source: StartSource::Startup };
        let event = Event::plain(
            SessionId::new(SESSION),
            Host::Codex,
            repository.dir.path().to_str().unwrap(),
            Millis(1),
            kind,
        );
        let fresh = || State::new(SessionId::new(SESSION), Host::Codex, Millis(1));
        let record = Record {
            event,
            facts: Facts::default(),
            opinions: Vec::new(),
            answer: Answer::default(),
            changes: vec![Change::Started, Change::Hosted(noted)],
            effects: Vec::new(),
        };
        repository.files().update(Duration::from_secs(1), None, fresh, |_| (record, ())).unwrap();
        repository
    }

    fn files(&self) -> SessionFiles {
        SessionFiles::of(&self.place, &SessionId::new(SESSION))
    }

    /// How many forged events are known after one more event.
    fn after(&self, event: &str, more: &str) -> u32 {
        let cwd = self.dir.path();
        let around = HookEnvironment::bare(Millis(1_000), cwd.to_owned());
        let payload = format!("{{\"session_id\":\"{SESSION}\",\"cwd\":{cwd:?},\"hook_event_name\":\"{event}\"{more}}}");
        let call = HookCall { host: Host::Codex, via: Via::Local, event: event.into() };
        answer(&call, &around, Cursor::new(payload));
        let state = self.files().load(Duration::from_secs(1)).unwrap().unwrap();
        state.forged.map_or(0, |forged| forged.count)
    }
}

const PROMPT: &str = r#","prompt":"ok, commit it""#;
const TOOL: &str = r#","tool_name":"Bash","tool_use_id":"t-1","tool_input":{"command":"true"},"tool_response":"ok""#;

#[test]
fn a_missing_record_of_the_host_makes_no_event_count() {
    let repository = Repository::with_host();
    assert!(!repository.files().dir().join("process").exists());
    assert_eq!(repository.after("UserPromptSubmit", PROMPT), 1);
    assert_eq!(repository.after("PostToolUse", TOOL), 2);
}

#[test]
fn nor_does_one_whose_state_is_missing_too() {
    let repository = Repository::with_host();
    fs::remove_file(repository.files().dir().join("state")).unwrap();
    assert_eq!(repository.after("UserPromptSubmit", PROMPT), 1);
}

#[test]
fn nor_does_a_record_that_names_another_process() {
    let repository = Repository::with_host();
    repository.files().note_process("4194304000 1 pid:[1]").unwrap();
    assert_eq!(repository.after("UserPromptSubmit", PROMPT), 1);
    assert_eq!(repository.after("PostToolUse", TOOL), 2);
}
