//! A request on its way through the stages of a loop, and what each stage asks for.

use std::sync::atomic::AtomicBool;

use steadfast_model::{Autonomy, Loop, LoopEnd, RunState, Scores, Shape, Stage};
use steadfast_store::ledger::LedgerError;
use steadfast_work::loops::{Author, Loops, Request, folder};
use steadfast_work::task_list::{RunTasks, StatedEnd};
use steadfast_work::{Cause, LoopError, Repository, WorkError};

use crate::scene::{Scene, cause, done, id, new_task, plain_plan};

const CLEAR: &str = "Add `--since DATE` to `tool log` in src/log.rs. `tool log --since 2026-01-01` prints 3 lines. \
                     Don't touch the schema. Finished when `make check` exits 0.";
const UNCLEAR: &str = "make it better";

fn request(text: &str) -> Request {
    Request { text: text.into(), spec: None, plan: None, author: Author::Human }
}

/// A request whose spec says this of its result, and no more.
fn spec(scene: &Scene, text: &str) -> Request {
    scene.write("SPEC.md", text);
    Request::of_file(&scene.root().join("SPEC.md"), &scene.root(), &scene.environment()).unwrap()
}

fn begin<'a>(repository: &'a Repository, text: &str) -> (Loops<'a>, Loop) {
    let mut loops = Loops::of(repository).unwrap();
    let looped = loops.begin(&request(text)).unwrap().looped;
    (loops, looped)
}

/// Why a loop did not move.
fn stopped(result: Result<Loop, WorkError>) -> LoopError {
    match result {
        Err(WorkError::Loop(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Takes a clear request with a plan of two tasks to this stage.
fn taken_to<'a>(scene: &Scene, repository: &'a Repository, stage: Stage) -> (Loops<'a>, Loop) {
    let mut list = scene.human();
    list.load(&plain_plan(&["1", "2"]), "SPEC.md").unwrap();
    let (mut loops, mut looped) = begin(repository, CLEAR);
    while looped.stage != stage {
        let next = looped.stage.next().unwrap();
        match next {
            Stage::Decompose => looped = loops.shape(&looped, &request(CLEAR)).unwrap(),
            Stage::Review => ["1", "2"].iter().for_each(|task| drop(done(&mut list, &id(task)).unwrap())),
            _ => {}
        }
        looped = loops.advance(&looped, next).unwrap();
    }
    (loops, looped)
}

#[test]
fn a_request_is_a_file_or_words() {
    let scene = Scene::new();
    let read = |given: &str| Request::read(given, &scene.root(), &scene.environment());
    assert_eq!(read("  make it so ").unwrap().text, "make it so");
    assert!(matches!(read("missing.md"), Err(WorkError::Loop(LoopError::NoFile(name))) if name == "missing.md"));
    assert_eq!(cause(read("missing.md")), Cause::NotFound);
    assert!(matches!(read(" \n"), Err(WorkError::Loop(LoopError::EmptyRequest))));
    assert_eq!(cause(read("")), Cause::Input);
    scene.write("SPEC.md", "# Login\n\nPeople log in.\n");
    let of_file = read(scene.root().join("SPEC.md").to_str().unwrap()).unwrap();
    assert_eq!((of_file.spec.as_deref(), of_file.title().as_str()), (Some("SPEC.md"), "Login"));
}

#[test]
fn a_loop_begins_with_its_scores_its_commit_and_its_pages() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (loops, looped) = begin(&repository, CLEAR);
    assert_eq!((looped.stage, looped.is_unclear(), looped.base.is_some()), (Stage::Intent, false, true));
    assert!(looped.scores.is_some_and(|Scores { spec, .. }| spec >= 5));
    assert_eq!(loops.current().unwrap(), looped);
    assert!(folder(&scene.root(), &looped.id).join("workflow-state.json").is_file());
}

#[test]
fn an_unclear_request_stays_at_its_intent() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = begin(&repository, UNCLEAR);
    assert!(looped.is_unclear());
    let error = stopped(loops.advance(&looped, Stage::Shape));
    assert!(matches!(error, LoopError::Unclear { score } if score < 5), "{error}");
    assert_eq!((error.cause(), loops.current().unwrap().stage), (Cause::Refused, Stage::Intent));
}

#[test]
fn a_human_takes_an_unclear_request_with_the_least_freedom() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = begin(&repository, UNCLEAR);
    let taken = loops.override_unclear(&looped, "we talked about it").unwrap();
    assert_eq!(
        (taken.autonomy(), taken.overridden.as_deref()),
        (Some(Autonomy::Colleague), Some("we talked about it"))
    );
    assert_eq!(loops.advance(&taken, Stage::Shape).unwrap().stage, Stage::Shape);
}

