use super::*;
use crate::ledger::{Claiming, LedgerError, Taken};

fn take(ledger: &mut Ledger, plan: &PlanId, name: &str, claiming: Claiming) -> Taken {
    ledger.take_plan(plan, &session(name), claiming, at(5)).unwrap()
}

#[test]
fn a_living_owner_keeps_its_plan() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let taken = ["a", "a", "b"].map(|name| take(&mut ledger, &plan, name, Claiming::UnlessHeld));
    assert_eq!(taken, [Taken::Yes, Taken::Already, Taken::HeldBy(session("a"))]);
}

#[test]
fn who_starts_a_task_gets_the_plan_from_a_living_owner() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let taken = ["a", "b", "b"].map(|name| take(&mut ledger, &plan, name, Claiming::EvenIfHeld));
    assert_eq!(taken, [Taken::Yes, Taken::Yes, Taken::Already]);
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().owner, Some(session("b")));
}

#[test]
fn an_owner_from_before_the_clock_was_set_back_has_no_better_right() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.take_plan(&plan, &session("a"), Claiming::UnlessHeld, at(1_000_000)).unwrap();
    assert_eq!(take(&mut ledger, &plan, "b", Claiming::FromSilent(&session("a"))), Taken::Yes);
    ledger.take_plan(&plan, &session("a"), Claiming::EvenIfHeld, at(1_000_000)).unwrap();
    assert_eq!(take(&mut ledger, &plan, "b", Claiming::EvenIfHeld), Taken::Yes);
}

#[test]
fn the_plan_of_an_owner_that_ended_can_be_taken_until_it_resumes() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let owner = session("a");
    take(&mut ledger, &plan, "a", Claiming::UnlessHeld);
    let lines = journal([started(&owner, 1), ended(&owner, 2), started(&owner, 3), ended(&owner, 4)]);

    ledger.drain(&owner, 0, lines[..3].to_vec()).unwrap();
    assert_eq!(take(&mut ledger, &plan, "b", Claiming::UnlessHeld), Taken::HeldBy(owner.clone()));
    ledger.drain(&owner, 0, lines).unwrap();
    assert_eq!(take(&mut ledger, &plan, "b", Claiming::UnlessHeld), Taken::Yes);
}

#[test]
fn a_plan_that_is_not_there_cannot_be_taken() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let error = ledger.take_plan(&PlanId::new("p"), &session("a"), Claiming::UnlessHeld, at(1)).unwrap_err();
    assert!(matches!(error, LedgerError::UnknownPlan { .. }), "{error:?}");
}
