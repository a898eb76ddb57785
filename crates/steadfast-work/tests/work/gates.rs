//! Which gates stand before whom, and how they come open.

use std::fs;

use steadfast_hook::handle_event;
use steadfast_model::{Event, EventKind, GateScope, Host, Opening, SealChange, SessionId, Trigger};
use steadfast_store::ConfigFiles;
use steadfast_work::TaskList;
use steadfast_work::task_list::ClosedGate;

use crate::scene::{HOUR_MS, Scene, clock, pass};

fn scopes(list: &TaskList) -> Vec<GateScope> {
    list.gates().into_iter().map(|standing| standing.gate.scope).collect()
}

fn of_session(session: &str) -> GateScope {
    GateScope::Session(SessionId::new(session))
}

fn of_worktree(scene: &Scene) -> GateScope {
    GateScope::Worktree(scene.place().worktree())
}

/// The markers of closed gates, in the state and beside it.
fn markers(scene: &Scene) -> Vec<std::path::PathBuf> {
    let state = scene.place().state;
    let folders = [state.join("gates"), state.with_extension("gates")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn closing_a_closed_gate_leaves_it_as_it_is() {
    let scene = Scene::new();
    for mut list in [scene.human(), scene.agent("s-1")] {
        let first = list.lock(Some("  wait for\nthe review ")).unwrap();
        let second = list.lock(Some("another reason")).unwrap();
        assert_eq!((first.already, second.already), (false, true));
        assert_eq!(second.gate, first.gate);
        assert_eq!(first.gate.reason, "The plan is not approved. wait for the review");
        assert_eq!((first.gate.trigger.clone(), scopes(&list)), (Trigger::Lock, vec![first.gate.scope]));
        list.open(&list.gates(), &Opening::Unlocked).unwrap();
    }
}

#[test]
fn a_sessions_gate_stands_before_that_session_and_the_checkouts_before_all() {
    let scene = Scene::new();
    let seen = || [scene.agent("s-1"), scene.agent("s-2"), scene.human()].map(|list| scopes(&list));
    scene.agent("s-1").lock(None).unwrap();
    assert_eq!(seen(), [vec![of_session("s-1")], vec![], vec![of_session("s-1")]]);

    // A human closes the checkout also where a session has a gate of its own.
    assert!(!scene.human().lock(None).unwrap().already);
    let [one, two, human] = seen().map(|scopes| scopes.len());
    assert_eq!((one, two, human), (2, 1, 2));
    assert_eq!(scopes(&scene.agent("s-2")), [of_worktree(&scene)]);

    // An agent closes none of its own where one stands before it already.
    let locked = scene.agent("s-2").lock(None).unwrap();
    assert_eq!((locked.already, locked.gate.scope), (true, of_worktree(&scene)));
}

#[test]
fn a_gate_of_one_checkout_does_not_stand_in_another() {
    let scene = Scene::new();
    scene.human().lock(None).unwrap();
    scene.agent("s-1").lock(None).unwrap();
    scene.git(&["worktree", "add", "--quiet", scene.beside("side").to_str().unwrap()]);
    let place = steadfast_store::Place::of(&scene.beside("side"), None).unwrap();
    assert_eq!(fs::canonicalize(&place.state).unwrap(), fs::canonicalize(scene.place().state).unwrap());
    let here = ClosedGate::all(&place, &scene.environment());
    assert!(here.is_empty(), "{here:?}");
}

#[test]
fn the_checkouts_gate_expires_and_a_sessions_does_not() {
    for (settings, hours, expires) in [
        ("", 24, true),
        ("[approval]\nexpires_hours = 2\n", 2, true),
        ("[approval]\nexpires_hours = 0\n", 1_000, false),
    ] {
        let scene = Scene::with_settings(settings);
        scene.agent("s-1").lock(None).unwrap();
        scene.human().lock(None).unwrap();
        pass(hours * HOUR_MS - 60_000);
        assert_eq!(scopes(&scene.human()).len(), 2, "{settings}");
        pass(120_000);
        let stands = scopes(&scene.human()).contains(&of_worktree(&scene));
        assert_eq!(stands, !expires, "{settings}");
        assert!(scopes(&scene.agent("s-1")).contains(&of_session("s-1")), "{settings}");
    }
}

#[test]
fn a_marker_that_cannot_be_read_stands_before_everybody_until_it_is_opened() {
    let scene = Scene::new();
    scene.human().lock(None).unwrap();
    for marker in markers(&scene) {
        fs::write(marker, "half").unwrap();
    }
    pass(1_000 * HOUR_MS);
    for list in [scene.agent("s-1"), scene.agent("s-2"), scene.human()] {
        assert_eq!(scopes(&list), [GateScope::Worktree(String::new())]);
    }
    let human = scene.human();
    human.open(&human.gates(), &Opening::Unlocked).unwrap();
    assert!(human.gates().is_empty() && markers(&scene).is_empty());
}

#[test]
fn an_opened_gate_has_no_marker_and_is_forgotten_by_its_session() {
    let scene = Scene::new();
    scene.agent("s-1").lock(None).unwrap();
    assert!(scene.session("s-1").peek().unwrap().gate.is_some());
    assert_eq!(markers(&scene).len(), 2);

    let human = scene.human();
    human.open(&human.gates(), &Opening::Unlocked).unwrap();
    assert!(markers(&scene).is_empty());
    assert!(scene.session("s-1").peek().unwrap().gate.is_none());
    assert!(scene.agent("s-1").gates().is_empty());
}

#[test]
fn a_gate_whose_marker_was_deleted_is_remembered_by_its_session() {
    let scene = Scene::new();
    scene.agent("s-1").lock(None).unwrap();
    markers(&scene).iter().for_each(|marker| fs::remove_file(marker).unwrap());
    let gates = scene.human().gates();
    let [ClosedGate { gate, unmarked: true, .. }] = &gates[..] else { panic!("{gates:?}") };
    assert_eq!(gate.scope, of_session("s-1"));
    scene.human().open(&gates, &Opening::Unlocked).unwrap();
    assert!(scene.agent("s-1").gates().is_empty());
}

#[test]
fn a_gate_outlives_the_state_it_belongs_to() {
    let scene = Scene::with_closed_ledger();
    scene.human().lock(None).unwrap();
    fs::remove_dir_all(scene.place().state).unwrap();
    assert_eq!(scopes(&scene.agent("s-1")), [of_worktree(&scene)]);
}

#[test]
fn a_seal_names_what_was_changed_behind_a_closed_gate() {
    let scene = Scene::with_settings("[approval]\nprotected = [\"SPEC.md\", \"OLD.md\", \"NEW.md\"]\n");
    scene.write("SPEC.md", "as it was\n");
    scene.write("OLD.md", "as it was\n");
    let mut human = scene.human();
    assert_eq!(human.lock(None).unwrap().not_sealed, Vec::<String>::new());
    let seal = || human.gates()[0].seal(&scene.place());
    assert_eq!((seal().breaks, seal().line()), (Vec::new(), None));

    scene.write("SPEC.md", "changed\n");
    scene.remove("OLD.md");
    scene.write("NEW.md", "new\n");
    let mut breaks: Vec<_> = seal().breaks.into_iter().map(|broken| (broken.path, broken.what)).collect();
    breaks.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [("NEW.md", SealChange::Created), ("OLD.md", SealChange::Removed), ("SPEC.md", SealChange::Changed)];
    assert_eq!(breaks, expected.map(|(path, what)| (path.to_owned(), what)));
    let line = seal().line().unwrap();
    assert!(line.starts_with("while the plan gate is closed, ") && line.contains("`OLD.md` was removed"), "{line}");
}

#[test]
fn a_sessions_gate_is_left_when_the_session_is_over() {
    let scene = Scene::new();
    scene.agent("s-1").lock(None).unwrap();
    let is_left = || scene.human().gates()[0].is_left(&scene.place());
    assert!(!is_left());
    let place = scene.place();
    let over = EventKind::SessionEnd { reason: "exit".into() };
    let event = Event::plain(SessionId::new("s-1"), Host::Claude, place.worktree(), clock(), over);
    handle_event(&place, &ConfigFiles::of(&place, None), event).unwrap();
    assert!(is_left());
}

#[test]
fn a_gate_that_cannot_be_closed_is_a_failure_of_the_disk() {
    let scene = Scene::new();
    fs::write(scene.place().state.join("gates"), "no folder").unwrap();
    let error = scene.human().lock(None).unwrap_err();
    assert_eq!(error.cause(), steadfast_work::Cause::Infrastructure, "{error}");
}
