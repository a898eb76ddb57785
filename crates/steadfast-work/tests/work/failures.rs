//! What kind of no an error is: of the work, of who asks, or of the machine.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use steadfast_hook::EventError;
use steadfast_model::{LoopId, PlanId, RunId, SessionId, Stage, Status};
use steadfast_store::ledger::{Ledger, LedgerError, NewTask};
use steadfast_store::{ConfigError, GrantError, SigningError};
use steadfast_work::tracker::TrackerError;
use steadfast_work::{
    ApprovalError, Cause, DecisionError, GateError, PlanError, Repository, RepositoryError, TaskError, TaskList,
    WorkError, chain, spec_file,
};

use crate::scene::{Change, Scene, add_plain, cause, done, id, plain_plan, status};

/// Whether it is the error that is meant.
type Meant = fn(&LedgerError) -> bool;

/// A human's list that does not wait for other writers.
fn impatient(scene: &Scene) -> TaskList {
    let ledger = Ledger::open_within(&scene.place().state, Duration::from_millis(1)).unwrap();
    with_ledger(scene, ledger)
}

fn with_ledger(scene: &Scene, ledger: Ledger) -> TaskList {
    TaskList::of_run(scene.place(), scene.environment(), "mark", Some(ledger)).unwrap()
}

/// Whatever is changed in a list with task 1 fails, and says nothing about the work.
fn fails_by_the_machine(list: &mut TaskList, expected: Meant) {
    let task = id("1");
    let results = [
        ("add", list.add(|by| NewTask::new("Do it", by)).map(drop)),
        ("start", list.start(&task).map(drop)),
        ("note", list.note(&task, "a line").map(drop)),
        ("block", list.block(&task, "no key").map(drop)),
        ("done", done(list, &task).map(drop)),
        ("decide", list.decide("Argon2", "it is kept").map(drop)),
        ("load", list.load(&plain_plan(&["1", "2"]), "SPEC.md").map(drop)),
    ];
    for (name, result) in results {
        let error = result.unwrap_err();
        assert!(matches!(&error, WorkError::Ledger(error) if expected(error)), "{name}: {error:?}");
        assert_eq!(error.cause(), Cause::Infrastructure, "{name}");
    }
}

#[test]
fn a_ledger_that_another_process_writes_to_is_a_failure_of_the_machine() {
    let scene = Scene::new();
    add_plain(&mut scene.human());
    let other = scene.connect();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    fails_by_the_machine(&mut impatient(&scene), |error| matches!(error, LedgerError::Locked { .. }));
    // What only looks still works, and says what is not there.
    assert_eq!(status(&impatient(&scene), &id("1")), Status::Pending);
    assert_eq!(cause(impatient(&scene).find(&id("7"))), Cause::NotFound);
    other.execute_batch("ROLLBACK").unwrap();
    done(&mut impatient(&scene), &id("1")).unwrap();
}

#[test]
fn a_ledger_that_can_only_be_read_is_a_failure_of_the_machine() {
    let scene = Scene::new();
    add_plain(&mut scene.human());
    let ledger = Ledger::open_read_only(&scene.place().state).unwrap().unwrap();
    let mut list = with_ledger(&scene, ledger);
    fails_by_the_machine(&mut list, |error| matches!(error, LedgerError::ReadOnly { .. }));
    assert_eq!(cause(list.find(&id("7"))), Cause::NotFound);
}

#[test]
fn a_ledger_that_lacks_a_table_is_a_failure_of_the_machine() {
    let scene = Scene::new();
    let mut list = scene.human();
    add_plain(&mut list);
    scene.connect().execute_batch("PRAGMA foreign_keys = OFF; DROP TABLE task").unwrap();
    fails_by_the_machine(&mut list, |error| matches!(error, LedgerError::Failed { .. }));
    assert_eq!(cause(list.find(&id("7"))), Cause::Infrastructure);
}

