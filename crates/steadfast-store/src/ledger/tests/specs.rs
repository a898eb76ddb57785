use std::collections::BTreeMap;

use steadfast_model::{Brief, Check, CheckEnd, Evidence, EvidenceClass, Phase, Plan, PlannedTask, TaskKind};

use super::*;
use crate::ledger::{Baseline, Decision, Loaded, Loading};

pub(super) fn planned(name: &str, after: &[&str]) -> PlannedTask {
    PlannedTask {
        id: id(name),
        title: format!("task {name}"),
        kind: TaskKind::Main,
        task_type: None,
        phase: Some("p1".into()),
        item: None,
        files: vec![format!("src/{name}.rs")],
        notes: None,
        verify: Some(Check::command(format!("test {name}"))),
        blocked_by: after.iter().copied().map(TaskId::new).collect(),
    }
}

pub(super) fn spec(tasks: Vec<PlannedTask>) -> Plan {
    Plan {
        feature: "Log in!".into(),
        description: Some("People can log in.".into()),
        constraints: vec!["The schema stays.".into()],
        phases: vec![Phase { id: "p1".into(), name: "Phase 1".into(), items: Vec::new() }],
        tasks,
        ..Plan::default()
    }
}

pub(super) fn load(ledger: &mut Ledger, plan: &Plan, by: AddedBy, now: i64) -> Loaded {
    let (frozen, baseline) = (BTreeMap::from([("test 1".to_owned(), "{}".to_owned())]), Baseline::default());
    ledger
        .load_plan(Loading {
            plan,
            hash: "h",
            worktree: WORKTREE,
            source: "SPEC.md",
            text: None,
            added_by: by,
            frozen: &frozen,
            baseline: &baseline,
            now: at(now),
        })
        .unwrap()
}

pub(super) fn passed(now: i64) -> Evidence {
    Evidence {
        class: EvidenceClass::Executed,
        passed: true,
        end: CheckEnd::Exited(0),
        command: Some("test".into()),
        seconds: Some(0.5),
        output_tail: Some("ok".into()),
        tree: Some("t".into()),
        files: BTreeMap::new(),
        seen: Vec::new(),
        note: None,
        at: at(now),
    }
}

#[test]
fn a_loaded_plan_is_the_worktrees_and_says_what_it_is_for() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let loaded = load(&mut ledger, &spec(vec![planned("1", &["2"]), planned("2", &[])]), AddedBy::Human, 1);
    assert_eq!(loaded, Loaded::New(PlanId::new("log-in")));
    let view = ledger.plan_view(WORKTREE).unwrap().unwrap();
    assert_eq!((view.title.as_str(), view.counts.pending), ("Log in!", 2));
    assert_eq!(view.open.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["2"], "the later one is ready");
    let Brief { spec, objective, constraints, phase, current, .. } = view.brief;
    assert_eq!(spec.as_deref(), Some("SPEC.md"));
    assert_eq!(objective.as_deref(), Some("People can log in."));
    assert_eq!((constraints, phase.as_deref()), (vec!["The schema stays.".to_owned()], Some("Phase 1")));
    assert_eq!(current.unwrap().check.as_deref(), Some("`test 2` exits with 0"));
    assert_eq!(ledger.frozen(loaded.plan(), "test 1").unwrap().as_deref(), Some("{}"));
    assert_eq!(ledger.frozen(loaded.plan(), "test 2").unwrap(), None);
}

#[test]
fn loading_the_same_again_changes_nothing() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = spec(vec![planned("1", &[]), planned("2", &["1", "1"])]);
    let first = load(&mut ledger, &plan, AddedBy::Human, 1);
    ledger.record(first.plan(), &id("1"), &passed(2)).unwrap();
    let again = load(&mut ledger, &plan, AddedBy::Human, 3);
    assert_eq!(again, Loaded::Same(first.plan().clone()));
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().counts.done, 1);
    let renamed = Plan { feature: "Sign in".into(), ..plan };
    let loaded = load(&mut ledger, &renamed, AddedBy::Human, 4);
    assert_eq!(loaded, Loaded::Replaced { plan: PlanId::new("sign-in"), kept: 1 });
}

#[test]
fn another_estimate_is_taken_over_without_a_new_plan() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let mut plan = spec(vec![planned("1.1", &[])]);
    let loaded = load(&mut ledger, &plan, AddedBy::Human, 10).plan().clone();
    assert_eq!(ledger.estimates(&loaded).unwrap(), BTreeMap::new());
    plan.estimates.insert(id("1.1"), 60_000);
    assert_eq!(load(&mut ledger, &plan, AddedBy::Human, 20), Loaded::Same(loaded.clone()));
    assert_eq!(ledger.estimates(&loaded).unwrap(), plan.estimates);
}

