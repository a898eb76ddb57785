use steadfast_model::{CheckEnd, Evidence};

use super::specs::{load, passed, planned, spec};
use super::*;

fn failed(now: i64, said: &str) -> Evidence {
    Evidence { passed: false, end: CheckEnd::Exited(1), output_tail: Some(said.into()), ..passed(now) }
}

#[test]
fn evidence_and_the_status_it_leads_to_are_one() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    let recorded = ledger.record(&plan, &id("1"), &failed(2, "no")).unwrap();
    assert_eq!((recorded.changed.task.status, recorded.changed.task.stuck_count), (Status::Pending, 1));
    let recorded = ledger.record(&plan, &id("1"), &passed(3)).unwrap();
    assert_eq!((recorded.changed.task.status, recorded.changed.earned), (Status::Done, true));
    assert_eq!(ledger.evidence_of(&plan, &id("1")).unwrap(), [failed(2, "no"), passed(3)]);
    assert_eq!(ledger.evidence(&plan).unwrap()[&id("1")], passed(3));
}

#[test]
fn failures_are_alike_when_they_say_the_same_numbers_aside() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    let mut fail = |said: &str| ledger.record(&plan, &id("1"), &failed(2, said)).unwrap().same_failure;
    assert_eq!(fail("3 failed in 0.51 s"), 1);
    assert_eq!(fail("3 failed in 12.2 s"), 2);
    assert_eq!(fail("4 failed in 1 s"), 3);
    assert_eq!(fail("cannot compile"), 1);
    assert_eq!(ledger.same_failure(&plan, &id("1")).unwrap(), 1);
    ledger.record(&plan, &id("1"), &passed(3)).unwrap();
    assert_eq!(ledger.same_failure(&plan, &id("1")).unwrap(), 0);
}

#[test]
fn one_check_of_a_task_runs_at_a_time_and_one_that_was_given_up_changes_nothing() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    ledger.begin_check(&plan, &id("1"), "a", at(2)).unwrap().unwrap();
    assert_eq!(ledger.begin_check(&plan, &id("1"), "b", at(3)).unwrap().unwrap_err().name, "a");
    let view = ledger.plan_view(WORKTREE).unwrap().unwrap();
    assert_eq!(view.checking.iter().map(|check| check.run.as_str()).collect::<Vec<_>>(), ["a"]);
    assert!(ledger.drop_check(&plan, &id("1"), "a").unwrap());
    ledger.begin_check(&plan, &id("1"), "b", at(4)).unwrap().unwrap();
    assert_eq!(ledger.record_run(&plan, &id("1"), "a", &passed(5)).unwrap(), None);
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().status, Status::Pending);
    assert!(ledger.record_run(&plan, &id("1"), "b", &passed(6)).unwrap().is_some());
    assert!(ledger.running(&plan).unwrap().is_empty());
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().status, Status::Done);
}

#[test]
fn of_much_evidence_the_last_is_kept() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    for now in 0..50 {
        ledger.record(&plan, &id("1"), &failed(now, "no")).unwrap();
    }
    let kept: Vec<_> = ledger.evidence_of(&plan, &id("1")).unwrap().iter().map(|evidence| evidence.at.0).collect();
    assert_eq!(kept, (30..50).collect::<Vec<_>>());
}