#[test]
fn a_ledger_that_cannot_be_opened_is_a_failure_of_the_machine() {
    let cases: [(&str, Change, Meant); 4] = [
        (
            "damaged",
            |scene| fs::write(scene.place().state.join("state.db"), "no database ".repeat(1_000)).unwrap(),
            |error| matches!(error, LedgerError::Damaged { .. }),
        ),
        (
            "a folder",
            |scene| {
                fs::remove_file(scene.place().state.join("state.db")).unwrap();
                fs::create_dir(scene.place().state.join("state.db")).unwrap();
            },
            |error| matches!(error, LedgerError::Unreachable { .. }),
        ),
        (
            "a folder that is a file",
            |scene| {
                fs::remove_dir_all(scene.place().state).unwrap();
                fs::write(scene.place().state, "no folder").unwrap();
            },
            |error| matches!(error, LedgerError::Unreachable { .. }),
        ),
        (
            "newer",
            |scene| scene.connect().pragma_update(None, "user_version", 9_999).unwrap(),
            |error| matches!(error, LedgerError::Newer { found: 9_999, .. }),
        ),
    ];
    for (name, spoil, expected) in cases {
        let scene = Scene::with_closed_ledger();
        spoil(&scene);
        let error = TaskList::of_run(scene.place(), scene.environment(), "mark", None).unwrap_err();
        assert!(matches!(&error, WorkError::Ledger(error) if expected(error)), "{name}: {error:?}");
        assert_eq!(error.cause(), Cause::Infrastructure, "{name}");
    }
}

#[test]
fn the_errors_of_the_ledger_that_are_the_machines_are_told_from_the_others() {
    use LedgerError as E;
    let (path, plan, task) = (|| PathBuf::from("state.db"), || PlanId::new("p"), || id("1"));
    let (run, looped, source) = (|| RunId::new("r"), || LoopId::new("l"), || Box::new(io::Error::other("broken")));
    let cases = [
        (
            Cause::Infrastructure,
            vec![
                E::Newer { path: path(), found: 2, known: 1 },
                E::Older { path: path(), found: 1, known: 2 },
                E::Damaged { path: path(), source: source() },
                E::Locked { path: path() },
                E::Full { path: path() },
                E::ReadOnly { path: path() },
                E::Unreachable { path: path(), source: source() },
                E::Failed { path: path(), source: source() },
                E::Gap { session: SessionId::new("s"), expected: 1, found: 3 },
            ],
        ),
        (
            Cause::NotFound,
            vec![
                E::UnknownPlan { plan: plan() },
                E::UnknownTask { plan: plan(), task: task(), near: Vec::new() },
                E::UnknownDependency { plan: plan(), dependency: task(), near: Vec::new() },
                E::UnknownLearning { id: 1 },
                E::UnknownRun { run: run() },
                E::UnknownUnit { run: run(), unit: task() },
                E::UnknownDispatch { run: run(), number: 1 },
                E::UnknownLoop { id: looped() },
                E::UnknownFinding { id: looped(), finding: 1 },
            ],
        ),
        (
            Cause::Input,
            vec![
                E::TooLong { what: "a title", length: 2, bound: 1 },
                E::TooMany { what: "files", count: 2, bound: 1 },
                E::LearningFiles { count: 2, bound: 1 },
            ],
        ),
        (
            Cause::State,
            vec![
                E::DuplicateTask { plan: plan(), task: task() },
                E::OpenLearnings { bound: 1 },
                E::IllegalMove { task: task(), from: Status::Done, to: Status::Blocked },
                E::StaleFence { task: task(), token: 1 },
                E::InRun { plan: plan(), run: run() },
                E::MergedBefore { unit: task(), merged: "c0ffee".into() },
                E::LeftOpen { unit: task(), task: task() },
                E::InLoop { id: looped() },
                E::LoopIsOver { id: looped() },
                E::StageSkipped { from: Stage::Intent, to: Stage::Review },
            ],
        ),
    ];
    for (expected, errors) in cases {
        for error in errors {
            let said = error.to_string();
            let error = WorkError::from(error);
            assert_eq!(error.cause(), expected, "{said}");
        }
    }
}

#[test]
fn an_error_of_a_session_or_a_tracker_has_the_cause_of_what_is_in_it() {
    let locked = || LedgerError::Locked { path: "state.db".into() };
    let unknown = || LedgerError::UnknownPlan { plan: PlanId::new("p") };
    let of_tracker = |source| WorkError::Tracker { name: "beads".into(), source };
    for (error, expected) in [
        (WorkError::from(EventError::Ledger(locked())), Cause::Infrastructure),
        (WorkError::from(EventError::Ledger(unknown())), Cause::NotFound),
        (WorkError::from(EventError::Gate(io::Error::other("broken"))), Cause::Infrastructure),
        (of_tracker(TrackerError::Ledger(locked())), Cause::Infrastructure),
        (of_tracker(TrackerError::Ledger(unknown())), Cause::NotFound),
    ] {
        assert_eq!(error.cause(), expected, "{error}");
    }
}

