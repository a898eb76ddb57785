//! Drift, with the real hosts: who leaves the work is told at once, and what comes back is left alone.

use steadfast_model::{Change, DriftChange, Level};
use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::journal::Journal;
use crate::session::Run;
use crate::world::Scene;

on_every_host!(
    a_correction_is_in_the_very_next_request,
    with_enforce_the_last_level_does_not_happen,
    on_an_ordinary_day_nothing_is_heard,
);

fn levels(journal: &Journal) -> Vec<Level> {
    let changes = journal.records.iter().flat_map(|record| &record.changes);
    let steps = changes.filter_map(|change| match change {
        Change::Drift(DriftChange::Stepped(step)) => Some(step.level),
        _ => None,
    });
    steps.collect()
}

/// The requests in which a text was heard by the model, by their number.
fn heard_in(run: &Run, text: &str) -> Vec<usize> {
    let told = run.told();
    (0..told.len()).filter(|n| told[*n].contains(text)).collect()
}

fn scene(program: &Program, config: &str) -> Scene {
    let scene = Scene::configured(program, config, 0);
    scene.write("src/auth/token.txt", "1\n");
    scene
}

fn a_correction_is_in_the_very_next_request(program: &Program) {
    let run = scene(program, "").run(
        Scenario::new("drifts")
            .prompt("Fix src/auth/token.txt.")
            .shell("echo 2 > src/auth/token.txt")
            .shell("mkdir -p web && echo 1 > web/menu.txt")
            .shell("mkdir -p ops && echo 1 > ops/list.txt")
            .shell("cat src/auth/token.txt")
            .say("Done."),
    );
    assert_eq!(levels(&run.journal), [Level::None, Level::Nudge, Level::Correct]);
    let nudged = heard_in(&run, "Is this part of the goal?");
    let told = heard_in(&run, "This leads away from the goal");
    // Each is in the request after its call, and the second one request later than the first.
    assert_eq!((nudged.first().map(|n| n + 1), told.len() > 1), (told.first().copied(), true), "{nudged:?} {told:?}");
}

fn with_enforce_the_last_level_does_not_happen(program: &Program) {
    let scene = scene(program, "[mode]\ndrift = \"enforce\"\n");
    let mut scenario = Scenario::new("goes on").prompt("Fix src/auth/token.txt.").shell("echo 2 > src/auth/token.txt");
    for n in 0..12 {
        scenario = scenario.shell(format!("mkdir -p away{n} && echo 1 > away{n}/part.txt"));
    }
    let run = scene.run(scenario.say("Done."));
    let written = (0..12).filter(|n| scene.root().join(format!("away{n}/part.txt")).exists()).count();
    assert!((2..12).contains(&written), "{written}");
    assert!(!heard_in(&run, "Refused because it leads away from the goal").is_empty());
}

fn on_an_ordinary_day_nothing_is_heard(program: &Program) {
    let scene = scene(program, "");
    let run = scene.run(
        Scenario::new("works")
            .prompt("Fix src/auth/token.txt, and say so in the changelog.")
            .shell("cat src/auth/token.txt")
            .shell("echo 2 > src/auth/token.txt")
            .shell("mkdir -p tests && echo 2 > tests/token_test.txt")
            .shell("echo fixed >> CHANGELOG.md")
            .say("Done."),
    );
    assert_eq!(levels(&run.journal), [Level::None; 3]);
    assert!(run.journal.contexts().iter().all(|(event, _)| *event != "PostToolUse"), "{:?}", run.journal.contexts());
}
