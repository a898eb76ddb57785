use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use steadfast_model::{OwnerEnd, PlanView};

use super::*;
use crate::ledger::Claiming;

#[test]
fn a_slice_is_what_the_ledger_says_after_every_change() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let agree = |ledger: &mut Ledger| {
        let view = ledger.plan_view(WORKTREE).unwrap();
        assert_eq!(read_slices(dir.path(), WORKTREE), view);
        assert_eq!((ledger.stale_slices().unwrap(), log(&dir)), (Vec::new(), Vec::new()));
    };
    let owner = session("s");
    let plan = list(&mut ledger);
    agree(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    agree(&mut ledger);
    ledger.set_status(&plan, &id("1"), to(Status::InProgress)).unwrap();
    agree(&mut ledger);
    ledger.take_plan(&plan, &owner, Claiming::UnlessHeld, at(1)).unwrap();
    agree(&mut ledger);
    let lines = journal([started(&owner, 1), ended(&owner, 2), started(&owner, 3)]);
    ledger.drain(&owner, 0, lines[..2].to_vec()).unwrap();
    agree(&mut ledger);
    ledger.drain(&owner, 0, lines).unwrap();
    agree(&mut ledger);
}

#[test]
fn a_slice_that_is_held_back_is_written_when_it_is_asked_for() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.hold_back(&plan);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    let pending = || read_slices(dir.path(), WORKTREE).map(|view| view.counts.pending);
    assert_eq!(pending(), Some(0));
    ledger.catch_up();
    assert_eq!(pending(), Some(1));
    assert_eq!(ledger.stale_slices().unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn a_slice_follows_a_plan_that_a_drain_took() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let owner = session("s");
    ledger.drain(&owner, 0, journal([taking(&owner, 1, &plan), ended(&owner, 2)])).unwrap();
    let view = read_slices(dir.path(), WORKTREE).unwrap();
    let end = OwnerEnd { reason: "exit".into(), at: at(2) };
    assert_eq!((view.owner, view.owner_ended), (Some(owner), Some(end)));
}

#[test]
fn without_slices_there_is_nothing_to_read() {
    assert_eq!(read_slices(dir().path(), WORKTREE), None);
}

#[test]
fn a_slice_that_is_none_is_passed_over() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    list(&mut ledger);
    fs::write(dir.path().join("plans/broken.slice"), "{").unwrap();
    assert_eq!(read_slices(dir.path(), WORKTREE), ledger.plan_view(WORKTREE).unwrap());
    assert_eq!(read_slices(dir.path(), "/elsewhere"), None);
}

#[test]
fn of_several_slices_the_last_with_open_tasks_counts() {
    let dir = dir();
    let plans = dir.path().join("plans");
    fs::create_dir(&plans).unwrap();
    for (name, pending, age) in [("newest", 0, 0), ("open", 1, 10), ("old", 1, 20)] {
        let view = json!({
            "id": name, "title": name, "worktree": WORKTREE, "open": [],
            "counts": { "pending": pending, "in_progress": 0, "done": 1, "blocked": 0 },
        });
        let path = plans.join(format!("{name}.slice"));
        fs::write(&path, view.to_string()).unwrap();
        fs::File::open(&path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    let seen = || read_slices(dir.path(), WORKTREE).map(|view: PlanView| view.title);
    assert_eq!(seen().as_deref(), Some("open"));
    fs::remove_file(plans.join("open.slice")).unwrap();
    fs::remove_file(plans.join("old.slice")).unwrap();
    assert_eq!(seen().as_deref(), Some("newest"));
}

#[test]
fn a_slice_that_cannot_be_written_undoes_nothing() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    fs::write(dir.path().join("plans"), "in the way").unwrap();
    let plan = list(&mut ledger);
    assert_eq!(ledger.tasks(&plan).unwrap(), []);
    let plans = dir.path().join("plans");
    let [line] = &log(&dir)[..] else { panic!("{:?}", log(&dir)) };
    let said = format!("cannot replace the slice `{}`: Not a directory (os error 20)", plans.display());
    assert!(line.ends_with(&said), "{line}");

    assert_eq!(ledger.stale_slices().unwrap(), [plans.join(format!("{plan}.slice"))]);
    assert!(ledger.renew_slices().is_err());
    fs::remove_file(&plans).unwrap();
    ledger.renew_slices().unwrap();
    assert_eq!(ledger.stale_slices().unwrap(), [] as [PathBuf; 0]);
    assert_eq!(read_slices(dir.path(), WORKTREE), ledger.plan_view(WORKTREE).unwrap());
}

#[test]
fn a_slice_of_a_plan_that_is_not_in_the_ledger_is_stale() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let [ours, other] = [plan.as_str(), "other"].map(|name| dir.path().join("plans").join(format!("{name}.slice")));
    fs::copy(&ours, &other).unwrap();
    fs::write(&ours, "{").unwrap();
    assert_eq!(ledger.stale_slices().unwrap(), [ours, other.clone()]);
    ledger.renew_slices().unwrap();
    assert_eq!(ledger.stale_slices().unwrap(), [] as [PathBuf; 0]);
    assert!(!other.exists());
}

