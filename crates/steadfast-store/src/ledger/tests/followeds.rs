use std::collections::BTreeMap;

use steadfast_model::{Check, Evidence, EvidenceClass, Plan, PlannedTask, Reported};

use super::specs::{self, spec};
use super::*;
use crate::ledger::{FollowedPlan, Following, Happened};

const SOURCE: &str = "beads:bd-1";

/// A task without a check.
fn planned(name: &str, after: &[&str]) -> PlannedTask {
    PlannedTask { verify: None, ..specs::planned(name, after) }
}

fn follow(ledger: &mut Ledger, plan: &Plan, stand: &[(&str, Status)], added_by: AddedBy) -> FollowedPlan {
    let reported: Vec<Reported> =
        stand.iter().map(|(task, status)| Reported { task: id(task), status: *status, reason: None }).collect();
    ledger
        .follow(Following {
            plan,
            reported: &reported,
            hash: &format!("{} tasks", plan.tasks.len()),
            digest: &format!("{stand:?}"),
            worktree: WORKTREE,
            source: SOURCE,
            added_by,
            frozen: &BTreeMap::new(),
            now: at(5),
        })
        .unwrap()
}

/// How a task stands that was seen `there` and then moved here by `ours`, when it is `theirs` now: there, here, and
/// whether that has to be told.
fn met(there: Status, ours: &[Status], theirs: Status) -> (Status, bool) {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = spec(vec![planned("1", &[])]);
    let followed = follow(&mut ledger, &plan, &[("1", there)], AddedBy::Agent).plan;
    for status in ours {
        ledger.set_status(&followed, &id("1"), to(*status)).unwrap();
    }
    follow(&mut ledger, &plan, &[("1", theirs)], AddedBy::Agent);
    (ledger.task(&followed, &id("1")).unwrap().status, !ledger.untold(&followed).unwrap().is_empty())
}

#[test]
fn what_changed_on_one_side_is_taken_over_and_what_was_closed_there_is_closed() {
    use Status::{Blocked, Done, InProgress, Pending};
    for (there, ours, theirs, is) in [
        (Pending, &[][..], Pending, (Pending, false)),
        (Pending, &[], InProgress, (InProgress, false)),
        (Pending, &[], Blocked, (Blocked, false)),
        (Pending, &[], Done, (Done, false)),
        (Done, &[], Pending, (Pending, false)),
        (Done, &[], InProgress, (InProgress, false)),
        (Done, &[], Blocked, (Blocked, false)),
        (Blocked, &[], Done, (Done, false)),
        (Blocked, &[], Pending, (Pending, false)),
        (InProgress, &[], Pending, (Pending, false)),
        // Here.
        (Pending, &[InProgress], Pending, (InProgress, true)),
        (Pending, &[Done], Pending, (Done, true)),
        (InProgress, &[Blocked], InProgress, (Blocked, true)),
        (Done, &[Pending], Done, (Pending, true)),
        // Both, and the same.
        (Pending, &[Done], Done, (Done, false)),
        (Pending, &[InProgress], InProgress, (InProgress, false)),
        // Both, and not the same.
        (Pending, &[InProgress], Done, (Done, false)),
        (Pending, &[Blocked], Done, (Done, false)),
        (Pending, &[Done], InProgress, (Done, true)),
        (Pending, &[InProgress], Blocked, (InProgress, true)),
    ] {
        assert_eq!(met(there, ours, theirs), is, "{there:?} there, {ours:?} here, {theirs:?} there");
    }
}

#[test]
fn what_was_told_is_not_told_again_and_earns_nothing() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = spec(vec![planned("1", &[]), planned("2", &["1"])]);
    let followed = follow(&mut ledger, &plan, &[], AddedBy::Agent).plan;
    let changed = ledger.set_status(&followed, &id("1"), to(Status::Done)).unwrap();
    assert!(!changed.earned);
    assert_eq!(ledger.ready(&followed).unwrap()[0].id, id("2"));
    let untold = ledger.untold(&followed).unwrap();
    assert_eq!((untold.len(), untold[0].seen), (1, Status::Pending));
    ledger.told(&untold[0], Status::Done).unwrap();
    assert_eq!(ledger.untold(&followed).unwrap(), []);
    // What a human loads is a human's.
    follow(&mut ledger, &plan, &[("1", Status::Done)], AddedBy::Human);
    assert!(ledger.set_status(&followed, &id("2"), to(Status::Done)).unwrap().earned);
}

/// A ledger with one task that was done on a claim, and told as in progress.
fn claimed(dir: &TempDir) -> (Ledger, Plan, PlanId) {
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = spec(vec![planned("1", &[]), planned("2", &["1"])]);
    let followed = follow(&mut ledger, &plan, &[("1", Status::InProgress)], AddedBy::Human).plan;
    let claim = Evidence { class: EvidenceClass::Claimed, ..specs::passed(6) };
    ledger.record(&followed, &id("1"), &claim).unwrap();
    let untold = ledger.untold(&followed).unwrap();
    assert_eq!((untold.len(), untold[0].is_claim()), (1, true));
    ledger.told(&untold[0], Status::InProgress).unwrap();
    (ledger, plan, followed)
}

#[test]
fn a_claim_is_told_once_and_counts_as_done_here_while_it_is_in_progress_there() {
    for by in AddedBy::ALL {
        let dir = dir();
        let (mut ledger, plan, followed) = claimed(&dir);
        assert_eq!(ledger.untold(&followed).unwrap(), []);
        let news = follow(&mut ledger, &plan, &[("1", Status::InProgress)], by).news;
        assert_eq!((news, ledger.untold(&followed).unwrap()), (Vec::new(), Vec::new()));
        assert_eq!(ledger.task(&followed, &id("1")).unwrap().status, Status::Done);
        let ready: Vec<TaskId> = ledger.ready(&followed).unwrap().into_iter().map(|task| task.id).collect();
        assert_eq!(ready, [id("2")]);
    }
}

