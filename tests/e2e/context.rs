//! What Steadfast says to the agent reaches the model, word for word.

use steadfast_model::Host;
use steadfast_sim::{Action, Scenario, Turn};

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on_every_host!(
    free_tasks_are_offered_and_hold_nobody,
    tasks_that_are_named_are_this_sessions,
    a_refusal_is_read,
    a_long_list_is_not_cut_by_the_host,
    a_resumed_session_is_told_its_tasks_and_held,
);
on!(after_a_compaction_the_tasks_are_told_again: claude_2_1_325, codex_0_166_0);

fn free_tasks_are_offered_and_hold_nobody(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(Scenario::new("asks").prompt("What is in README.md?").read("README.md").say("A scene."));
    let (event, offer) = run.journal.contexts()[0];
    assert_eq!(event, "SessionStart");
    assert!(offer.contains("no session works on: 2 of 2 tasks are open: 1 piece 1; 2 piece 2."), "{offer}");
    assert!(run.told()[0].contains(offer));
    assert_eq!(run.outcome(&scene), (0, None));
    assert_eq!(scene.status()["plan"]["owner"], serde_json::Value::Null);
}

fn tasks_that_are_named_are_this_sessions(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(Scenario::new("named").prompt(PROMPT).say("Let me know!"));
    let (event, owned) = run.journal.contexts()[1];
    assert_eq!(event, "UserPromptSubmit");
    assert!(owned.contains("the tasks of this session: 2 of 2 tasks are open: 1 piece 1; 2 piece 2."), "{owned}");
    assert!(run.told()[0].contains(owned));
    assert_eq!(scene.status()["plan"]["owner"], run.id.as_str());
}

fn a_refusal_is_read(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    scene.steadfast(&[
        "task",
        "add",
        "Keep <b> & \"quotes\" 'as' they are: ünïcode, 100 %, $HOME, C:\\temp",
        "--file",
        "README.md",
        "--verify",
        "true",
    ]);
    let run = scene
        .run(Scenario::new("refused").prompt(PROMPT).say("Let me know!").shell("steadfast task done 1").say("Done."));
    let refusals = run.journal.refusals();
    let told = run.told();
    assert_eq!(refusals.len(), 1);
    // Codex puts it into a tag, and so escapes what would end one.
    let read = match program.host() {
        Host::Codex => refusals[0].replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
        Host::Claude | Host::Sim => refusals[0].to_owned(),
    };
    assert!(!told[0].contains(&read));
    assert!(told[1].contains(&read), "{read:?} is not in {:?}", before(&told[1], "(refusal 1 of"));
}

fn a_long_list_is_not_cut_by_the_host(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    for number in 1..=40 {
        scene.steadfast(&[
            "task",
            "add",
            &format!("{} {number}", "a title as long as titles get, or longer".repeat(3)),
        ]);
    }
    let run = scene.run(Scenario::new("long").prompt(PROMPT).say("Let me know!"));
    let told = run.told();
    assert!(told[0].contains(run.journal.contexts()[0].1) && told[0].contains(run.journal.contexts()[1].1));
    assert!(told[1].contains(run.journal.refusals()[0]));
}

fn a_resumed_session_is_told_its_tasks_and_held(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let first = scene.run(Scenario::new("first").prompt(PROMPT).say("Let me know!"));
    let again = scene.session(Scenario::new("again").prompt("Go on.").say("Let me know!"));
    let again = match program.host() {
        Host::Codex => again.args(["resume", &first.id]),
        Host::Claude | Host::Sim => again.args(["--resume", &first.id]),
    };
    let run = again.run();
    assert_eq!(run.id, first.id);
    // Once by the first prompt, once by the new start.
    let told = run.told()[0].matches("the tasks of this session: 1 of 1 tasks is open: 1 piece 1.").count();
    assert_eq!(told, 2);
    assert_eq!(run.journal.stops(), [[REFUSED, REFUSED, REFUSED, LET_GO]; 2].concat());
}

fn after_a_compaction_the_tasks_are_told_again(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(
        Scenario::new("compaction")
            .prompt(PROMPT)
            .turn(Turn::doing([Action::shell("steadfast task done 1"), Action::Compact {}]))
            .shell("steadfast task done 2")
            .say("Done."),
    );
    let owned = "the tasks of this session: 1 of 2 tasks is open: 2 piece 2.";
    assert!(!run.told()[0].contains(owned));
    assert!(run.told()[1].contains(owned), "{:?}", run.journal.contexts());
    assert_eq!(run.outcome(&scene), (0, Some("complete".to_owned())));
}

/// What stands before a word, for a message that can be read.
fn before<'a>(text: &'a str, word: &str) -> &'a str {
    let end = text.find(word).unwrap_or(text.len());
    &text[text.floor_char_boundary(end.saturating_sub(400))..end]
}
