use super::*;
use crate::ledger::{Fence, Lease, LeaseError, LedgerError};

const TTL: u64 = 100;

fn with_task() -> (TempDir, Ledger, PlanId) {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    (dir, ledger, plan)
}

fn acquire(ledger: &mut Ledger, plan: &PlanId, holder: &str, now: i64) -> Result<Lease, LeaseError> {
    take(ledger, plan, "1", holder, now)
}

fn take(ledger: &mut Ledger, plan: &PlanId, task: &str, holder: &str, now: i64) -> Result<Lease, LeaseError> {
    Ok(ledger.acquire_leases(plan, &[id(task)], holder, TTL, at(now))?.remove(0))
}

fn under(lease: &Lease, status: Status) -> StatusChange {
    StatusChange { fence: Some(lease.fence()), ..to(status) }
}

#[test]
fn a_held_task_says_by_whom_and_until_when() {
    let (_dir, mut ledger, plan) = with_task();
    let lease = acquire(&mut ledger, &plan, "a", 10).unwrap();
    assert_eq!(lease, Lease { plan: plan.clone(), task: id("1"), holder: "a".into(), token: 1, expires_at: at(110) });
    let error = acquire(&mut ledger, &plan, "b", 109).unwrap_err();
    assert!(matches!(&error, LeaseError::Held { holder, until } if holder == "a" && *until == at(110)), "{error:?}");
    assert_eq!(error.to_string(), "`a` holds the lease on this task");
}

#[test]
fn tokens_rise_through_release_expiry_and_asking_again() {
    let (_dir, mut ledger, plan) = with_task();
    let first = acquire(&mut ledger, &plan, "a", 10).unwrap();
    ledger.release_leases(std::slice::from_ref(&first)).unwrap();
    let second = acquire(&mut ledger, &plan, "b", 11).unwrap();
    let third = acquire(&mut ledger, &plan, "b", 12).unwrap();
    let fourth = acquire(&mut ledger, &plan, "c", 112).unwrap();
    assert_eq!([first, second, third, fourth].map(|lease| lease.token), [1, 2, 3, 4]);
}

#[test]
fn who_overslept_cannot_write_over_its_successor() {
    let (_dir, mut ledger, plan) = with_task();
    let old = acquire(&mut ledger, &plan, "a", 10).unwrap();
    let new = acquire(&mut ledger, &plan, "b", 110).unwrap();

    let error = ledger.set_status(&plan, &id("1"), under(&old, Status::Done)).unwrap_err();
    assert!(matches!(error, LedgerError::StaleFence { token: 1, .. }), "{error:?}");
    assert_eq!(error.to_string(), "the lease on task `1` was lost: token 1 is outdated");
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().status, Status::Pending);
    assert_eq!(ledger.renew_leases(&mut [old.clone()], TTL, at(111)).unwrap(), std::slice::from_ref(&old));
    ledger.release_leases(std::slice::from_ref(&old)).unwrap();

    ledger.set_status(&plan, &id("1"), under(&new, Status::InProgress)).unwrap();
    let error = ledger.set_status(&plan, &id("1"), under(&old, Status::InProgress)).unwrap_err();
    assert!(matches!(error, LedgerError::StaleFence { .. }), "also when nothing would change: {error:?}");
}

#[test]
fn a_lease_that_ran_out_counts_until_somebody_else_asks() {
    let (_dir, mut ledger, plan) = with_task();
    let lease = acquire(&mut ledger, &plan, "a", 10).unwrap();
    ledger.set_status(&plan, &id("1"), StatusChange { now: at(500), ..under(&lease, Status::InProgress) }).unwrap();
    let mut renewed = [lease.clone()];
    assert_eq!(ledger.renew_leases(&mut renewed, TTL, at(500)).unwrap(), []);
    assert_eq!(renewed, [Lease { expires_at: at(600), ..lease }]);
    assert!(matches!(acquire(&mut ledger, &plan, "b", 599), Err(LeaseError::Held { .. })));
}

#[test]
fn what_was_given_back_is_no_longer_held() {
    let (_dir, mut ledger, plan) = with_task();
    let lease = acquire(&mut ledger, &plan, "a", 10).unwrap();
    ledger.release_leases(std::slice::from_ref(&lease)).unwrap();
    ledger.release_leases(std::slice::from_ref(&lease)).unwrap();
    assert_eq!(ledger.renew_leases(&mut [lease.clone()], TTL, at(11)).unwrap(), std::slice::from_ref(&lease));
    let error = ledger.set_status(&plan, &id("1"), under(&lease, Status::Done)).unwrap_err();
    assert!(matches!(error, LedgerError::StaleFence { .. }), "{error:?}");
}

#[test]
fn a_task_without_a_lease_takes_no_token() {
    let (_dir, mut ledger, plan) = with_task();
    let change = StatusChange { fence: Some(Fence { token: 0 }), ..to(Status::Done) };
    assert!(matches!(ledger.set_status(&plan, &id("1"), change), Err(LedgerError::StaleFence { .. })));
}

#[test]
fn only_a_task_that_exists_can_be_leased() {
    let (_dir, mut ledger, plan) = with_task();
    let error = take(&mut ledger, &plan, "2", "a", 1).unwrap_err();
    assert!(matches!(error, LeaseError::Ledger(LedgerError::UnknownTask { .. })), "{error:?}");
}
