//! Lists that are kept elsewhere: followed, told, and what is wrong with them.

use std::fs;
use std::io;
use std::time::Duration;

use steadfast_check::definition::DefineError;
use steadfast_model::Opening;
use steadfast_observe::ProgramFailed;
use steadfast_store::ConfigError;
use steadfast_work::tracker::TrackerError;
use steadfast_work::{Cause, TaskError, WorkError};

use crate::scene::{Scene, cause, done};

const FILE: &str = ".tdd-progress.md";
const FOLLOWED: &str = "[ledger]\nsource = \"tdd-progress\"\n";

#[test]
fn a_tracker_says_whether_its_list_or_the_machine_is_at_fault() {
    let broken = || io::Error::other("broken");
    let checks = |source| TrackerError::Checks(TaskError::Undefined { command: "make".into(), source });
    let config = ConfigError::Unreadable { path: "steadfast.toml".into(), source: broken() };
    let late = ProgramFailed::Late { call: "bd list".into(), budget: Duration::ZERO };
    for (error, expected) in [
        (TrackerError::NoEpic("bd-1".into()), Cause::NotFound),
        (TrackerError::Emptied { open: 2 }, Cause::State),
        (TrackerError::Lint("no title".into()), Cause::State),
        (TrackerError::Gated(FILE.into()), Cause::Refused),
        (checks(DefineError::TooLarge("check.sh".into())), Cause::State),
        (checks(DefineError::File { path: "check.sh".into(), source: broken() }), Cause::Infrastructure),
        (TrackerError::NoProgram, Cause::Infrastructure),
        (TrackerError::Program(late), Cause::Infrastructure),
        (TrackerError::Unreadable { call: "bd list".into(), part: "x".into() }, Cause::Infrastructure),
        (TrackerError::NoTime, Cause::Infrastructure),
        (TrackerError::Config(config), Cause::Infrastructure),
        (TrackerError::File { path: FILE.into(), source: broken() }, Cause::Infrastructure),
        (TrackerError::Lock(broken()), Cause::Infrastructure),
    ] {
        let said = error.to_string();
        assert_eq!(error.cause(), expected, "{said}");
        let outer = WorkError::Tracker { name: "beads".into(), source: error };
        assert_eq!((outer.cause(), outer.to_string()), (expected, format!("cannot read beads: {said}")));
    }
}

#[test]
fn a_list_of_slices_is_followed_and_what_is_wrong_with_it_is_told() {
    const PLAN: &str = "# TDD Progress: Sign in\n\n## Slice 1: Guard\n\n**Status:** done\n\n## Slice 2: Lock\n\n\
                        **Status:** pending\n**Depends on:** Slice 1\n";
    let scene = Scene::with_settings(FOLLOWED);
    let load = || {
        let mut list = scene.human();
        let tracker = list.named_tracker().unwrap();
        list.load_tracked(tracker)
    };
    assert_eq!(cause(load()), Cause::NotFound);

    fs::create_dir(scene.root().join(FILE)).unwrap();
    let error = load().unwrap_err();
    assert!(matches!(&error, WorkError::Tracker { source: TrackerError::File { .. }, .. }), "{error}");
    assert_eq!(error.cause(), Cause::Infrastructure);
    fs::remove_dir(scene.root().join(FILE)).unwrap();

    scene.write(FILE, PLAN);
    let plan = load().unwrap();
    assert_eq!(scene.human().open_of(&plan).unwrap(), (1, 2));

    scene.write(FILE, "");
    let error = load().unwrap_err();
    assert!(matches!(&error, WorkError::Tracker { source: TrackerError::Emptied { open: 1 }, .. }), "{error}");

    scene.human().lock(None).unwrap();
    let mut agent = scene.agent("s-1");
    let tracker = agent.named_tracker().unwrap();
    assert_eq!(cause(agent.load_tracked(tracker)), Cause::Refused);
}

#[test]
fn a_closed_task_is_told_to_the_list_it_comes_from_unless_a_gate_seals_it() {
    let scene = Scene::with_settings(FOLLOWED);
    let plan = |status: &str| format!("# TDD Progress: Sign in\n\n## Slice 1: Guard\n\n**Status:** {status}\n");
    scene.write(FILE, &plan("pending"));
    let mut list = scene.human();
    let tracker = list.named_tracker().unwrap();
    list.load_tracked(tracker).unwrap();
    list.take_lines();
    let task = list.all().unwrap()[0].id.clone();

    list.lock(None).unwrap();
    done(&mut list, &task).unwrap();
    list.tell_tracker();
    let said = list.take_lines();
    assert!(said.len() == 1 && said[0].contains("1 status is not sent yet"), "{said:?}");
    assert_eq!(scene.read(FILE).unwrap(), plan("pending"));

    list.open(&list.gates(), &Opening::Unlocked).unwrap();
    list.tell_tracker();
    assert_eq!((list.take_lines(), scene.read(FILE).unwrap()), (Vec::new(), plan("done")));
}
