use steadfast_model::{EvidenceClass, Reported};

use super::specs::{load, passed, planned, spec};
use super::*;

fn reported(task: &str, status: Status, reason: Option<&str>) -> Reported {
    Reported { task: id(task), status, reason: reason.map(str::to_owned) }
}

#[test]
fn what_was_done_elsewhere_is_claimed_and_who_waited_for_it_is_ready() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = spec(vec![planned("1", &[]), planned("2", &["1"]), planned("3", &[]), planned("4", &[])]);
    let plan = load(&mut ledger, &plan, AddedBy::Human, 1).plan().clone();
    let all = [
        reported("1", Status::Done, Some("shipped")),
        reported("3", Status::InProgress, None),
        reported("4", Status::Blocked, None),
        reported("9", Status::Done, None),
    ];
    assert_eq!(ledger.take_over(&plan, &all, "tasks.md", at(2)).unwrap(), all[..3]);
    let statuses: Vec<Status> = ledger.tasks(&plan).unwrap().iter().map(|task| task.status).collect();
    assert_eq!(statuses, [Status::Done, Status::Pending, Status::InProgress, Status::Blocked]);
    let evidence = &ledger.evidence_of(&plan, &id("1")).unwrap()[0];
    assert_eq!((evidence.class, evidence.passed), (EvidenceClass::Claimed, true));
    assert_eq!(evidence.note.as_deref(), Some("it was done in tasks.md when that was loaded: shipped"));
    assert_eq!(ledger.blocked(&plan).unwrap()[0].reason.as_deref(), Some("it was blocked in tasks.md"));
    assert_eq!(ledger.ready(&plan).unwrap().iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["2"]);
    // Once more there is nothing left to take over.
    assert_eq!(ledger.take_over(&plan, &all, "tasks.md", at(3)).unwrap(), []);
}

#[test]
fn what_was_closed_here_before_is_left_alone() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    ledger.record(&plan, &id("1"), &passed(2)).unwrap();
    let again = StatusChange { to: Status::Pending, reason: None, fence: None, now: at(3) };
    ledger.set_status(&plan, &id("1"), again).unwrap();
    assert_eq!(ledger.take_over(&plan, &[reported("1", Status::Done, None)], "tasks.md", at(4)).unwrap(), []);
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().status, Status::Pending);
}
