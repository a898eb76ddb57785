//! One task space per worktree: what is added joins the plan in force, and which plan that is.

use steadfast_model::{AddedBy, Approval, PlanId, RunState, Status};
use steadfast_store::ledger::{LedgerError, NewTask};
use steadfast_work::task_list::CloseOptions;
use steadfast_work::{Cause, PlanError, TaskList, WorkError};

use crate::scene::{Scene, add_plain, cause, id, plain_plan, status};

const SPEC: &str = "SPEC.md";
const REQUIRED: &str = "[approval]\nrequired = true\n";

fn added(list: &mut TaskList) -> steadfast_model::Task {
    list.add(|by| NewTask::new("Also tidy up", by)).unwrap()
}

/// As a human does who looked at it.
fn close(list: &mut TaskList, task: &str) {
    list.done(&id(task), &CloseOptions { force: true, ..CloseOptions::default() }).unwrap();
}

fn ids(list: &TaskList) -> Vec<String> {
    list.all().unwrap().iter().map(|task| task.id.to_string()).collect()
}

fn in_force(list: &TaskList) -> PlanId {
    list.plans().unwrap().in_force.unwrap()
}

#[test]
fn an_added_task_joins_the_plan_in_force_and_changes_no_hash() {
    for by in AddedBy::ALL {
        let scene = Scene::new();
        let mut human = scene.human();
        human.load(&plain_plan(&["1.1", "2"]), SPEC).unwrap();
        let hash = human.position().unwrap().hash;
        let mut list = if by == AddedBy::Human { scene.human() } else { scene.agent("s-1") };
        let task = added(&mut list);
        assert_eq!((task.id.as_str(), task.added_by, task.plan), ("+1", by, in_force(&human)));
        for list in [&human, &scene.agent("s-2")] {
            assert_eq!(ids(list), ["1.1", "2", "+1"]);
            assert_eq!(list.ready().unwrap().len(), 3);
            assert_eq!(list.position().unwrap().counts.open(), 3);
        }
        assert_eq!(human.position().unwrap().hash, hash);
        close(&mut human, "+1");

        human.load(&plain_plan(&["1.1", "2", "3"]), SPEC).unwrap();
        assert_eq!(ids(&human), ["1.1", "2", "3", "+1"]);
        assert_eq!(status(&human, &id("+1")), Status::Done);
    }
}

#[test]
fn an_agent_that_adds_a_task_does_not_own_the_plan_by_that() {
    let scene = Scene::new();
    scene.human().load(&plain_plan(&["1"]), SPEC).unwrap();
    added(&mut scene.agent("s-1"));
    assert_eq!(scene.human().view().unwrap().unwrap().owner, None);
    // Its own list is its own.
    let scene = Scene::new();
    added(&mut scene.agent("s-1"));
    assert_eq!(scene.human().view().unwrap().unwrap().owner.unwrap().as_str(), "s-1");
}

#[test]
fn where_plans_are_approved_an_agents_task_waits_for_a_humans_yes() {
    let scene = Scene::with_settings(REQUIRED);
    let mut human = scene.human();
    human.load(&plain_plan(&["1"]), SPEC).unwrap();
    assert_eq!(human.position().unwrap().approval, Approval::Approved);
    let mut agent = scene.agent("s-1");
    let task = added(&mut agent);
    assert_eq!((task.status, human.position().unwrap().approval), (Status::Blocked, Approval::Approved));
    assert_eq!(cause(agent.start(&task.id)), Cause::Refused);
    assert_eq!(cause(agent.unblock(&task.id)), Cause::Refused);
    assert_eq!(agent.ready().unwrap().len(), 1, "the rest of the plan can be worked on");
    let reason = human.blocked().unwrap()[0].reason.clone().unwrap();
    assert_eq!(reason, "an agent added it; a human accepts it with `steadfast task unblock +1`");

    human.unblock(&task.id).unwrap();
    agent.start(&task.id).unwrap();
    assert_eq!(status(&human, &task.id), Status::InProgress);
    assert_eq!(added(&mut human).status, Status::Pending, "a human's needs no yes");
}