#[test]
fn an_error_of_the_disk_or_the_settings_says_nothing_about_the_work() {
    let broken = || io::Error::other("broken");
    let errors: [WorkError; 8] = [
        GateError::NotClosed(broken()).into(),
        GateError::NotOpened { folder: "gates".into(), source: broken() }.into(),
        DecisionError::NotWritten { path: "login.md".into(), source: broken() }.into(),
        PlanError::NotKept(broken()).into(),
        ApprovalError::Grant(GrantError::Gate(broken())).into(),
        ApprovalError::Signing(SigningError::Ssh(broken())).into(),
        TaskError::NotStarted { task: id("1"), source: broken() }.into(),
        TaskError::DiskFull { task: id("1"), folder: "/".into() }.into(),
    ];
    for error in errors {
        assert_eq!(error.cause(), Cause::Infrastructure, "{error}");
    }
}

#[test]
fn settings_that_cannot_be_read_are_a_failure_of_the_machine() {
    let scene = Scene::new();
    let mut list = scene.human();
    let task = add_plain(&mut list);
    scene.write("steadfast.toml", "[approval\n");
    for error in [list.start(&task).unwrap_err(), list.lock(None).unwrap_err(), list.may_resume().unwrap_err()] {
        assert!(matches!(error, WorkError::Config(ConfigError::Invalid { line: 1, .. })), "{error}");
        assert_eq!(error.cause(), Cause::Infrastructure);
    }
    assert_eq!(status(&list, &task), Status::Pending);
}

#[test]
fn a_folder_that_is_not_set_up_is_not_found() {
    let scene = Scene::new();
    fs::create_dir(scene.beside("other")).unwrap();
    let mut environment = scene.environment();
    environment.cwd = scene.beside("other");
    let error = TaskList::here(environment, "").unwrap_err();
    assert!(matches!(&error, WorkError::Repository(RepositoryError::NotSetUp { .. })), "{error}");
    assert_eq!(error.cause(), Cause::NotFound);
}

#[test]
fn a_path_is_named_from_the_root_of_the_checkout() {
    let scene = Scene::new();
    scene.write("src/code.rs", "");
    let mut environment = scene.environment();
    environment.cwd = scene.root().join("src");
    let repository = Repository::at(scene.place(), environment);
    let absolute = scene.root().join("src/code.rs");
    for (given, expected) in [
        ("code.rs", "src/code.rs"),
        ("./new.rs", "src/new.rs"),
        ("../README.md", "README.md"),
        ("..//src", "src/"),
        ("deep/", "src/deep/"),
        (absolute.to_str().unwrap(), "src/code.rs"),
        ("/etc/hosts", "/etc/hosts"),
    ] {
        assert_eq!(repository.path(given).unwrap(), expected, "{given}");
    }
    assert_eq!(cause(repository.path(" ").map_err(WorkError::from)), Cause::Input);
}

#[test]
fn a_spec_that_is_not_there_is_not_found_and_one_with_mistakes_names_them_all() {
    let scene = Scene::new();
    let compile = |name: &str| spec_file::compile(&scene.environment(), &scene.root().join(name));
    for name in ["missing.md", "."] {
        assert_eq!(cause(compile(name)), Cause::NotFound, "{name}");
    }
    scene.write(
        "SPEC.md",
        "# F\n\n## Phase 1: P\n\n- [ ] 1.1 A\n  - Blocked by: 8.8\n- [ ] 1.2 B\n  - Blocked by: 9.9\n",
    );
    let error = compile("SPEC.md").unwrap_err();
    assert_eq!(error.cause(), Cause::State);
    assert!(["8.8", "9.9"].iter().all(|name| error.to_string().contains(name)), "{error}");
}

#[test]
fn a_chain_of_causes_says_each_once() {
    let inner = LedgerError::Damaged { path: "state.db".into(), source: Box::new(io::Error::other("no database")) };
    assert_eq!(chain(&WorkError::from(inner)), "the ledger `state.db` is damaged: no database");
    let source = TrackerError::File { path: "x".into(), source: io::Error::other("broken") };
    let twice = WorkError::Tracker { name: "it".into(), source };
    assert_eq!(chain(&twice), "cannot read it: cannot read or write `x`: broken");
}
