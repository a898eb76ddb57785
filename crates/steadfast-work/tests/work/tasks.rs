//! Who may start, close, block and unblock a task, and when.

use steadfast_model::{AddedBy, EvidenceClass, RunState, Status, TaskId};
use steadfast_store::ledger::{Blocked, NewTask};
use steadfast_work::task_list::{CloseOptions, CloseOutcome};
use steadfast_work::{Caller, Cause, Environment, TaskError, TaskList, WorkError};

use crate::scene::{Scene, add_plain, cause, done, id, looked, new_task, status};

/// Something that is done with a task.
type Act = fn(&mut TaskList, &TaskId) -> Result<(), WorkError>;

const START: (&str, Act) = ("start", |list, task| list.start(task).map(drop));
const DONE: (&str, Act) = ("done", |list, task| done(list, task).map(drop));
const FORCE: (&str, Act) = ("force", |list, task| list.done(task, &forced()).map(drop));
const BLOCK: (&str, Act) = ("block", |list, task| list.block(task, "no key").map(drop));
const UNBLOCK: (&str, Act) = ("unblock", |list, task| list.unblock(task).map(drop));
const NOTE: (&str, Act) = ("note", |list, task| list.note(task, "a line").map(drop));
const FIND: (&str, Act) = ("find", |list, task| list.find(task).map(drop));

fn forced() -> CloseOptions {
    CloseOptions { force: true, ..CloseOptions::default() }
}

/// A task that a human blocked.
fn blocked(scene: &Scene) -> TaskId {
    let mut list = scene.human();
    let task = add_plain(&mut list);
    list.block(&task, "no key").unwrap();
    task
}

#[test]
fn words_that_say_nothing_are_an_input_error() {
    let scene = Scene::new();
    let mut list = scene.human();
    let task = add_plain(&mut list);
    let cases: [(&str, Act); 3] = [
        ("a title", |list, _| list.add(|by| NewTask::new("", by)).map(drop)),
        ("a note", |list, task| list.note(task, " \n").map(drop)),
        ("a reason", |list, task| list.block(task, "\t").map(drop)),
    ];
    for (name, act) in cases {
        assert_eq!(cause(act(&mut list, &task)), Cause::Input, "{name}");
    }
    assert_eq!(list.all().unwrap(), [list.find(&task).unwrap()]);
    assert_eq!(list.find(&task).unwrap().notes, None);
}

#[test]
fn words_that_are_too_long_are_an_input_error() {
    let scene = Scene::new();
    let mut list = scene.human();
    let task = add_plain(&mut list);
    let cases: [(&str, Act); 4] = [
        ("a title", |list, _| list.add(|by| NewTask::new("x".repeat(501), by)).map(drop)),
        ("a note", |list, task| list.note(task, &"x".repeat(4_001)).map(drop)),
        ("a reason", |list, task| list.block(task, &"x".repeat(1_001)).map(drop)),
        ("files", |list, _| {
            let files = vec!["a".to_owned(); 1_001];
            list.add(|by| NewTask { files, ..NewTask::new("Do it", by) }).map(drop)
        }),
    ];
    for (name, act) in cases {
        assert_eq!(cause(act(&mut list, &task)), Cause::Input, "{name}");
    }
    assert_eq!(status(&list, &task), Status::Pending);
}

#[test]
fn a_task_that_is_not_there_is_not_found() {
    let scene = Scene::new();
    for (name, act) in [START, DONE, FORCE, BLOCK, UNBLOCK, NOTE, FIND] {
        let result = act(&mut scene.human(), &id("7"));
        assert!(matches!(result, Err(WorkError::Task(TaskError::NoTasks))), "{name} without a list: {result:?}");
    }
    add_plain(&mut scene.human());
    for (name, act) in [START, DONE, FORCE, BLOCK, UNBLOCK, NOTE, FIND] {
        let error = act(&mut scene.human(), &id("7")).unwrap_err();
        assert_eq!(error.cause(), Cause::NotFound, "{name}");
        assert!(error.to_string().contains("no task `7`"), "{name}: {error}");
    }
}

#[test]
fn a_task_waits_only_for_tasks_that_are_there_and_has_an_id_of_its_own() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.add(|_| new_task("1")).unwrap();
    assert_eq!(cause(list.add(|_| NewTask { blocked_by: vec![id("9")], ..new_task("2") })), Cause::NotFound);
    assert_eq!(cause(list.add(|_| new_task("1"))), Cause::State);
    assert_eq!(list.all().unwrap().len(), 1);
}

#[test]
fn an_agent_starts_closes_and_unblocks_no_blocked_task() {
    let scene = Scene::new();
    let task = blocked(&scene);
    for (name, act) in [START, DONE, FORCE, UNBLOCK] {
        let error = act(&mut scene.agent("s-1"), &task).unwrap_err();
        assert!(matches!(&error, WorkError::Task(TaskError::Blocked(id)) if *id == task), "{name}: {error}");
        assert_eq!(error.cause(), Cause::Refused, "{name}");
        assert_eq!(status(&scene.human(), &task), Status::Blocked, "{name}");
    }
}

