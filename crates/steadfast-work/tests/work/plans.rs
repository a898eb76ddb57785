//! How a plan gets into the ledger, who may replace it, and what stays of it.

use std::fs;

use steadfast_model::{AddedBy, Approval, Check, Phase, Plan, PlannedTask, Reported, RunState, Status};
use steadfast_plan::ExportTarget;
use steadfast_store::ledger::{LedgerError, Loaded};
use steadfast_work::task_list::{LoopState, TakenOver};
use steadfast_work::{Cause, PlanError, TaskList, WorkError};

use crate::scene::{Scene, cause, done, id, plain_plan, plan, planned, status};

const SPEC: &str = "SPEC.md";
const DECISIONS: &str = ".steadfast/decisions/login.md";

/// A human or an agent.
fn list(scene: &Scene, by: AddedBy) -> TaskList {
    match by {
        AddedBy::Human => scene.human(),
        AddedBy::Agent => scene.agent("s-1"),
    }
}

fn ids(list: &TaskList) -> Vec<String> {
    list.all().unwrap().iter().map(|task| task.id.as_str().to_owned()).collect()
}

#[test]
fn a_plan_is_its_loaders_and_loading_it_again_changes_nothing() {
    for by in AddedBy::ALL {
        let scene = Scene::new();
        let mut list = list(&scene, by);
        assert!(matches!(list.load(&plain_plan(&["1", "2"]), SPEC), Ok(Loaded::New(_))), "{by:?}");
        assert_eq!(list.plan_row().unwrap().added_by, by);
        scene.write("new.txt", "work\n");
        done(&mut list, &id("1")).unwrap();
        for mut other in [scene.human(), scene.agent("s-2")] {
            assert!(matches!(other.load(&plain_plan(&["1", "2"]), SPEC), Ok(Loaded::Same(_))), "{by:?}");
        }
        assert_eq!([status(&list, &id("1")), status(&list, &id("2"))], [Status::Done, Status::Pending]);
    }
}

#[test]
fn an_agent_replaces_only_a_plan_of_an_agent_that_nobody_began() {
    for (loaded_by, begun, may) in [
        (AddedBy::Agent, false, true),
        (AddedBy::Agent, true, false),
        (AddedBy::Human, false, false),
        (AddedBy::Human, true, false),
    ] {
        let scene = Scene::new();
        list(&scene, loaded_by).load(&plain_plan(&["1"]), SPEC).unwrap();
        if begun {
            scene.agent("s-1").start(&id("1")).unwrap();
        }
        let loaded = scene.agent("s-1").load(&plain_plan(&["1", "2"]), SPEC);
        match loaded {
            Ok(loaded) => assert!(may && matches!(loaded, Loaded::Replaced { .. }), "{loaded_by:?} {begun}"),
            Err(error) => {
                assert!(!may && matches!(error, WorkError::Plan(PlanError::Changed { .. })), "{loaded_by:?} {begun}");
                assert_eq!(error.cause(), Cause::NeedsHuman);
                assert_eq!(ids(&scene.human()), ["1"]);
            }
        }
        scene.human().load(&plain_plan(&["1", "2", "3"]), SPEC).unwrap();
        assert_eq!(ids(&scene.human()), ["1", "2", "3"]);
    }
}

#[test]
fn a_plan_of_another_file_stands_beside_the_first() {
    let scene = Scene::new();
    scene.human().load(&plain_plan(&["1"]), SPEC).unwrap();
    let loaded = scene.agent("s-1").load(&plain_plan(&["1"]), "OTHER.md").unwrap();
    assert!(matches!(loaded, Loaded::New(_)));
    let worktree = scene.place().worktree();
    assert!(scene.ledger().plan_of(&worktree, SPEC).unwrap().is_some());
}

#[test]
fn an_agent_loads_nothing_while_a_gate_is_closed_before_it() {
    let scene = Scene::new();
    scene.human().lock(None).unwrap();
    let error = scene.agent("s-1").load(&plain_plan(&["1"]), SPEC).unwrap_err();
    let names_file =
        matches!(&error, WorkError::Plan(PlanError::GateClosed { source_file: Some(file), .. }) if file == SPEC);
    assert!(names_file && error.cause() == Cause::Refused, "{error}");
    assert_eq!(scene.ledger().plan(&scene.place().worktree()).unwrap(), None);

    // A human who loads it has read it.
    scene.human().load(&plain_plan(&["1"]), SPEC).unwrap();
}