#[test]
fn what_is_open_in_the_list_joins_a_spec_that_is_loaded_later() {
    let scene = Scene::new();
    let mut list = scene.agent("s-1");
    add_plain(&mut list);
    close(&mut scene.human(), "1");
    list.add(|by| NewTask::new("Tidy up", by)).unwrap();
    let mut human = scene.human();
    human.load(&plain_plan(&["1", "2"]), SPEC).unwrap();
    assert_eq!(human.take_lines(), ["task 2 of the list is now task +1 of plan login: Tidy up"]);
    assert_eq!(ids(&human), ["1", "2", "+1"]);
    assert_eq!(human.find(&id("+1")).unwrap().added_by, AddedBy::Agent, "whose it was it stays");
}

#[test]
fn what_is_added_while_a_run_is_under_way_joins_its_plan_when_that_is_over() {
    let scene = Scene::new();
    scene.human().load(&plain_plan(&["1"]), SPEC).unwrap();
    let run = scene.begin_run(RunState::Running);
    let task = added(&mut scene.human());
    assert_eq!(task.id.as_str(), "1", "in a list of its own");
    scene.ledger().set_run_state(&run, RunState::Paused, None, scene.human().now()).unwrap();
    assert_ne!(added(&mut scene.agent("s-1")).plan.as_str(), "login", "a paused run is still the runner's");
    scene.ledger().set_run_state(&run, RunState::Stopped, None, scene.human().now()).unwrap();
    assert_eq!(ids(&scene.human()), ["1", "+1", "+2"]);
    assert_eq!(added(&mut scene.agent("s-1")).id.as_str(), "+3");
}

#[test]
fn a_human_adds_to_the_plan_of_a_paused_run() {
    let scene = Scene::new();
    scene.human().load(&plain_plan(&["1"]), SPEC).unwrap();
    scene.begin_run(RunState::Paused);
    assert_eq!(added(&mut scene.human()).id.as_str(), "+1");
}

#[test]
fn a_plan_that_is_loaded_again_or_used_is_in_force() {
    let scene = Scene::new();
    let mut list = scene.human();
    let (first, second) = (plain_plan(&["1"]), plain_plan(&["1", "2"]));
    list.load(&first, "A.md").unwrap();
    let a = in_force(&list);
    list.load(&second, "B.md").unwrap();
    let b = in_force(&list);
    assert_ne!(a, b);
    list.load(&first, "A.md").unwrap();
    assert_eq!((in_force(&list), ids(&list)), (a.clone(), vec!["1".to_owned()]));
    list.use_plan(&b).unwrap();
    assert_eq!((in_force(&list), ids(&list).len()), (b.clone(), 2));
    let lines: Vec<PlanId> = list.plans().unwrap().lines.into_iter().map(|line| line.id).collect();
    assert_eq!(lines, [b.clone(), a.clone()]);

    list.use_plan(&a).unwrap();
    close(&mut list, "1");
    assert_eq!(in_force(&list), b, "what is open comes back by itself");
    let error = list.use_plan(&a).unwrap_err();
    assert!(matches!(error, WorkError::Plan(PlanError::AllDone { .. })) && error.cause() == Cause::State, "{error}");
    list.load(&first, "A.md").unwrap();
    assert_eq!(in_force(&list), b, "nothing of it is open");
}

#[test]
fn a_plan_with_nothing_but_blocked_tasks_can_be_used() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plain_plan(&["1"]), "A.md").unwrap();
    let a = in_force(&list);
    list.block(&id("1"), "no key").unwrap();
    list.load(&plain_plan(&["1", "2"]), "B.md").unwrap();
    list.use_plan(&a).unwrap();
    list.unblock(&id("1")).unwrap();
    assert_eq!(ids(&list), ["1"]);
}

#[test]
fn a_plan_that_is_not_here_or_in_a_run_is_not_used() {
    let scene = Scene::new();
    let mut list = scene.human();
    assert_eq!(cause(list.use_plan(&PlanId::new("login"))), Cause::NotFound);
    list.load(&plain_plan(&["1"]), SPEC).unwrap();
    assert_eq!(cause(list.use_plan(&PlanId::new("logout"))), Cause::NotFound);
    scene.begin_run(RunState::Running);
    let error = list.use_plan(&PlanId::new("login")).unwrap_err();
    assert!(matches!(error, WorkError::Ledger(LedgerError::InRun { .. })), "{error}");
}
