use super::*;
use crate::ledger::{Blocked, LedgerError};

#[test]
fn a_task_moves_along_the_legal_ways_only() {
    use Status::{Blocked, Done, InProgress, Pending};
    let legal = [
        (Pending, InProgress),
        (Pending, Done),
        (Pending, Blocked),
        (InProgress, Done),
        (InProgress, Blocked),
        (InProgress, Pending),
        (Blocked, Pending),
        (Blocked, InProgress),
        (Done, Pending),
    ];
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for from in Status::ALL {
        for target in Status::ALL {
            let task = ledger.add_task(&plan, NewTask::new("t", AddedBy::Human), at(1)).unwrap().id;
            ledger.set_status(&plan, &task, to(from)).unwrap();
            let moved = ledger.set_status(&plan, &task, to(target));
            if from == target || legal.contains(&(from, target)) {
                let changed = moved.unwrap();
                assert_eq!((changed.from, changed.task.status), (from, target));
            } else {
                let error = moved.unwrap_err();
                assert!(matches!(error, LedgerError::IllegalMove { .. }), "{from:?} to {target:?}: {error:?}");
                assert_eq!(ledger.task(&plan, &task).unwrap().status, from);
            }
        }
    }
}

#[test]
fn a_task_earns_once_ever() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    let moves = [
        Status::InProgress,
        Status::Blocked,
        Status::Blocked,
        Status::Pending,
        Status::Done,
        Status::Done,
        Status::Pending,
        Status::Done,
    ];
    let earned = moves.map(|status| ledger.set_status(&plan, &id("1"), to(status)).unwrap().earned);
    assert_eq!(earned, [false, true, false, false, false, false, false, false]);
}

#[test]
fn what_an_agent_added_earns_nothing() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let task = ledger.add_task(&plan, NewTask::new("t", AddedBy::Agent), at(1)).unwrap().id;
    assert!(!ledger.set_status(&plan, &task, to(Status::Done)).unwrap().earned);
}

#[test]
fn the_same_status_again_changes_nothing() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    let done = ledger.set_status(&plan, &id("1"), to(Status::Done)).unwrap().task;
    let again = ledger.set_status(&plan, &id("1"), StatusChange { now: at(99), ..to(Status::Done) }).unwrap();
    assert_eq!((again.task, again.from), (done, Status::Done));
}

#[test]
fn a_reason_stays_as_long_as_the_task_is_blocked() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for name in ["1", "2"] {
        ledger.add_task(&plan, named(name), at(1)).unwrap();
        let why = StatusChange { reason: Some(format!("{name} needs a key")), ..to(Status::Blocked) };
        ledger.set_status(&plan, &id(name), why).unwrap();
    }
    ledger.set_status(&plan, &id("1"), to(Status::Pending)).unwrap();
    ledger.set_status(&plan, &id("1"), to(Status::Blocked)).unwrap();
    assert_eq!(
        ledger.blocked(&plan).unwrap(),
        [Blocked { task: id("1"), reason: None }, Blocked { task: id("2"), reason: Some("2 needs a key".into()) }]
    );
}