#[test]
fn what_did_not_change_keeps_its_status_and_its_evidence() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plain_plan(&["1", "2", "3", "4"]), SPEC).unwrap();
    done(&mut list, &id("1")).unwrap();
    done(&mut list, &id("2")).unwrap();
    list.block(&id("3"), "no key").unwrap();

    let mut changed = plain_plan(&["1", "2", "3", "5"]);
    changed.tasks[1].title = "Something else".into();
    let Loaded::Replaced { plan, kept } = list.load(&changed, SPEC).unwrap() else { panic!("it is not replaced") };
    assert_eq!(kept, 2);
    let now: Vec<_> = list.all().unwrap().into_iter().map(|task| (task.id.as_str().to_owned(), task.status)).collect();
    let expected = [("1", Status::Done), ("2", Status::Pending), ("3", Status::Blocked), ("5", Status::Pending)];
    assert_eq!(now, expected.map(|(id, status)| (id.to_owned(), status)));
    assert_eq!(list.ledger().evidence(&plan).unwrap().keys().collect::<Vec<_>>(), [&id("1")]);
    assert_eq!(list.blocked().unwrap()[0].reason.as_deref(), Some("no key"));
}

#[test]
fn a_task_with_another_check_is_other_work() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plan(vec![planned("1", None, &[])]), SPEC).unwrap();
    done(&mut list, &id("1")).unwrap();
    list.load(&plan(vec![planned("1", Some(Check::command("true")), &[])]), SPEC).unwrap();
    assert_eq!(status(&list, &id("1")), Status::Pending);
}

#[test]
fn a_plan_that_a_run_works_off_is_not_replaced() {
    let scene = Scene::new();
    scene.human().load(&plain_plan(&["1"]), SPEC).unwrap();
    scene.begin_run(RunState::Paused);
    let error = scene.human().load(&plain_plan(&["1", "2"]), SPEC).unwrap_err();
    assert!(matches!(error, WorkError::Ledger(LedgerError::InRun { .. })) && error.cause() == Cause::State);
    assert_eq!(ids(&scene.human()), ["1"]);
}

#[test]
fn the_decisions_of_a_replaced_plan_become_those_of_the_next() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plain_plan(&["1"]), SPEC).unwrap();
    list.decide("Argon2", "it is kept").unwrap();
    scene.write(DECISIONS, &(scene.read(DECISIONS).unwrap() + "## Notes\nmine\n"));
    let loaded = list.load(&plain_plan(&["1", "2"]), SPEC).unwrap();
    assert_eq!(scene.read(DECISIONS), None);
    let text = scene.read(&format!(".steadfast/decisions/{}.md", loaded.plan())).unwrap();
    assert!(text.contains("- Argon2: it is kept\n") && text.contains("## Notes\nmine\n"), "{text}");
    assert_eq!(list.ledger().decisions(loaded.plan()).unwrap().len(), 1);
}

#[test]
fn clearing_a_plan_archives_its_decisions() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plain_plan(&["1"]), SPEC).unwrap();
    list.decide("Argon2", "it is kept").unwrap();
    let text = scene.read(DECISIONS).unwrap();

    let (row, archived) = list.clear().unwrap();
    assert_eq!(row.id.as_str(), "login");
    assert_eq!(fs::read_to_string(archived.unwrap()).unwrap(), text);
    assert_eq!(scene.read(DECISIONS), None);
    assert_eq!(list.all().unwrap(), []);
    let error = list.clear().unwrap_err();
    assert!(matches!(error, WorkError::Plan(PlanError::NoPlan)) && error.cause() == Cause::NotFound);
}

#[test]
fn a_plan_without_decisions_is_cleared_without_an_archive() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plain_plan(&["1"]), SPEC).unwrap();
    scene.remove(DECISIONS);
    assert_eq!(list.clear().unwrap().1, None);
}

#[test]
fn a_decisions_file_that_cannot_be_archived_is_a_failure_of_the_disk() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plain_plan(&["1"]), SPEC).unwrap();
    fs::write(scene.place().state.join("archive"), "no folder").unwrap();
    let error = list.clear().unwrap_err();
    assert!(
        matches!(error, WorkError::Plan(PlanError::NotArchived { .. })) && (error.cause() == Cause::Infrastructure)
    );
    assert!(scene.read(DECISIONS).is_some());
}