#[test]
fn a_slice_from_before_an_upgrade_is_read_and_is_behind_only_when_the_ledger_went_on() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, NewTask { files: vec!["a.rs".into()], ..named("1") }, at(1)).unwrap();
    let path = dir.path().join("plans").join(format!("{plan}.slice"));
    let now: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    // The keys of the first version, and one that a later one may have.
    let mut before = json!({"later": [1]});
    for key in ["id", "title", "worktree", "counts"] {
        before[key] = now[key].clone();
    }
    before["open"] = json!([]);
    assert!(now["brief"]["current"].is_object(), "{now}");
    fs::write(&path, before.to_string()).unwrap();
    assert_eq!(ledger.stale_slices().unwrap(), [] as [PathBuf; 0]);
    assert_eq!(read_slices(dir.path(), WORKTREE).unwrap().counts.open(), 1);

    ledger.set_status(&plan, &id("1"), to(Status::InProgress)).unwrap();
    fs::write(&path, before.to_string()).unwrap();
    assert_eq!(ledger.stale_slices().unwrap(), std::slice::from_ref(&path));
    ledger.renew_slices().unwrap();
    let free = fs::read(&path).unwrap();
    ledger.take_plan(&plan, &session("s"), Claiming::UnlessHeld, at(1)).unwrap();
    fs::write(&path, free).unwrap();
    assert_eq!(ledger.stale_slices().unwrap(), [path], "its owner is not in it");
}

#[test]
fn two_never_write_slices_at_once() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let other = fs::File::open(dir.path().join("plans/lock")).unwrap();
    other.lock().unwrap();
    let before = read_slices(dir.path(), WORKTREE);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    assert_eq!(log(&dir).len(), 1);
    assert_eq!(read_slices(dir.path(), WORKTREE), before);

    other.unlock().unwrap();
    ledger.add_task(&plan, named("2"), at(1)).unwrap();
    assert_eq!(log(&dir).len(), 1);
    assert_eq!(read_slices(dir.path(), WORKTREE), ledger.plan_view(WORKTREE).unwrap());
}

#[test]
fn an_id_cannot_name_a_file_elsewhere() {
    let names = ["../x", "a/b", "..", ".hidden", "ok-1_2.3", "ü", "%2f"]
        .map(|name| crate::ledger::plan::slice::file_name(&PlanId::new(name)));
    assert_eq!(
        names,
        [
            "%2e.%2fx.slice",
            "a%2fb.slice",
            "%2e..slice",
            "%2ehidden.slice",
            "ok-1_2.3.slice",
            "%c3%bc.slice",
            "%252f.slice"
        ]
    );
}