#[test]
fn a_changed_spec_keeps_what_did_not_change() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let first = load(&mut ledger, &spec(vec![planned("1", &[]), planned("2", &[])]), AddedBy::Human, 1);
    for name in ["1", "2"] {
        assert!(ledger.record(first.plan(), &id(name), &passed(2)).unwrap().changed.earned);
    }
    let decision = Decision {
        phase: Some("p1".into()),
        what: "Use files".into(),
        why: "simple".into(),
        added_by: AddedBy::Agent,
        at: at(2),
    };
    ledger.decide(first.plan(), &decision).unwrap();

    let other_check = PlannedTask { verify: Some(Check::command("true")), ..planned("2", &[]) };
    let plan = spec(vec![planned("1", &[]), other_check, planned("3", &["1", "2"])]);
    let loaded = load(&mut ledger, &plan, AddedBy::Human, 3);
    assert_eq!(loaded, Loaded::Replaced { plan: PlanId::new("log-in-2"), kept: 1 });
    let tasks = ledger.tasks(loaded.plan()).unwrap();
    let statuses: Vec<_> = tasks.iter().map(|task| (task.id.as_str(), task.status)).collect();
    assert_eq!(statuses, [("1", Status::Done), ("2", Status::Pending), ("3", Status::Pending)]);
    assert_eq!(ledger.evidence(loaded.plan()).unwrap().len(), 1);
    assert_eq!(ledger.decisions(loaded.plan()).unwrap(), [decision]);
    // What was done once gives nothing back again, what is new does.
    let again = ledger.set_status(loaded.plan(), &id("1"), to(Status::Pending)).unwrap();
    assert!(!again.earned && !ledger.set_status(loaded.plan(), &id("1"), to(Status::Done)).unwrap().earned);
    assert!(ledger.set_status(loaded.plan(), &id("2"), to(Status::Done)).unwrap().earned);
    let ready: Vec<_> = ledger.ready(loaded.plan()).unwrap().into_iter().map(|task| task.id).collect();
    assert_eq!(ready, [id("3")]);
}

#[test]
fn a_cleared_plan_is_nobodys_and_leaves_no_slice() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let loaded = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1);
    assert!(read_slices(dir.path(), WORKTREE).is_some());
    ledger.clear_plan(loaded.plan(), at(2)).unwrap();
    assert_eq!(ledger.plan_view(WORKTREE).unwrap(), None);
    assert_eq!(read_slices(dir.path(), WORKTREE), None);
    assert_eq!(ledger.tasks(loaded.plan()).unwrap().len(), 1, "kept");
    // The next of that name gets another.
    assert_eq!(load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 3).plan().as_str(), "log-in-2");
}

#[test]
fn the_last_decisions_of_all_phases_are_in_the_view_those_of_this_one_at_the_end() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let loaded = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1);
    for number in 0..14 {
        let phase = if number % 4 == 1 { "other" } else { "p1" };
        let decision = Decision {
            phase: Some(phase.into()),
            what: format!("d{number}"),
            why: "w".into(),
            added_by: AddedBy::Agent,
            at: at(number),
        };
        ledger.decide(loaded.plan(), &decision).unwrap();
    }
    let brief = ledger.plan_view(WORKTREE).unwrap().unwrap().brief;
    let numbers = [9, 13, 0, 2, 3, 4, 6, 7, 8, 10, 11, 12];
    assert_eq!(brief.decisions, numbers.map(|number| format!("d{number}: w")));
}

#[test]
fn a_plan_is_called_so_that_people_know_it_in_any_script() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    for (number, (feature, id)) in [
        ("Ünïcödé", "uenicoede"),
        ("Prüfung größer", "pruefung-groesser"),
        ("Łódź – café", "lodz-cafe"),
        ("Cafe\u{301} au lait", "cafe-au-lait"),
        ("登录页面", "登录页面"),
        ("Вход в систему", "вход-в-систему"),
        ("Вход в систему!", "вход-в-систему-2"),
        ("🙂", "plan"),
        ("a/../b\\c", "a-b-c"),
    ]
    .into_iter()
    .enumerate()
    {
        let named = Plan { feature: feature.to_owned(), ..spec(vec![planned("1", &[])]) };
        let source = format!("{number}.md");
        let loading = Loading {
            plan: &named,
            hash: "h",
            worktree: WORKTREE,
            source: &source,
            text: None,
            added_by: AddedBy::Human,
            frozen: &BTreeMap::new(),
            baseline: &Baseline::default(),
            now: at(1),
        };
        assert_eq!(ledger.load_plan(loading).unwrap().plan().as_str(), id, "{feature}");
    }
}