#[test]
fn a_clearer_request_takes_the_place_of_an_unclear_one_and_of_no_other() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, waiting) = begin(&repository, UNCLEAR);
    let begun = loops.begin(&request(CLEAR)).unwrap();
    assert_eq!(begun.instead_of.as_ref(), Some(&waiting.id));
    assert_eq!(loops.ledger().find_loop(&waiting.id).unwrap().ended, Some(LoopEnd::Archived));

    let error = loops.begin(&request(CLEAR)).unwrap_err();
    assert!(matches!(&error, WorkError::Ledger(LedgerError::InLoop { id }) if *id == begun.looped.id), "{error}");
    assert_eq!((error.cause(), loops.current().unwrap()), (Cause::State, begun.looped));
}

#[test]
fn a_stage_follows_the_one_before_it() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = begin(&repository, CLEAR);
    for stage in Stage::ALL {
        for to in Stage::ALL.into_iter().filter(|to| !stage.can_become(*to)) {
            let error = stopped(loops.advance(&Loop { stage, ..looped.clone() }, to));
            let is_told = matches!(error, LoopError::OutOfOrder { from, to: asked } if (from, asked) == (stage, to));
            assert!(is_told && error.cause() == Cause::Refused, "{stage:?} {to:?}: {error}");
        }
    }
    assert_eq!(loops.current().unwrap(), looped);
}

#[test]
fn nothing_is_decomposed_before_it_has_a_shape() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = begin(&repository, CLEAR);
    let looped = loops.advance(&looped, Stage::Shape).unwrap();
    let error = stopped(loops.advance(&looped, Stage::Decompose));
    assert!(matches!(error, LoopError::NoShape) && error.cause() == Cause::Refused);
    let looped = loops.shape(&looped, &request(CLEAR)).unwrap();
    assert_eq!(loops.advance(&looped, Stage::Decompose).unwrap().stage, Stage::Decompose);
}

#[test]
fn nothing_is_executed_without_a_plan() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = begin(&repository, CLEAR);
    let looped = Loop { stage: Stage::Decompose, ..looped };
    let error = stopped(loops.advance(&looped, Stage::Executing));
    assert!(matches!(error, LoopError::NoPlan { spec: None }) && error.cause() == Cause::Refused);
}

#[test]
fn a_loop_executes_the_plan_of_its_spec_before_that_of_the_checkout() {
    let scene = Scene::new();
    let mut list = scene.human();
    let of_spec = list.load(&plain_plan(&["1"]), "SPEC.md").unwrap().plan().clone();
    list.load(&plain_plan(&["1"]), "OTHER.md").unwrap();
    let repository = scene.repository();
    let (mut loops, mut looped) = begin(&repository, CLEAR);
    looped = loops.advance(&looped, Stage::Shape).unwrap();
    looped = loops.shape(&looped, &spec(&scene, CLEAR)).unwrap();
    looped = loops.advance(&looped, Stage::Decompose).unwrap();
    assert_eq!(loops.advance(&looped, Stage::Executing).unwrap().plan, Some(of_spec));
}

