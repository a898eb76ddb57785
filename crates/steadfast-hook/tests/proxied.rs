//! A session behind the proxy, beside a hook and without one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use steadfast_hook::{HookEnvironment, ProxiedSession, handle_event};
use steadfast_model::{
    Action, Event, EventKind, Gate, GateScope, Host, Millis, Mode, PromptOrigin, Ruling, SessionId, Stopping, ToolCall,
    ToolUseId, Via,
};
use steadfast_store::{ConfigFiles, Place, SessionFiles, close_gate};

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

    fn surroundings(&self) -> HookEnvironment {
        HookEnvironment::bare(Millis(1_000), self.dir.path().to_owned())
    }

    fn proxied(&self) -> ProxiedSession {
        ProxiedSession::find(&self.surroundings(), &session(), self.dir.path(), Millis(100)).unwrap()
    }

    /// An event of a hook or of a command.
    fn event(&self, at: i64, kind: EventKind) -> Event {
        Event::plain(session(), Host::Claude, self.place.worktree(), Millis(at), kind)
    }

    fn hook(&self, at: i64, kind: EventKind) {
        handle_event(&self.place, &ConfigFiles::of(&self.place, None), self.event(at, kind)).unwrap();
    }

    fn call(&self, command: &str) -> Event {
        let (id, action) = (Some(ToolUseId::new(command)), Action::shell(command));
        let call = ToolCall { id, tool: "Bash".into(), action, words: Vec::new() };
        Event { via: Via::Proxy, ..self.event(1_000, EventKind::PreTool(call)) }
    }
}

fn session() -> SessionId {
    SessionId::new("behind")
}

#[test]
fn a_hook_that_was_called_since_the_proxy_started_judges() {
    let repository = Repository::new();
    let proxied = repository.proxied();
    assert!(!proxied.is_known() && !proxied.is_hooked());
    repository.hook(50, EventKind::prompt("Don't commit.", PromptOrigin::Human));
    assert!(proxied.is_known() && !proxied.is_hooked(), "a hook of an earlier window");
    repository.hook(150, EventKind::Paused { until: None });
    assert!(!proxied.is_hooked(), "a command is no hook");
    proxied.handle(&repository.surroundings(), repository.call("ls"), Mode::Enforce).unwrap();
    assert!(!proxied.is_hooked(), "the proxy itself is no hook");
    repository.hook(200, EventKind::prompt("Go on.", PromptOrigin::Human));
    assert!(proxied.is_hooked());
}

#[test]
fn after_a_prompt_only_a_hook_since_the_request_before_it_counts() {
    let repository = Repository::new();
    let proxied = repository.proxied();
    repository.hook(200, EventKind::prompt("Look around.", PromptOrigin::Human));
    assert!(proxied.is_hooked());
    let stop = || EventKind::Stop(Stopping { again: false, last_message: None, background: None, wakeups: 0 });
    repository.hook(310, stop());
    proxied.prompted(Millis(300));
    assert!(!proxied.is_hooked(), "the stop of the turn before");
    repository.hook(320, EventKind::prompt("Go on.", PromptOrigin::Human));
    assert!(proxied.is_hooked());
    // A request before does not go back.
    proxied.prompted(Millis(100));
    proxied.prompted(Millis(330));
    assert!(!proxied.is_hooked());
}

#[test]
fn a_prompt_in_a_request_says_what_the_work_is_and_lifts_nothing() {
    let repository = Repository::new();
    let proxied = repository.proxied();
    repository.hook(50, EventKind::prompt("Look around, but don't commit.", PromptOrigin::Human));
    let prompt = EventKind::prompt("Fix src/auth/token.rs, don't push, and ok, commit it.", PromptOrigin::Proxied);
    let prompt = Event { via: Via::Proxy, ..repository.event(1_000, prompt) };
    proxied.handle(&repository.surroundings(), prompt, Mode::Enforce).unwrap();
    let ruling = |command: &str| {
        let call = repository.call(command);
        proxied.handle(&repository.surroundings(), call, Mode::Enforce).unwrap().ruling
    };
    assert!(matches!(ruling("git commit -m x"), Ruling::Deny { .. }));
    assert_eq!(ruling("git push"), Ruling::Pass);
    let state = SessionFiles::of(&repository.place, &session()).peek().unwrap();
    assert_eq!(state.goal.unwrap().scope, ["src/auth/token.rs"]);
    assert!(!state.drift.words.is_empty());
}

#[test]
fn the_mode_of_the_proxy_limits_every_policy() {
    let repository = Repository::new();
    let proxied = repository.proxied();
    repository.hook(50, EventKind::prompt("Don't commit.", PromptOrigin::Human));
    let ruling = |most| {
        let commit = repository.call("git commit -m x");
        proxied.handle(&repository.surroundings(), commit, most).unwrap().ruling
    };
    assert_eq!(ruling(Mode::Observe), Ruling::Pass);
    assert!(matches!(ruling(Mode::Enforce), Ruling::Deny { .. }));
}

#[test]
fn a_call_that_cannot_be_judged_finds_a_closed_gate() {
    let repository = Repository::new();
    let proxied = repository.proxied();
    assert_eq!(proxied.closed_gate(Millis(1_000)), None);
    let gate = Gate::new(GateScope::Session(session()), "the plan is not approved", Millis(1));
    close_gate(&repository.place, &gate).unwrap();
    let files = SessionFiles::of(&repository.place, &session());
    fs::create_dir_all(files.dir().join("lock")).unwrap();
    assert!(proxied.handle(&repository.surroundings(), repository.call("ls"), Mode::Enforce).is_err());
    assert_eq!(proxied.closed_gate(Millis(1_000)).as_deref(), Some("the plan is not approved"));
}
