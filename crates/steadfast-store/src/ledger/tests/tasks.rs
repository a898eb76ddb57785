use steadfast_model::{Task, TaskKind, TaskType};

use super::*;
use crate::ledger::LedgerError;

fn names(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

#[test]
fn a_task_comes_back_as_it_was_put_in() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for task in [named("1.10"), named("1.2")] {
        ledger.add_task(&plan, task, at(1)).unwrap();
    }
    let new = NewTask {
        id: Some(id("2")),
        title: "say \"héllo\"".into(),
        kind: TaskKind::Main,
        files: vec!["src/a b.rs".into(), "src/ü.rs".into()],
        verify: Some(steadfast_model::Check::command("cargo test")),
        notes: Some("two\nlines".into()),
        blocked_by: vec![id("1.10"), id("1.2"), id("1.10")],
        task_type: Some(TaskType::Func),
        added_by: AddedBy::Agent,
    };
    let task = Task {
        plan: plan.clone(),
        id: id("2"),
        title: new.title.clone(),
        kind: TaskKind::Main,
        task_type: new.task_type,
        files: new.files.clone(),
        notes: new.notes.clone(),
        phase: None,
        item: None,
        verify: new.verify.clone(),
        blocked_by: vec![id("1.2"), id("1.10")],
        status: Status::Pending,
        stuck_count: 0,
        wave: None,
        added_by: AddedBy::Agent,
        created_at: at(7),
        updated_at: at(7),
    };
    assert_eq!(ledger.add_task(&plan, new, at(7)).unwrap(), task);
    assert_eq!(ledger.task(&plan, &task.id).unwrap(), task);
    assert_eq!(ledger.tasks(&plan).unwrap()[2], task);
}

#[test]
fn a_task_without_an_id_gets_the_next_whole_number() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let mut given = Vec::new();
    for before in [None, Some("7.10"), Some("login"), None, Some("99999999999999999999999"), None] {
        let new = NewTask { id: before.map(TaskId::new), ..NewTask::new("t", AddedBy::Human) };
        given.push(ledger.add_task(&plan, new, at(1)).unwrap().id.to_string());
    }
    assert_eq!(given, ["1", "7.10", "login", "8", "99999999999999999999999", "2"]);
}

#[test]
fn an_id_is_given_once() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    let error = ledger.add_task(&plan, named("1"), at(1)).unwrap_err();
    assert_eq!(error.to_string(), format!("plan `{plan}` already has a task `1`"));
}

#[test]
fn a_mistyped_task_is_answered_with_those_near_it() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for name in ["1", "2.1", "2.10"] {
        ledger.add_task(&plan, named(name), at(1)).unwrap();
    }
    let errors = [
        ledger.task(&plan, &id("2.11")).unwrap_err(),
        ledger.set_status(&plan, &id("unlike"), to(Status::Done)).unwrap_err(),
        ledger.add_task(&plan, after("3", &["1", "21"]), at(1)).unwrap_err(),
    ];
    assert_eq!(
        errors.map(|error| error.to_string()),
        [
            format!("there is no task `2.11` in plan `{plan}`; similar ids: `2.1`, `2.10`"),
            format!("there is no task `unlike` in plan `{plan}`"),
            format!(
                "a task cannot depend on `21`: there is no such task in plan `{plan}`; similar ids: `1`, `2.1`, `2.10`"
            ),
        ]
    );
    assert_eq!(names(&ledger.tasks(&plan).unwrap()), ["1", "2.1", "2.10"], "nothing was added");
}

#[test]
fn an_unknown_plan_has_no_tasks_to_list() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = PlanId::new("none");
    let errors = [
        ledger.tasks(&plan).err(),
        ledger.ready(&plan).err(),
        ledger.next(&plan).err(),
        ledger.blocked(&plan).err(),
        ledger.task(&plan, &id("1")).err(),
        ledger.add_task(&plan, named("1"), at(1)).err(),
        ledger.set_status(&plan, &id("1"), to(Status::Done)).err(),
    ];
    for error in errors {
        assert!(matches!(&error, Some(LedgerError::UnknownPlan { plan: named }) if *named == plan), "{error:?}");
    }
}

#[test]
fn tasks_are_listed_the_way_people_count() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for name in ["10", "1.10", "2", "1.2", "1.2a", "1"] {
        ledger.add_task(&plan, named(name), at(1)).unwrap();
    }
    let counted = ["1", "1.2", "1.2a", "1.10", "2", "10"];
    assert_eq!(names(&ledger.tasks(&plan).unwrap()), counted);
    assert_eq!(names(&ledger.ready(&plan).unwrap()), counted);
}

#[test]
fn a_task_is_ready_when_all_it_waits_for_is_done() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for task in [named("2"), named("3"), after("1", &["2", "3"])] {
        ledger.add_task(&plan, task, at(1)).unwrap();
    }
    let mut ready = Vec::new();
    for (task, status) in [("2", Status::Done), ("3", Status::Blocked), ("3", Status::Pending), ("3", Status::Done)] {
        ledger.set_status(&plan, &id(task), to(status)).unwrap();
        ready.push(names(&ledger.ready(&plan).unwrap()).join(" "));
    }
    assert_eq!(ready, ["3", "", "3", "1"]);
    assert_eq!(ledger.next(&plan).unwrap(), Some(ledger.task(&plan, &id("1")).unwrap()));
    ledger.set_status(&plan, &id("1"), to(Status::InProgress)).unwrap();
    assert_eq!(ledger.next(&plan).unwrap(), None);
}
