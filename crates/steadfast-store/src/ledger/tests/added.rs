//! Tasks that are added to the plan of a spec.

use steadfast_model::{Check, Run, RunId, RunState};

use super::specs::{load, passed, planned, spec};
use super::*;
use crate::ledger::{Joined, Loaded, PlanLine};

fn added(ledger: &mut Ledger, plan: &PlanId, title: &str, before: &[&str]) -> TaskId {
    let blocked_by = before.iter().copied().map(TaskId::new).collect();
    let new = NewTask {
        blocked_by,
        verify: Some(Check::command(format!("check {title}"))),
        ..NewTask::new(title, AddedBy::Human)
    };
    let id = ledger.add_task(plan, new, at(2)).unwrap().id;
    let definition = [(format!("check {title}"), "{}".to_owned())].into();
    ledger.freeze(plan, &definition, at(2)).unwrap();
    id
}

fn ids(ledger: &Ledger, plan: &PlanId) -> Vec<String> {
    ledger.tasks(plan).unwrap().into_iter().map(|task| task.id.to_string()).collect()
}

fn in_force(ledger: &Ledger) -> PlanId {
    ledger.plan_view(WORKTREE).unwrap().unwrap().id
}

#[test]
fn ids_of_added_tasks_are_not_the_authors_and_come_last() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan =
        load(&mut ledger, &spec(vec![planned("1", &[]), planned("10.2", &[])]), AddedBy::Human, 1).plan().clone();
    let new = ["a", "b"].map(|title| added(&mut ledger, &plan, title, &[]).to_string());
    assert_eq!(new, ["+1", "+2"]);
    assert_eq!(ids(&ledger, &plan), ["1", "10.2", "+1", "+2"]);
}

#[test]
fn added_tasks_survive_a_spec_that_changed() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[]), planned("2", &[])]), AddedBy::Human, 1).plan().clone();
    added(&mut ledger, &plan, "a", &["2"]);
    added(&mut ledger, &plan, "b", &["+1", "1"]);
    ledger.record(&plan, &id("+1"), &passed(3)).unwrap();
    let hash = ledger.plan_row(&plan).unwrap().head.hash;

    let loaded = load(&mut ledger, &spec(vec![planned("1", &[]), planned("3", &[])]), AddedBy::Human, 4);
    let Loaded::Replaced { plan: after, kept: 0 } = loaded else { panic!("{loaded:?}") };
    assert_eq!(ids(&ledger, &after), ["1", "3", "+1", "+2"]);
    let tasks = ledger.tasks(&after).unwrap();
    assert_eq!((tasks[2].status, tasks[3].status), (Status::Done, Status::Pending));
    assert_eq!(tasks[3].blocked_by, [id("1"), id("+1")], "2 is not in the spec any more");
    assert_eq!(ledger.evidence_of(&after, &id("+1")).unwrap(), [passed(3)]);
    assert_eq!(ledger.frozen(&after, "check b").unwrap().as_deref(), Some("{}"));
    assert_eq!(ledger.plan_row(&after).unwrap().head.hash, hash);
    let ready: Vec<TaskId> = ledger.ready(&after).unwrap().into_iter().map(|task| task.id).collect();
    assert_eq!(ready, [id("1"), id("3")], "+2 waits for 1");

    let again = load(&mut ledger, &spec(vec![planned("1", &[]), planned("3", &[])]), AddedBy::Human, 5);
    assert_eq!((again, ids(&ledger, &after).len()), (Loaded::Same(after), 4));
}

#[test]
fn an_id_that_the_author_uses_is_the_authors() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    added(&mut ledger, &plan, "a", &[]);
    for given in ["2", "9"] {
        ledger.add_task(&plan, named(given), at(2)).unwrap();
    }
    let loaded =
        load(&mut ledger, &spec(vec![planned("1", &[]), planned("2", &[]), planned("+1", &[])]), AddedBy::Human, 3);
    let titles: Vec<(String, String)> =
        ledger.tasks(loaded.plan()).unwrap().into_iter().map(|task| (task.id.to_string(), task.title)).collect();
    let expected =
        [("1", "task 1"), ("2", "task 2"), ("9", "task 9"), ("+1", "task +1"), ("+2", "task 2"), ("+3", "a")];
    assert_eq!(titles, expected.map(|(id, title)| (id.to_owned(), title.to_owned())));
}

