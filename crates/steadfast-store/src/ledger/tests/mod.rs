mod added;
mod crowd;
mod draining;
mod evidences;
mod followeds;
mod host_lists;
mod leases;
mod loops;
mod memory;
mod opening;
mod owners;
mod plans;
mod process;
mod progress;
mod readiness;
mod reporteds;
mod retention;
mod runs;
mod slices;
mod specs;
mod statuses;
mod tasks;
mod work;

use std::time::Duration;

use serde_json::json;
use steadfast_model::{
    AddedBy, Change, Effect, Entry, Event, EventKind, Millis, Mode, PlanId, PolicyName, PolicyOpinion, PromptOrigin,
    Record, Ruling, SessionId, StartSource, Status, TaskId, Verdict,
};
use tempfile::TempDir;

use super::{Ledger, NewTask, StatusChange};
use crate::session::Line;

const WORKTREE: &str = "/home/ada/engine";

fn dir() -> TempDir {
    TempDir::new().unwrap()
}

/// For tests in which many write at once and nobody may give up.
const PATIENT: Duration = Duration::from_secs(60);

/// What grows with the square takes a hundred times as long for ten times as many. The quickest of several rounds counts:
/// a busy machine is slow now and then.
fn assert_no_square(takes: impl Fn(usize) -> Duration) {
    let (mut few, mut many) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        few = few.min(takes(200));
        many = many.min(takes(2_000));
    }
    assert!(many < few * 30, "200 in {few:?}, 2,000 in {many:?}");
}

/// Returns the lines of the log.
fn log(dir: &TempDir) -> Vec<String> {
    crate::read_log(&crate::Place { state: dir.path().to_owned(), root: dir.path().to_owned() })
}

fn at(millis: i64) -> Millis {
    Millis(millis)
}

fn id(text: &str) -> TaskId {
    TaskId::new(text)
}

/// The slice of the plan that a session sees which owns nothing.
fn read_slices(state_dir: &std::path::Path, worktree: &str) -> Option<steadfast_model::PlanView> {
    super::read_slices_of(state_dir, worktree, &session("a stranger"))
}

fn session(name: &str) -> SessionId {
    SessionId::new(name)
}

fn list(ledger: &mut Ledger) -> PlanId {
    ledger.list_plan(WORKTREE, "engine", AddedBy::Human, at(1)).unwrap()
}

fn named(name: &str) -> NewTask {
    NewTask { id: Some(id(name)), ..NewTask::new(format!("task {name}"), AddedBy::Human) }
}

fn after(name: &str, before: &[&str]) -> NewTask {
    NewTask { blocked_by: before.iter().copied().map(TaskId::new).collect(), ..named(name) }
}

fn to(status: Status) -> StatusChange {
    StatusChange { to: status, reason: None, fence: None, now: at(9) }
}

fn event(session: &SessionId, now: i64, kind: &EventKind) -> Event {
    serde_json::from_value(json!({
        "at": now, "host": "claude", "via": "local", "session": session, "cwd": WORKTREE, "kind": kind,
    }))
    .unwrap()
}

fn record(session: &SessionId, now: i64, kind: EventKind) -> Record {
    serde_json::from_value(json!({ "event": event(session, now, &kind) })).unwrap()
}

fn started(session: &SessionId, now: i64) -> Record {
    record(session, now, EventKind::SessionStart { source: StartSource::Startup })
}

fn ended(session: &SessionId, now: i64) -> Record {
    record(session, now, EventKind::SessionEnd { reason: "exit".into() })
}

fn prompted(session: &SessionId, now: i64) -> Record {
    let kind = EventKind::prompt("the plan", PromptOrigin::Human);
    Record { changes: vec![Change::HumanSpoke], ..record(session, now, kind) }
}

fn called(session: &SessionId, now: i64) -> Record {
    Record { changes: vec![Change::ToolCalled], ..record(session, now, EventKind::ToolBatch { calls: 1 }) }
}

fn refused(session: &SessionId, now: i64) -> Record {
    let reason = format!("refused at {now}");
    let verdict = Verdict::Continue { reason: reason.clone() };
    let mut record = record(session, now, EventKind::Interrupt);
    record.opinions = vec![PolicyOpinion { policy: PolicyName::Completion, mode: Mode::Enforce, verdict }];
    record.answer.ruling = Ruling::Continue { reason };
    record
}

fn taking(session: &SessionId, now: i64, plan: &PlanId) -> Record {
    let effects = vec![Effect::TakePlan { plan: plan.clone(), session: session.clone(), silent: None }];
    Record { effects, ..prompted(session, now) }
}

/// Each line as long as ten bytes.
fn journal(records: impl IntoIterator<Item = Record>) -> Vec<Line> {
    (1..)
        .zip(records)
        .map(|(sequence, record)| Line { sequence, end: sequence * 10, entry: Entry::Record(Box::new(record)) })
        .collect()
}