#[test]
fn a_proof_that_follows_a_claim_closes_the_issue() {
    for class in EvidenceClass::ALL {
        let dir = dir();
        let (mut ledger, plan, followed) = claimed(&dir);
        ledger.record(&followed, &id("1"), &Evidence { class, ..specs::passed(7) }).unwrap();
        let untold = ledger.untold(&followed).unwrap();
        assert_eq!(untold.iter().any(|one| !one.is_claim()), class != EvidenceClass::Claimed, "{class:?}");
        for one in &untold {
            ledger.told(one, Status::Done).unwrap();
            follow(&mut ledger, &plan, &[("1", Status::Done)], AddedBy::Agent);
        }
        assert_eq!(ledger.untold(&followed).unwrap(), []);
    }
}

#[test]
fn what_a_human_does_with_a_claimed_issue_there_happens_here() {
    for (there, here) in [
        (Status::Done, Status::Done),
        (Status::InProgress, Status::Done),
        (Status::Pending, Status::Pending),
        (Status::Blocked, Status::Blocked),
    ] {
        let dir = dir();
        let (mut ledger, plan, followed) = claimed(&dir);
        follow(&mut ledger, &plan, &[("1", there)], AddedBy::Agent);
        assert_eq!(ledger.task(&followed, &id("1")).unwrap().status, here);
        assert_eq!(ledger.untold(&followed).unwrap(), [], "{there:?}");
    }
}

#[test]
fn what_was_added_here_stays_and_is_never_told() {
    let dir = dir();
    let (mut ledger, plan, followed) = claimed(&dir);
    let added = ledger.add_task(&followed, NewTask::new("Tidy up", AddedBy::Agent), at(7)).unwrap();
    follow(&mut ledger, &plan, &[("1", Status::InProgress)], AddedBy::Human);
    let changed = ledger.set_status(&followed, &added.id, to(Status::Done)).unwrap();
    assert_eq!((added.id.as_str(), changed.earned), ("+1", false), "a human who loads the list did not load this");
    assert_eq!(ledger.untold(&followed).unwrap(), []);
}

#[test]
fn what_is_gone_is_gone_unless_it_was_done_and_what_has_a_check_is_not_closed_by_a_word() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let mut checked = planned("3", &["1"]);
    checked.verify = Some(Check::command("make test"));
    let plan = spec(vec![planned("1", &[]), planned("2", &[]), checked.clone()]);
    let followed = follow(&mut ledger, &plan, &[("1", Status::Done)], AddedBy::Agent);
    assert!(followed.is_new);
    let news = follow(&mut ledger, &spec(vec![checked, planned("4", &["3"])]), &[("3", Status::Done)], AddedBy::Agent);
    let what: Vec<(&str, Happened)> = news.news.iter().map(|one| (one.task.as_str(), one.what)).collect();
    assert_eq!(what, [("2", Happened::Removed), ("3", Happened::Unproven), ("4", Happened::Added)]);
    let tasks: Vec<(String, Status)> =
        ledger.tasks(&followed.plan).unwrap().into_iter().map(|task| (task.id.to_string(), task.status)).collect();
    let is = [("1", Status::Done), ("3", Status::Pending), ("4", Status::Pending)];
    assert_eq!(tasks, is.map(|(task, status)| (task.to_owned(), status)));
    assert_eq!(ledger.ready(&followed.plan).unwrap().len(), 1);
    assert_eq!(ledger.untold(&followed.plan).unwrap(), []);
}

#[test]
fn what_is_noted_here_stays_behind_what_is_written_there() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let noted = |text: &str| {
        let mut task = planned("1", &[]);
        task.notes = Some(text.to_owned());
        spec(vec![task])
    };
    let plan = follow(&mut ledger, &noted("first words"), &[], AddedBy::Agent).plan;
    ledger.note_task(&plan, &id("1"), "seen on a Monday", at(6)).unwrap();
    follow(&mut ledger, &noted("other words"), &[], AddedBy::Agent);
    let notes = ledger.task(&plan, &id("1")).unwrap().notes.unwrap();
    assert!(notes.starts_with("other words\n") && notes.ends_with("seen on a Monday"), "{notes}");
    assert!(!notes.contains("first words"), "{notes}");
}

mod timing {
    use std::time::Instant;

    use super::*;

    /// What following so many tasks takes, twice, of which every other waits.
    fn takes(tasks: usize) -> Duration {
        let dir = dir();
        let mut ledger = Ledger::open(dir.path()).unwrap();
        let names: Vec<String> = (1..=tasks).map(|number| number.to_string()).collect();
        let waits = |index: usize| if index % 2 == 1 { vec![names[index - 1].as_str()] } else { Vec::new() };
        let plan = spec(names.iter().enumerate().map(|(index, name)| planned(name, &waits(index))).collect());
        let started = Instant::now();
        follow(&mut ledger, &plan, &[], AddedBy::Human);
        let followed = follow(&mut ledger, &plan, &[("1", Status::Done)], AddedBy::Agent);
        let took = started.elapsed();
        assert_eq!((followed.news.len(), ledger.ready(&followed.plan).unwrap().len()), (1, tasks / 2));
        took
    }

    /// Looking at every open task for each of them takes seconds here, and a stop does not have those.
    #[test]
    fn two_thousand_tasks_of_which_every_other_waits_are_followed_in_time() {
        assert_no_square(takes);
    }
}
