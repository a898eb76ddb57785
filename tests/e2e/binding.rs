//! What binds a session to a plan that was loaded in a terminal, and what releases it.

use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::spec;
use crate::world::Scene;

on_every_host!(an_order_binds_and_its_negation_does_not);
on!(a_bare_go_ahead_binds_with_an_edit_and_a_human_releases: claude_2_1_325);

fn loaded(program: &Program) -> Scene {
    let scene = Scene::configured(program, "", 0);
    spec::load(&scene);
    scene
}

fn an_order_binds_and_its_negation_does_not(program: &Program) {
    let scene = loaded(program);
    let skill = if program.is_claude() { "/steadfast-run-tasks" } else { "$steadfast-run-tasks" };
    for (prompt, binds) in [
        ("Don't run the plan yet, just read SPEC.json", false),
        ("explain the plan to me", false),
        ("run all tasks and don't stop until they are done", true),
        (skill, true),
    ] {
        let run = scene.run(Scenario::new("asked").prompt(prompt).say("Let me know!"));
        let stops: &[_] = if binds { &[REFUSED, REFUSED, REFUSED, LET_GO] } else { &[LET_GO] };
        assert_eq!(run.journal.stops(), stops, "{prompt}");
    }
}

fn a_bare_go_ahead_binds_with_an_edit_and_a_human_releases(program: &Program) {
    let scene = loaded(program);
    let edits = |prompt: &str, command: &str| {
        let scenario = Scenario::new("edits").prompt(prompt).shell(command).say("Let me know!");
        scene.run(scenario).journal.stops()
    };
    assert_eq!(edits("go", "echo a > other.txt"), [LET_GO]);
    assert_eq!(edits("Fix the typo in one.txt", "echo a > one.txt"), [LET_GO], "an edit alone binds nobody");
    assert_eq!(edits("go", "echo b > one.txt"), [REFUSED, REFUSED, REFUSED, LET_GO]);
    // The human ends it from a terminal while the agent works.
    let released = scene.dir().join("released");
    let wait = format!("until [ -e '{}' ]; do sleep 0.1; done", released.display());
    let mut bound = scene
        .session(Scenario::new("bound").prompt("Run the plan").say("Let me know!").shell(wait).say("Let me know!"))
        .start();
    bound.until_requests(2);
    let said = scene.steadfast(&["plan", "release"]);
    assert!(said.contains("may stop with open tasks"), "{said}");
    std::fs::write(released, "").unwrap();
    let bound = bound.finish();
    assert_eq!(bound.journal.stops(), [REFUSED, LET_GO]);
    assert_eq!(bound.outcome(&scene), (1, Some("released by the user".to_owned())));
}