#[test]
fn a_position_says_how_the_plan_stands() {
    let scene = Scene::new();
    let mut list = scene.human();
    let nothing = list.position().unwrap();
    assert_eq!((nothing.plan, nothing.hash, nothing.approval), (None, None, Approval::NotRequired));

    list.load(&plain_plan(&["1", "2", "3"]), SPEC).unwrap();
    done(&mut list, &id("1")).unwrap();
    list.block(&id("2"), "no key").unwrap();
    list.lock(None).unwrap();
    let mut json = list.position().unwrap().to_json();
    assert_eq!(json["hash"].take(), steadfast_plan::hash(&plain_plan(&["1", "2", "3"])));
    let expected = serde_json::json!({
        "plan": "login", "hash": null, "approval": "not_required", "gate": "locked", "open": 1, "done": 1, "blocked": 1,
    });
    assert_eq!(json, expected);
}

#[test]
fn a_loop_phase_counts_its_items_by_their_tasks() {
    let items = ["a", "b", "c"].map(str::to_owned).to_vec();
    let phase = Phase { id: "1".into(), name: "Each".into(), items };
    let tasks = (0..3).flat_map(|item| {
        ["x", "y"].map(|part| PlannedTask { item: Some(item), ..planned(&format!("1.{item}{part}"), None, &[]) })
    });
    let plan = Plan { phases: vec![phase], ..plan(tasks.collect()) };
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plan, SPEC).unwrap();
    for task in ["1.0x", "1.0y", "1.1x"] {
        done(&mut list, &id(task)).unwrap();
    }
    list.block(&id("1.2x"), "no key").unwrap();
    let (phases, tasks) = (list.plan_row().unwrap().head.phases, list.all().unwrap());
    let [state] = &LoopState::all(&phases, &tasks)[..] else { panic!("one phase is a loop") };
    assert_eq!((state.position, &state.completed[..], &state.failed[..]), (1, &["a"][..], &["c"][..]));
}

#[test]
fn an_agents_word_closes_no_task_with_a_check_and_a_humans_does() {
    let tasks =
        || vec![planned("1", Some(Check::command("true")), &[]), planned("2", None, &[]), planned("3", None, &[])];
    let reported = |task: &str, status| Reported { task: id(task), status, reason: Some("said so".into()) };
    let reported = [reported("1", Status::Done), reported("2", Status::Done), reported("3", Status::Blocked)];
    for (by, expected) in [
        (AddedBy::Agent, TakenOver { done: 1, blocked: 1, unproven: 1, ..TakenOver::default() }),
        (AddedBy::Human, TakenOver { done: 2, blocked: 1, ..TakenOver::default() }),
    ] {
        let scene = Scene::new();
        let mut list = list(&scene, by);
        let loaded = list.load(&plan(tasks()), SPEC).unwrap();
        assert_eq!(list.take_over(loaded.plan(), &reported, SPEC).unwrap(), expected);
        let first = if by == AddedBy::Human { Status::Done } else { Status::Pending };
        assert_eq!(["1", "2", "3"].map(|task| status(&list, &id(task))), [first, Status::Done, Status::Blocked]);
    }
}

#[test]
fn an_exported_plan_says_how_its_tasks_stand_and_compiles_again() {
    let scene = Scene::new();
    let mut list = scene.human();
    assert_eq!(cause(list.exported(ExportTarget::Markdown)), Cause::NotFound);
    list.load(&plain_plan(&["1", "2"]), SPEC).unwrap();
    list.block(&id("2"), "no key").unwrap();
    done(&mut list, &id("1")).unwrap();
    let text = list.exported(ExportTarget::Markdown).unwrap();
    let compiled = steadfast_plan::compile(&text, SPEC, &steadfast_plan::CompileOptions::default()).unwrap();
    let standing: Vec<_> = compiled.reported.iter().map(|one| (one.task.as_str(), one.status)).collect();
    assert_eq!(standing, [("1", Status::Done), ("2", Status::Blocked)], "{text}");
    assert!(text.contains("no key"), "{text}");
}
