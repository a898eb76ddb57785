//! Wherever it is wired, it is heard; wired several times, it is counted once.

use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::session::Run;
use crate::world::{PROMPT, Scene};

on_every_host!(
    shared_wiring_holds_a_session,
    user_wiring_holds_a_session,
    a_stop_heard_through_every_wiring_is_refused_once,
    user_wiring_is_silent_where_init_was_never_run,
);

fn shared_wiring_holds_a_session(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&["--shared"]);
    assert_held(&scene, &talk(&scene));
}

fn user_wiring_holds_a_session(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&["--user"]);
    assert_held(&scene, &talk(&scene));
}

fn a_stop_heard_through_every_wiring_is_refused_once(program: &Program) {
    let scene = Scene::bare(program);
    for scope in [&[][..], &["--shared"], &["--user"]] {
        scene.init(scope);
    }
    let run = talk(&scene);
    assert_held(&scene, &run);
    let vias: std::collections::BTreeSet<_> =
        run.journal.records.iter().map(|record| record.event.via.as_str()).collect();
    let expected = if program.is_claude() { &["local", "project", "user"][..] } else { &["project", "user"] };
    assert_eq!(vias.into_iter().collect::<Vec<_>>(), expected);
}

fn user_wiring_is_silent_where_init_was_never_run(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&["--user"]);
    let other = scene.dir().join("other");
    scene.git(["init", "--quiet", other.to_str().unwrap()]);
    let run = scene.session(Scenario::new("talks").prompt(PROMPT).say("Let me know!")).at(other.clone()).run();
    assert!(run.status.success());
    assert_eq!(run.told().len(), 1);
    assert!(!run.requests.iter().any(|request| request.body.to_string().contains("Steadfast")));
    assert!(!other.join(".git/steadfast").exists());
}

fn talk(scene: &Scene) -> Run {
    scene.steadfast(&["task", "add", "piece 1", "--file", "README.md", "--verify", "true"]);
    scene.run(Scenario::new("talks").prompt(PROMPT).say("Let me know!"))
}

fn assert_held(scene: &Scene, run: &Run) {
    assert_eq!(run.told().len(), 4, "{:?}", run.journal.stops());
    assert_eq!(run.outcome(scene), (3, Some("capped".to_owned())));
}
