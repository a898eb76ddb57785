//! Decisions: in the ledger, and in a file that people write in as well.

use std::fs;

use steadfast_model::{AddedBy, Check, Status};
use steadfast_store::read_log;
use steadfast_work::{Cause, DecisionError, TaskList, WorkError};

use crate::scene::{Change, Scene, add_plain, cause, done, id, plain_plan, plan, planned, status};

const FILE: &str = ".steadfast/decisions/login.md";

fn loaded(scene: &Scene) -> TaskList {
    let mut list = scene.human();
    list.load(&plain_plan(&["1", "2"]), "SPEC.md").unwrap();
    list
}

/// What was decided, why and by whom.
fn decided(list: &TaskList) -> Vec<(String, String, AddedBy)> {
    let plan = list.plan_row().unwrap().id;
    let decisions = list.ledger().decisions(&plan).unwrap();
    decisions.into_iter().map(|decision| (decision.what, decision.why, decision.added_by)).collect()
}

fn entry(what: &str, why: &str, by: AddedBy) -> (String, String, AddedBy) {
    (what.to_owned(), why.to_owned(), by)
}

#[test]
fn a_decision_says_what_and_why() {
    let scene = Scene::new();
    let mut list = loaded(&scene);
    for (what, why) in [("", "it is kept"), ("Argon2", " \n"), ("", "")] {
        assert_eq!(cause(list.decide(what, why)), Cause::Input, "`{what}` `{why}`");
    }
    assert_eq!(decided(&list), []);
}

#[test]
fn a_decision_needs_a_list_of_tasks() {
    let scene = Scene::new();
    assert_eq!(cause(scene.human().decide("Argon2", "it is kept")), Cause::NotFound);
}

#[test]
fn a_decision_is_in_the_ledger_and_under_its_phase_in_the_file() {
    let scene = Scene::new();
    let mut list = loaded(&scene);
    let said = list.decide("  Argon2\nid ", "it is  kept").unwrap();
    assert_eq!(said, "decided for First: Argon2 id");
    assert_eq!(decided(&list), [entry("Argon2 id", "it is kept", AddedBy::Human)]);
    let text = scene.read(FILE).unwrap();
    assert!(text.contains("## First Decisions\n- Argon2 id: it is kept\n"), "{text}");
    assert!(text.ends_with("Next: 1 Task 1\n0 of 2 tasks done, 0 blocked\n\n"), "{text}");
    assert_eq!(scene.read(".steadfast/.gitignore").as_deref(), Some("*\n"));
}

#[test]
fn a_decision_about_a_plain_list_has_no_file() {
    let scene = Scene::new();
    let mut agent = scene.agent("s-1");
    add_plain(&mut agent);
    assert_eq!(agent.decide("Argon2", "it is kept").unwrap(), "decided: Argon2");
    assert_eq!(decided(&agent), [entry("Argon2", "it is kept", AddedBy::Agent)]);
    assert!(!scene.root().join(".steadfast").exists());
}

#[test]
fn a_line_that_was_written_by_hand_is_taken_in_once() {
    let scene = Scene::new();
    let mut list = loaded(&scene);
    let text = scene.read(FILE).unwrap();
    let more = "## First Decisions\n- Argon2: it is kept\n* No cookies\n- [Decision]: [Rationale]\n";
    scene.write(FILE, &text.replace("## First Decisions\n", more));
    for task in ["1", "2"] {
        list.start(&id(task)).unwrap();
    }
    let expected = [entry("Argon2", "it is kept", AddedBy::Agent), entry("No cookies", "not said", AddedBy::Agent)];
    assert_eq!(decided(&list), expected);
    list.render_decisions();
    assert_eq!((decided(&list).len(), scene.read(FILE).unwrap().matches("Argon2").count()), (2, 1));
}

#[test]
fn a_line_that_is_too_long_for_the_ledger_stays_in_the_file() {
    let scene = Scene::new();
    let mut list = loaded(&scene);
    let long = "x".repeat(1_001);
    let text = scene.read(FILE).unwrap();
    scene.write(FILE, &text.replace("## First Decisions\n", &format!("## First Decisions\n- {long}\n")));
    list.start(&id("1")).unwrap();
    assert_eq!(decided(&list), []);
    assert!(scene.read(FILE).unwrap().contains(&long));
}

#[test]
fn what_people_wrote_stays_and_the_state_of_the_plan_is_renewed() {
    let scene = Scene::new();
    let mut list = loaded(&scene);
    scene.write(FILE, &(scene.read(FILE).unwrap() + "## Notes\nmine\n"));
    done(&mut list, &id("1")).unwrap();
    let text = scene.read(FILE).unwrap();
    assert!(text.ends_with("## Notes\nmine\n"), "{text}");
    assert!(text.contains("Last completed: 1 Task 1\nNext: 2 Task 2\n1 of 2 tasks done, 0 blocked\n"), "{text}");
}

#[test]
fn a_file_that_cannot_be_used_fails_no_change_of_a_task() {
    let cases: [(&str, Change); 4] = [
        ("no text", |scene| fs::write(scene.root().join(FILE), [0xff, 0xfe]).unwrap()),
        ("too long", |scene| scene.write(FILE, &"x".repeat((1 << 20) + 1))),
        ("a folder", |scene| {
            scene.remove(FILE);
            fs::create_dir(scene.root().join(FILE)).unwrap();
        }),
        ("no folder for it", |scene| {
            fs::remove_dir_all(scene.root().join(".steadfast")).unwrap();
            scene.write(".steadfast", "no folder");
        }),
    ];
    for (name, spoil) in cases {
        let scene = Scene::new();
        let mut list = loaded(&scene);
        spoil(&scene);
        list.start(&id("1")).unwrap();
        done(&mut list, &id("1")).unwrap();
        list.block(&id("2"), "no key").unwrap();
        list.decide("Argon2", "it is kept").unwrap();
        assert_eq!([status(&list, &id("1")), status(&list, &id("2"))], [Status::Done, Status::Blocked], "{name}");
        assert_eq!(decided(&list).len(), 1, "{name}");
        let log = read_log(&scene.place());
        assert!(log.iter().any(|line| line.contains("cannot write the decisions file")), "{name}: {log:?}");
    }
}

#[test]
fn a_decision_that_cannot_be_looked_up_is_a_failure_of_the_disk() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plan(vec![planned("1", Some(Check::Decision), &[])]), "SPEC.md").unwrap();
    fs::write(scene.root().join(FILE), [0xff, 0xfe]).unwrap();
    let error = done(&mut list, &id("1")).unwrap_err();
    assert!(
        matches!(error, WorkError::Decision(DecisionError::Unreadable { .. }))
            && (error.cause() == Cause::Infrastructure)
    );
    assert_eq!(status(&list, &id("1")), Status::Pending);
}
