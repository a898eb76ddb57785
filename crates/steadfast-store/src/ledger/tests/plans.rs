use steadfast_model::{Approval, Counts, OwnerEnd, PlanView, TaskLine};

use super::*;
use crate::ledger::Claiming;
use crate::ledger::plan::{self, NewPlan};

fn add_plan(ledger: &mut Ledger, name: &str, now: i64) -> PlanId {
    let plan = PlanId::new(name);
    let new = NewPlan { id: &plan, worktree: WORKTREE, title: name, source: Some("SPEC.md"), added_by: AddedBy::Human };
    ledger.write(|transaction| plan::insert(transaction, &new, at(now))).unwrap();
    plan
}

fn seen(ledger: &Ledger) -> PlanId {
    ledger.plan_view(WORKTREE).unwrap().unwrap().id
}

fn line(name: &str, status: Status) -> TaskLine {
    TaskLine { id: id(name), title: format!("task {name}"), status }
}

#[test]
fn a_worktree_has_one_list_with_a_stable_name() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let first = list(&mut ledger);
    let again = ledger.list_plan(WORKTREE, "another title", AddedBy::Agent, at(5)).unwrap();
    assert_eq!((first.as_str(), again), ("list-83e048d1", first.clone()));
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().title, "engine");
}

#[test]
fn two_worktrees_with_the_same_hash_have_two_lists() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    // These two collide in FNV-1a with 32 bits.
    let lists = ["costarring", "liquid", "costarring"]
        .map(|worktree| ledger.list_plan(worktree, "t", AddedBy::Human, at(1)).unwrap().to_string());
    assert_eq!(lists, ["list-5e4daa9d", "list-5e4daa9d-2", "list-5e4daa9d"]);
}

#[test]
fn a_worktree_without_a_plan_has_no_view() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    list(&mut ledger);
    assert_eq!(ledger.plan_view("/elsewhere").unwrap(), None);
}

#[test]
fn a_view_shows_what_is_in_progress_then_what_is_ready() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for task in [
        named("1"),
        named("1.10"),
        named("1.2"),
        named("2"),
        named("3"),
        named("4"),
        named("5"),
        named("6"),
        after("0", &["1"]),
        after("0.1", &["2"]),
    ] {
        ledger.add_task(&plan, task, at(2)).unwrap();
    }
    for (task, status) in [("1", Status::Done), ("5", Status::InProgress), ("3", Status::Blocked)] {
        ledger.set_status(&plan, &id(task), to(status)).unwrap();
    }
    let view = PlanView {
        id: plan,
        title: "engine".into(),
        worktree: WORKTREE.into(),
        hash: None,
        added_by: AddedBy::Human,
        approval: Approval::NotRequired,
        owner: None,
        owner_ended: None,
        run: None,
        counts: Counts { pending: 7, in_progress: 1, done: 1, blocked: 1 },
        open: vec![
            line("5", Status::InProgress),
            line("0", Status::Pending),
            line("1.2", Status::Pending),
            line("1.10", Status::Pending),
            line("2", Status::Pending),
            line("4", Status::Pending),
        ],
        checking: Vec::new(),
        brief: steadfast_model::Brief {
            current: Some(steadfast_model::Current::default()),
            ..steadfast_model::Brief::default()
        },
    };
    assert_eq!(ledger.plan_view(WORKTREE).unwrap(), Some(view));
}

#[test]
fn a_view_shows_no_task_that_waits_for_a_blocked_one() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    ledger.add_task(&plan, after("2", &["1"]), at(1)).unwrap();
    ledger.set_status(&plan, &id("1"), to(Status::Blocked)).unwrap();
    let view = ledger.plan_view(WORKTREE).unwrap().unwrap();
    assert_eq!((view.counts.open(), view.open), (1, Vec::new()));
}

#[test]
fn the_newest_plan_with_open_tasks_is_the_plan() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plans = [("a", 10), ("b", 20), ("c", 30)].map(|(name, now)| add_plan(&mut ledger, name, now));
    assert_eq!(seen(&ledger), plans[2], "none has open tasks");
    for plan in &plans[..2] {
        ledger.add_task(plan, named("1"), at(40)).unwrap();
    }
    assert_eq!(seen(&ledger), plans[1]);
    ledger.set_status(&plans[1], &id("1"), to(Status::Done)).unwrap();
    assert_eq!(seen(&ledger), plans[0]);
    ledger.set_status(&plans[0], &id("1"), to(Status::Blocked)).unwrap();
    assert_eq!(seen(&ledger), plans[2]);
}

#[test]
fn a_view_says_that_the_owner_is_gone() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let owner = session("s");
    ledger.take_plan(&plan, &owner, Claiming::UnlessHeld, at(2)).unwrap();
    let view = ledger.plan_view(WORKTREE).unwrap().unwrap();
    assert_eq!((view.owner, view.owner_ended), (Some(owner.clone()), None));

    ledger.drain(&owner, 0, journal([started(&owner, 3), ended(&owner, 4)])).unwrap();
    let view = ledger.plan_view(WORKTREE).unwrap().unwrap();
    assert_eq!(view.owner_ended, Some(OwnerEnd { reason: "exit".into(), at: at(4) }));
}