#[test]
fn a_human_starts_closes_and_unblocks_a_blocked_task() {
    let scene = Scene::new();
    for ((name, act), expected) in
        [(START, Status::InProgress), (DONE, Status::Done), (FORCE, Status::Done), (UNBLOCK, Status::Pending)]
    {
        let task = blocked(&scene);
        act(&mut scene.human(), &task).unwrap();
        assert_eq!(status(&scene.human(), &task), expected, "{name}");
    }
    assert_eq!(scene.human().blocked().unwrap(), []);
}

#[test]
fn only_a_blocked_task_is_unblocked() {
    let scene = Scene::new();
    let mut list = scene.human();
    let task = add_plain(&mut list);
    for (expected, act) in [(Status::Pending, FIND.1), (Status::InProgress, START.1), (Status::Done, DONE.1)] {
        act(&mut list, &task).unwrap();
        let error = list.unblock(&task).unwrap_err();
        let is_told = matches!(&error, WorkError::Task(TaskError::NotBlocked { status, .. }) if *status == expected);
        assert!(is_told && error.cause() == Cause::State, "{error}");
    }
}

#[test]
fn a_block_is_kept_with_its_reason_and_a_note_with_the_lines_before_it() {
    let scene = Scene::new();
    let mut agent = scene.agent("s-1");
    let task = add_plain(&mut agent);
    agent.note(&task, "  first ").unwrap();
    agent.note(&task, "second").unwrap();
    agent.block(&task, " no key\n").unwrap();
    assert_eq!(agent.find(&task).unwrap().notes.as_deref(), Some("first\nsecond"));
    assert_eq!(scene.human().blocked().unwrap(), [Blocked { task, reason: Some("no key".into()) }]);
}

#[test]
fn a_done_task_is_not_blocked() {
    let scene = Scene::new();
    let mut list = scene.human();
    let task = add_plain(&mut list);
    done(&mut list, &task).unwrap();
    assert_eq!(cause(list.block(&task, "no key")), Cause::State);
    assert_eq!(status(&list, &task), Status::Done);
}

#[test]
fn a_task_that_waits_names_what_is_open_and_closes_after_that() {
    let scene = Scene::new();
    let mut list = scene.human();
    for number in ["1", "2", "3"] {
        list.add(|_| new_task(number)).unwrap();
    }
    list.add(|_| NewTask { blocked_by: vec![id("1"), id("2"), id("3")], ..new_task("4") }).unwrap();
    done(&mut list, &id("2")).unwrap();
    assert_eq!(list.ready().unwrap().iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["1", "3"]);

    let error = done(&mut list, &id("4")).unwrap_err();
    assert_eq!(error.to_string(), "task `4` depends on open tasks: `1`, `3`");
    assert_eq!(error.cause(), Cause::State);

    for number in ["1", "3", "4"] {
        done(&mut list, &id(number)).unwrap();
    }
    assert_eq!(status(&list, &id("4")), Status::Done);
}

#[test]
fn a_human_forces_a_task_that_waits_and_an_agent_forces_none() {
    let scene = Scene::new();
    let mut human = scene.human();
    human.add(|_| new_task("1")).unwrap();
    human.add(|_| NewTask { blocked_by: vec![id("1")], ..new_task("2") }).unwrap();

    let error = scene.agent("s-1").done(&id("2"), &forced()).unwrap_err();
    assert!(matches!(error, WorkError::Task(TaskError::ForcedByAgent(_))) && error.cause() == Cause::Refused);
    assert_eq!(status(&human, &id("2")), Status::Pending);

    let (class, passed, _) = looked(human.done(&id("2"), &forced()));
    assert_eq!((class, passed, status(&human, &id("2"))), (EvidenceClass::Forced, true, Status::Done));
}

#[test]
fn a_done_task_stays_done_with_its_evidence_when_it_is_closed_again() {
    let scene = Scene::new();
    let mut human = scene.human();
    let task = add_plain(&mut human);
    let first = looked(done(&mut human, &task));
    let CloseOutcome::Done { changed, evidence } = scene.agent("s-1").done(&task, &CloseOptions::default()).unwrap()
    else {
        panic!("{task} is not done");
    };
    assert_eq!((changed.from, changed.task.status, changed.earned), (Status::Done, Status::Done, false));
    assert_eq!(evidence.unwrap().note.as_deref(), Some(first.2.as_str()));
    let plan = human.find(&task).unwrap().plan;
    assert_eq!(human.ledger().evidence_of(&plan, &task).unwrap().len(), 1);
}

#[test]
fn a_humans_word_takes_the_place_of_a_claim_and_of_nothing_else() {
    let scene = Scene::new();
    let mut human = scene.human();
    let task = add_plain(&mut human);
    scene.write("new.txt", "work\n");
    done(&mut scene.agent("s-1"), &task).unwrap();
    assert_eq!(cause(scene.agent("s-1").done(&task, &forced())), Cause::Refused);
    for _ in 0..2 {
        let CloseOutcome::Done { changed, evidence } = human.done(&task, &forced()).unwrap() else {
            panic!("{task} is not done");
        };
        assert_eq!((changed.from, changed.earned), (Status::Done, false));
        assert_eq!(evidence.unwrap().class, EvidenceClass::Forced);
    }
    let plan = human.find(&task).unwrap().plan;
    assert_eq!(human.ledger().evidence_of(&plan, &task).unwrap().len(), 2, "a claim and one word");
}

