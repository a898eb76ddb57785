use std::collections::BTreeMap;

use steadfast_model::{CheckEnd, Evidence};

use super::specs::passed;
use super::*;
use crate::ledger::Started;

fn started(now: i64, file: &str) -> Started {
    Started { at: at(now), files: BTreeMap::from([("a".to_owned(), Some(file.to_owned()))]), ..Started::default() }
}

fn two_tasks(ledger: &mut Ledger) -> PlanId {
    let plan = list(ledger);
    for name in ["1", "2"] {
        ledger.add_task(&plan, named(name), at(1)).unwrap();
    }
    plan
}

fn effect(session: &SessionId, now: i64, effect: Effect) -> Record {
    Record { effects: vec![effect], ..called(session, now) }
}

#[test]
fn starting_again_what_is_in_progress_keeps_how_it_stood_at_first() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    assert_eq!(ledger.started(&plan, &id("1")).unwrap(), None);
    ledger.start_task(&plan, &id("1"), &started(2, "x")).unwrap();
    ledger.start_task(&plan, &id("1"), &started(3, "y")).unwrap();
    assert_eq!(ledger.started(&plan, &id("1")).unwrap(), Some(started(2, "x")));
    ledger.set_status(&plan, &id("1"), to(Status::Done)).unwrap();
    let changed = ledger.start_task(&plan, &id("1"), &started(4, "z")).unwrap();
    assert_eq!((changed.from, changed.task.status), (Status::Done, Status::InProgress));
    assert_eq!(ledger.started(&plan, &id("1")).unwrap(), Some(started(4, "z")));
}

#[test]
fn notes_are_lines_below_each_other_with_a_bound() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    ledger.note_task(&plan, &id("1"), "one", at(2)).unwrap();
    assert_eq!(ledger.note_task(&plan, &id("1"), "two", at(3)).unwrap().notes.as_deref(), Some("one\ntwo"));
    assert!(ledger.note_task(&plan, &id("1"), &"x".repeat(4_000), at(4)).is_err());
}

#[test]
fn a_task_is_blocked_by_a_journal_once_and_not_after_it_moved_on() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = two_tasks(&mut ledger);
    let me = session("me");
    let block = |task: &str, now| {
        let reason = "asks for its human".to_owned();
        effect(&me, now, Effect::BlockTask { plan: plan.clone(), task: id(task), reason })
    };
    // The second was started after the event that blocks it, by a clock that is the ledger's.
    ledger.start_task(&plan, &id("2"), &started(20, "x")).unwrap();
    let lines = journal([block("1", 10), block("2", 10), block("7", 10)]);
    ledger.drain(&me, 1, lines.clone()).unwrap();
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().status, Status::Blocked);
    assert_eq!(ledger.task(&plan, &id("2")).unwrap().status, Status::InProgress);
    ledger.set_status(&plan, &id("1"), to(Status::Pending)).unwrap();
    ledger.drain(&me, 1, lines).unwrap();
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().status, Status::Pending, "drained once");
}

#[test]
fn the_second_checkpoint_without_progress_counts_against_the_task() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = two_tasks(&mut ledger);
    ledger.start_task(&plan, &id("1"), &started(2, "x")).unwrap();
    let (me, you, they) = (session("me"), session("you"), session("they"));
    let mut stuck = |who: &SessionId, now| {
        let record = effect(who, now, Effect::Checkpoint { plan: plan.clone() });
        ledger.drain(who, 1, journal([record])).unwrap();
        ledger.task(&plan, &id("1")).unwrap().stuck_count
    };
    assert_eq!((stuck(&me, 3), stuck(&you, 4)), (0, 1));
    ledger.set_status(&plan, &id("2"), to(Status::Done)).unwrap();
    let record = effect(&they, 5, Effect::Checkpoint { plan: plan.clone() });
    ledger.drain(&they, 1, journal([record])).unwrap();
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().stuck_count, 1, "something was closed in between");
}

#[test]
fn what_a_dead_owner_left_in_progress_is_ready_again_and_counted() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = two_tasks(&mut ledger);
    ledger.start_task(&plan, &id("1"), &started(2, "x")).unwrap();
    let me = session("me");
    ledger.drain(&me, 1, journal([effect(&me, 3, Effect::GiveUp { plan: plan.clone(), task: None })])).unwrap();
    let task = ledger.task(&plan, &id("1")).unwrap();
    assert_eq!((task.status, task.stuck_count), (Status::Pending, 1));
    assert_eq!(ledger.task(&plan, &id("2")).unwrap().stuck_count, 0);
}

#[test]
fn an_attempt_whose_check_failed_is_not_counted_again_when_its_owner_is_gone() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = two_tasks(&mut ledger);
    let me = session("me");
    let failed = Evidence { passed: false, end: CheckEnd::Exited(1), ..passed(3) };
    ledger.start_task(&plan, &id("1"), &started(2, "x")).unwrap();
    ledger.record(&plan, &id("1"), &failed).unwrap();
    let current = |ledger: &Ledger| ledger.plan_view(WORKTREE).unwrap().unwrap().brief.current.unwrap();
    assert_eq!((current(&ledger).stuck_count, current(&ledger).counted), (1, true));
    ledger.drain(&me, 1, journal([effect(&me, 4, Effect::GiveUp { plan: plan.clone(), task: None })])).unwrap();
    let task = ledger.task(&plan, &id("1")).unwrap();
    assert_eq!((task.status, task.stuck_count), (Status::Pending, 1));
    // The next one does nothing at all: that is another attempt.
    ledger.start_task(&plan, &id("1"), &started(5, "x")).unwrap();
    assert!(!current(&ledger).counted);
    ledger.give_up(&plan, at(6)).unwrap();
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().stuck_count, 2);
}
