//! What follows from a stop in the ledger: once, whoever dies when.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "the test is another process at the database")]

use std::fs;
use std::time::Duration;

use steadfast_hook::{drain, handle_event};
use steadfast_model::{
    AddedBy, Answer, Event, EventKind, Host, Millis, PlanId, PromptOrigin, Ruling, SessionId, Status, Stopping, TaskId,
};
use steadfast_store::ledger::{Claiming, Ledger, NewTask, StatusChange};
use steadfast_store::{ConfigFiles, Place, SessionFiles};

const NEEDS_USER: &str = "Which key is it?\n<promise>BLOCKED - NEEDS USER</promise>";

struct Repository {
    _dir: tempfile::TempDir,
    place: Place,
    plan: PlanId,
}

impl Repository {
    /// Session `s-1` works on three tasks and has begun the first.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let place = Place::of(dir.path(), None).unwrap();
        place.create().unwrap();
        let mut ledger = Ledger::open(&place.state).unwrap();
        let plan = ledger.list_plan(&place.worktree(), "tasks", AddedBy::Human, Millis(1)).unwrap();
        for n in 1..=3 {
            ledger.add_task(&plan, NewTask::new(format!("Task {n}"), AddedBy::Human), Millis(1)).unwrap();
        }
        ledger.take_plan(&plan, &SessionId::new("s-1"), Claiming::UnlessHeld, Millis(1)).unwrap();
        let repository = Self { _dir: dir, place, plan };
        repository.set("1", Status::InProgress, 2);
        repository
    }

    fn set(&self, task: &str, to: Status, now: i64) {
        let change = StatusChange { to, reason: None, fence: None, now: Millis(now) };
        let mut ledger = Ledger::open(&self.place.state).unwrap();
        ledger.set_status(&self.plan, &TaskId::new(task), change).unwrap();
    }

    fn step(&self, session: &str, at: i64, kind: EventKind) -> Answer {
        let config = ConfigFiles::of(&self.place, None);
        let event = Event::plain(SessionId::new(session), Host::Claude, self.place.worktree(), Millis(at), kind);
        handle_event(&self.place, &config, event).unwrap()
    }

    fn stop(&self, at: i64, message: &str) -> Answer {
        let background = Some(Vec::new());
        let stopping = Stopping { again: false, last_message: Some(message.into()), background, wakeups: 0 };
        self.step("s-1", at, EventKind::Stop(stopping))
    }

    fn drain(&self) {
        let mut ledger = Ledger::open(&self.place.state).unwrap();
        for files in SessionFiles::all(&self.place) {
            drain(&files, &mut ledger).unwrap();
        }
    }

    fn statuses(&self) -> Vec<Status> {
        let ledger = Ledger::open(&self.place.state).unwrap();
        ledger.tasks(&self.plan).unwrap().into_iter().map(|task| task.status).collect()
    }

    fn stuck_counts(&self) -> Vec<u32> {
        let ledger = Ledger::open(&self.place.state).unwrap();
        ledger.tasks(&self.plan).unwrap().into_iter().map(|task| task.stuck_count).collect()
    }

    fn reason(&self) -> Option<String> {
        Ledger::open(&self.place.state).unwrap().blocked(&self.plan).unwrap().remove(0).reason
    }
}

#[test]
fn an_agent_that_needs_the_user_leaves_its_task_blocked_with_the_reason() {
    let repository = Repository::new();
    let said = repository.stop(10, NEEDS_USER);
    assert!(matches!(said.ruling, Ruling::Continue { .. }));
    assert_eq!(repository.statuses(), [Status::Blocked, Status::Pending, Status::Pending]);
    assert_eq!(repository.reason().as_deref(), Some("Which key is it?"));
}

#[test]
fn what_a_human_unblocked_is_not_blocked_again() {
    let repository = Repository::new();
    repository.stop(10, NEEDS_USER);
    repository.set("1", Status::Pending, 20);
    repository.drain();
    repository.stop(30, "bye");
    repository.drain();
    assert_eq!(repository.statuses()[0], Status::Pending);
}

#[test]
fn whoever_comes_next_does_what_could_not_be_done() {
    let repository = Repository::new();
    let held = rusqlite::Connection::open(repository.place.state.join("state.db")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE; UPDATE plan SET title = title").unwrap();
    let said = repository.stop(10, NEEDS_USER);
    assert!(matches!(said.ruling, Ruling::Continue { .. }), "the answer does not wait for it");
    held.execute_batch("ROLLBACK").unwrap();
    drop(held);
    assert_eq!(repository.statuses()[0], Status::InProgress);
    repository.drain();
    assert_eq!(repository.statuses()[0], Status::Blocked);
}

#[test]
fn the_second_checkpoint_without_progress_counts_against_the_task() {
    let repository = Repository::new();
    let full = "<promise>CONTEXT LIMIT - CHECKPOINT</promise>";
    assert!(repository.stop(10, full).ruling.is_pass());
    assert_eq!(repository.stuck_counts(), [0, 0, 0]);
    repository.stop(20, full);
    repository.drain();
    assert_eq!(repository.stuck_counts(), [1, 0, 0]);
    repository.set("2", Status::Done, 25);
    repository.stop(30, full);
    assert_eq!(repository.stuck_counts(), [1, 0, 0], "a closed task is progress");
}

#[test]
fn what_a_session_that_ended_left_in_progress_can_be_begun_again_once() {
    let repository = Repository::new();
    repository.step("s-1", 10, EventKind::SessionEnd { reason: "other".into() });
    let prompt = EventKind::prompt("do the tasks", PromptOrigin::Human);
    repository.step("s-2", 20, prompt.clone());
    assert_eq!((repository.statuses()[0], repository.stuck_counts()[0]), (Status::Pending, 1));
    repository.set("1", Status::InProgress, 30);
    repository.step("s-2", 40, prompt);
    repository.drain();
    assert_eq!((repository.statuses()[0], repository.stuck_counts()[0]), (Status::InProgress, 1));
}

#[test]
fn a_stop_without_consequences_writes_nothing_into_the_ledger() {
    let repository = Repository::new();
    let files = SessionFiles::of(&repository.place, &SessionId::new("s-1"));
    repository.stop(10, "Good progress, let me know!");
    let drained = Ledger::open(&repository.place.state).unwrap().drained(files.session()).unwrap();
    assert_eq!(drained, None);
    repository.stop(20, NEEDS_USER);
    let drained = Ledger::open(&repository.place.state).unwrap().drained(files.session()).unwrap();
    assert_eq!(drained.unwrap().sequence, files.load(Duration::ZERO).unwrap().unwrap().sequence);
}