#[test]
fn a_review_waits_for_every_task_and_a_blocked_one_is_closed() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = taken_to(&scene, &repository, Stage::Executing);
    let mut list = scene.human();
    for (close, left) in [("1", 2), ("2", 1)] {
        let error = stopped(loops.advance(&looped, Stage::Review));
        let is_told = matches!(error, LoopError::OpenTasks { open, all: 2 } if open == left);
        assert!(is_told && error.cause() == Cause::Refused, "{error}");
        match close {
            "1" => drop(done(&mut list, &id(close)).unwrap()),
            _ => drop(list.block(&id(close), "no key").unwrap()),
        }
    }
    assert_eq!(loops.advance(&looped, Stage::Review).unwrap().stage, Stage::Review);
}

#[test]
fn a_review_goes_back_to_work_only_where_something_is_open() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = taken_to(&scene, &repository, Stage::Review);
    let error = stopped(loops.advance(&looped, Stage::Executing));
    assert!(matches!(error, LoopError::NothingOpen) && error.cause() == Cause::Refused);
    scene.human().add(|_| new_task("3")).unwrap();
    assert_eq!(loops.advance(&looped, Stage::Executing).unwrap().stage, Stage::Executing);
}

#[test]
fn no_word_completes_a_loop() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = taken_to(&scene, &repository, Stage::Review);
    let error = stopped(loops.advance(&looped, Stage::Complete));
    assert!(matches!(error, LoopError::NotByWord) && error.cause() == Cause::Refused);
    assert_eq!(loops.current().unwrap().stage, Stage::Review);
}

#[test]
fn a_loop_that_moved_meanwhile_is_not_moved_again() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = begin(&repository, CLEAR);
    loops.advance(&looped, Stage::Shape).unwrap();
    let error = stopped(loops.advance(&looped, Stage::Shape));
    assert!(matches!(error, LoopError::Moved) && error.cause() == Cause::State);
}

#[test]
fn an_archived_loop_is_the_last_one_and_not_under_way() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = begin(&repository, CLEAR);
    let archived = loops.archive(&looped).unwrap();
    assert_eq!(archived.ended, Some(LoopEnd::Archived));
    assert_eq!((loops.unfinished().unwrap(), loops.last().unwrap()), (None, Some(archived)));
    assert_eq!(cause(loops.current()), Cause::NotFound);
    assert_eq!(cause(loops.archive(&looped)), Cause::State);
    loops.begin(&request(CLEAR)).unwrap();
}

#[test]
fn what_a_request_forbids_stays_in_the_shape_whatever_a_spec_says() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = taken_to(&scene, &repository, Stage::Shape);
    let forbidden = "Don't touch the schema".to_owned();
    assert_eq!(looped.asked.must_nots, [forbidden.as_str()]);
    let text =
        "# Since\n\nAdd a flag.\n\n## Constraints\n- No new dependency.\n\n## Phase 1: Log\n\n- [ ] 1.1 Add it\n";
    let shaped = loops.shape(&looped, &spec(&scene, text)).unwrap();
    let Shape { must_nots, .. } = shaped.shape.clone().unwrap();
    assert_eq!(must_nots, [forbidden.clone(), "No new dependency".into()]);
    assert_eq!(shaped.spec.as_deref(), Some("SPEC.md"));
    let page = folder(&scene.root(), &shaped.id).join("SHAPE.md");
    assert!(std::fs::read_to_string(page).unwrap().contains("## Must not\n- Don't touch the schema\n"));

    // A shape that is kept again is the request's and the new spec's.
    let again = loops.shape(&shaped, &request(CLEAR)).unwrap();
    assert_eq!(again.shape.unwrap().must_nots, [forbidden]);
}

#[test]
fn whoever_works_on_the_plan_of_a_loop_is_held_to_what_it_forbids_until_it_is_over() {
    let scene = Scene::new();
    let repository = scene.repository();
    let (mut loops, looped) = taken_to(&scene, &repository, Stage::Executing);
    let must_nots = || scene.human().plan_row().unwrap().head.must_nots;
    assert_eq!(must_nots(), ["Don't touch the schema"]);
    loops.archive(&looped).unwrap();
    assert_eq!(must_nots(), Vec::<String>::new());
}