#[test]
fn what_is_not_done_in_the_plain_list_joins_a_plan() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let list = list(&mut ledger);
    for task in [named("1"), after("2", &["1"]), after("3", &["2"]), named("4")] {
        ledger.add_task(&list, task, at(1)).unwrap();
    }
    ledger.set_status(&list, &id("1"), to(Status::Done)).unwrap();
    ledger.set_status(&list, &id("2"), to(Status::InProgress)).unwrap();
    let blocked = StatusChange { reason: Some("no key".into()), ..to(Status::Blocked) };
    ledger.set_status(&list, &id("4"), blocked).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[]), planned("2", &[])]), AddedBy::Human, 5).plan().clone();

    let joined = ledger.join_list(WORKTREE, &plan, at(6)).unwrap();
    let moved = [("2", "+1"), ("3", "+2"), ("4", "+3")];
    let moved =
        moved.map(|(before, task)| Joined { before: id(before), task: id(task), title: format!("task {before}") });
    assert_eq!(joined, moved);
    let tasks = ledger.tasks(&plan).unwrap();
    let stand: Vec<(&str, Status)> = tasks.iter().map(|task| (task.id.as_str(), task.status)).collect();
    let expected = [
        ("1", Status::Pending),
        ("2", Status::Pending),
        ("+1", Status::InProgress),
        ("+2", Status::Pending),
        ("+3", Status::Blocked),
    ];
    assert_eq!(stand, expected);
    assert_eq!((&tasks[2].blocked_by, &tasks[3].blocked_by), (&Vec::new(), &vec![id("+1")]));
    assert_eq!(ledger.blocked(&plan).unwrap()[0].reason.as_deref(), Some("no key"));
    assert_eq!(ids(&ledger, &list), ["1"], "what is done stays where it was");
    assert_eq!(ledger.join_list(WORKTREE, &plan, at(7)).unwrap(), []);
    assert_eq!(ledger.stale_slices().unwrap(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_list_joins_the_plan_of_a_run_when_that_is_over() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    let run = Run {
        id: RunId::new("r-1"),
        plan: plan.clone(),
        worktree: WORKTREE.into(),
        spec: "SPEC.md".into(),
        host: steadfast_model::Host::Claude,
        base: "main".into(),
        branch: "steadfast/r-1".into(),
        state: RunState::Running,
        reason: None,
        limits: steadfast_model::Limits::default(),
        started_at: at(2),
        updated_at: at(2),
        ended_at: None,
        runner: None,
    };
    ledger.create_run(&run).unwrap();
    let list = list(&mut ledger);
    ledger.add_task(&list, named("1"), at(3)).unwrap();
    assert_eq!((ledger.join_list(WORKTREE, &plan, at(3)).unwrap(), in_force(&ledger)), (Vec::new(), list));
    ledger.set_run_state(&run.id, RunState::Stopped, None, at(4)).unwrap();
    assert_eq!((in_force(&ledger), ids(&ledger, &plan)), (plan.clone(), vec!["1".to_owned(), "+1".to_owned()]));
}

#[test]
fn a_plan_that_is_used_is_in_force_while_a_task_of_it_is_open() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let first = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    let second = PlanId::new("second");
    let new = super::super::plan::NewPlan {
        id: &second,
        worktree: WORKTREE,
        title: "Second",
        source: Some("B.md"),
        added_by: AddedBy::Human,
    };
    ledger.write(|transaction| super::super::plan::insert(transaction, &new, at(2))).unwrap();
    ledger.add_task(&second, named("1"), at(2)).unwrap();
    assert_eq!(in_force(&ledger), second);
    ledger.use_plan(&first, AddedBy::Agent, at(3)).unwrap();
    assert_eq!(in_force(&ledger), first);
    let lines: Vec<PlanLine> = ledger.plans(WORKTREE).unwrap();
    assert_eq!(lines.iter().map(|line| &line.id).collect::<Vec<_>>(), [&first, &second]);
    assert_eq!(lines[1].source.as_deref(), Some("B.md"));

    ledger.set_status(&first, &id("1"), to(Status::Blocked)).unwrap();
    assert_eq!(in_force(&ledger), second, "an agent put it in force, and nothing of it can be done");
    ledger.use_plan(&first, AddedBy::Human, at(4)).unwrap();
    assert_eq!(in_force(&ledger), first, "a human did: the blocked task is theirs to open");
    ledger.set_status(&first, &id("1"), to(Status::Pending)).unwrap();
    ledger.set_status(&first, &id("1"), to(Status::Done)).unwrap();
    assert_eq!(in_force(&ledger), second, "what is open is never hidden by what is done");
}