#[test]
fn a_done_task_that_is_started_again_is_in_progress() {
    let scene = Scene::new();
    let mut list = scene.human();
    let task = add_plain(&mut list);
    done(&mut list, &task).unwrap();
    let changed = list.start(&task).unwrap();
    assert_eq!((changed.from, changed.task.status), (Status::Done, Status::InProgress));
}

#[test]
fn a_task_of_a_run_is_its_runners_and_while_it_is_paused_a_humans() {
    for (state, human_may) in [(RunState::Running, false), (RunState::Paused, true)] {
        let scene = Scene::new();
        let tasks = [START, DONE, FORCE, BLOCK].map(|act| (act, add_plain(&mut scene.human())));
        let run = scene.begin_run(state);
        for ((name, act), task) in tasks {
            let is_in_run = |error: &WorkError| {
                matches!(error, WorkError::Task(TaskError::InRun { run: of, .. }) if *of == run)
                    && error.cause() == Cause::Refused
            };

            let error = act(&mut scene.agent("s-1"), &task).unwrap_err();
            assert!(is_in_run(&error), "an agent, {state:?}, {name}: {error}");
            assert_eq!(status(&scene.human(), &task), Status::Pending);

            match act(&mut scene.human(), &task) {
                Ok(()) => assert!(human_may, "a human, {state:?}, {name}"),
                Err(error) => assert!(!human_may && is_in_run(&error), "a human, {state:?}, {name}: {error}"),
            }
        }
    }
}

#[test]
fn no_task_is_closed_from_within_a_check() {
    let scene = Scene::new();
    let task = add_plain(&mut scene.human());
    let inside = Environment { check: Some("3".into()), ..scene.environment() };
    for (name, act) in [DONE, FORCE] {
        let error = act(&mut scene.human_with(inside.clone()), &task).unwrap_err();
        assert!(matches!(&error, WorkError::Task(TaskError::InsideCheck { checked, .. }) if checked == "3"), "{name}");
        assert_eq!(error.cause(), Cause::Refused, "{name}");
    }
    assert_eq!(status(&scene.human(), &task), Status::Pending);
}

#[test]
fn a_task_is_its_adders_and_only_a_humans_earns() {
    let scene = Scene::new();
    for (mut list, by) in [(scene.human(), AddedBy::Human), (scene.agent("s-1"), AddedBy::Agent)] {
        let task = add_plain(&mut list);
        assert_eq!(list.find(&task).unwrap().added_by, by);
        scene.write("new.txt", by.as_str());
        let CloseOutcome::Done { changed, .. } = done(&mut list, &task).unwrap() else { panic!("{task} is not done") };
        assert_eq!(changed.earned, by == AddedBy::Human);
    }
}

#[test]
fn the_agent_that_touches_a_task_owns_the_plan_and_the_one_that_starts_it_takes_it_over() {
    let scene = Scene::new();
    let task = add_plain(&mut scene.human());
    let owner = || scene.human().view().unwrap().unwrap().owner.map(|owner| owner.as_str().to_owned());
    assert_eq!(owner(), None);
    add_plain(&mut scene.agent("s-1"));
    assert_eq!(owner().as_deref(), Some("s-1"));
    add_plain(&mut scene.agent("s-2"));
    assert_eq!(owner().as_deref(), Some("s-1"));
    scene.agent("s-2").start(&task).unwrap();
    assert_eq!(owner().as_deref(), Some("s-2"));
}

#[test]
fn the_task_in_progress_comes_before_the_first_that_is_ready() {
    let scene = Scene::new();
    let mut list = scene.human();
    for number in ["1", "2"] {
        list.add(|_| new_task(number)).unwrap();
    }
    let next = |list: &TaskList| list.next().unwrap().map(|task| task.id.as_str().to_owned());
    assert_eq!(next(&list).as_deref(), Some("1"));
    list.start(&id("2")).unwrap();
    assert_eq!(next(&list).as_deref(), Some("2"));
    done(&mut list, &id("2")).unwrap();
    done(&mut list, &id("1")).unwrap();
    assert_eq!(next(&list), None);
}

#[test]
fn a_caller_is_an_agent_inside_a_tool_call_and_a_human_in_a_run() {
    let scene = Scene::new();
    let agent = scene.agent("s-1");
    assert_eq!(
        (agent.caller().by, agent.caller().session.clone()),
        (AddedBy::Agent, scene.agent_environment("s-1").session)
    );
    assert_eq!((scene.human().caller().by, &scene.human().caller().session), (AddedBy::Human, &None));
    assert!(Caller::behind(None).is_agent() && !Caller::human().is_agent());
}