#[test]
fn a_task_that_is_added_while_a_loop_is_worked_on_belongs_to_its_plan_unless_a_run_does() {
    for (stage, run, belongs) in [
        (Stage::Decompose, None, true),
        (Stage::Executing, None, true),
        (Stage::Review, None, true),
        (Stage::Executing, Some(RunState::Running), false),
    ] {
        let scene = Scene::new();
        let repository = scene.repository();
        let (_loops, looped) = taken_to(&scene, &repository, stage);
        run.map(|state| scene.begin_run(state));
        let plan = scene.human().add(|_| new_task("9")).unwrap().plan;
        assert_eq!(plan.as_str() == "login", belongs, "{stage:?} {run:?}");
        assert!(looped.plan.is_none_or(|of_loop| (of_loop == plan) == belongs), "{stage:?} {run:?}");
    }
}

/// What the request of this author has run at the end.
fn asked_by(author: Author) -> Vec<String> {
    let scene = Scene::new();
    let repository = scene.repository();
    let request = Request { author, ..request(CLEAR) };
    let looped = Loops::of(&repository).unwrap().begin(&request).unwrap().looped;
    looped.asked.checks.into_iter().map(|check| check.command).collect()
}

#[test]
fn what_an_agent_passes_on_is_run_at_the_end_only_if_a_human_of_its_session_said_it() {
    let heard = |text: &str| Author::Agent { heard: vec!["Hello.".into(), text.into()] };
    assert_eq!(asked_by(Author::Human), ["make check"]);
    assert_eq!(asked_by(heard("/steadfast-loop Add it. Finished when `make check` exits 0.")), ["make check"]);
    assert_eq!(asked_by(heard("Add a flag to the log.")), Vec::<String>::new());
}

const STATED: &str = "# Since\n\nAdd a flag.\n\n## Definition of done\n- `make check` passes\n\n## Phase 1: Log\n\n\
                      - [ ] 1.1 Add it\n  - Verify: `true`\n";

#[test]
fn the_checks_of_a_spec_are_its_plans_if_a_human_loaded_it_and_the_loop_has_them() {
    let scene = Scene::new();
    scene.write("Makefile", "check:\n\ttrue\n");
    let repository = scene.repository();
    let plan = spec(&scene, STATED).plan.unwrap();
    let (mut loops, looped) = begin(&repository, UNCLEAR);
    let looped = loops.override_unclear(&looped, "a trial").unwrap();
    let stated = |looped: &Loop, loops: &Loops<'_>| {
        let checks = loops.stated_checks(looped).unwrap();
        checks.into_iter().map(|check| (check.command, check.frozen.is_some())).collect::<Vec<_>>()
    };
    for (mut list, expected) in [(scene.agent("s"), vec![]), (scene.human(), vec![("make check".to_owned(), true)])] {
        let loaded = list.load(&plan, "SPEC.md").unwrap();
        let with_plan = Loop { plan: Some(loaded.plan().clone()), ..looped.clone() };
        assert_eq!(stated(&with_plan, &loops), expected);
    }
}

#[test]
fn a_stated_check_that_runs_something_else_by_now_is_for_a_human() {
    let scene = Scene::new();
    scene.write("Makefile", "check:\n\tfalse\n");
    let plan = spec(&scene, STATED).plan.unwrap();
    let loaded = scene.human().load(&plan, "SPEC.md").unwrap();
    let check = scene.ledger().stated_checks(loaded.plan()).unwrap().remove(0);
    scene.write("Makefile", "check:\n\ttrue\n");
    let tasks = RunTasks::of(&scene.repository(), "r".into());
    let ended = tasks.check_stated(&scene.root(), &check, &[], &AtomicBool::new(false)).unwrap();
    let difference = "Makefile recipe `check` was `false`, is `true`".to_owned();
    assert_eq!(ended, StatedEnd::Changed { difference });
}
