//! Two sessions in one repository do not touch each other.

use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on_every_host!(
    a_session_that_asks_something_is_free_beside_one_that_is_held,
    a_session_that_is_told_to_do_the_tasks_of_a_living_one_is_held_too,
    a_session_in_another_worktree_is_free,
    the_tasks_of_an_ended_session_are_offered_to_the_next,
);
on!(a_fork_does_not_inherit_the_tasks: claude_2_1_325, claude_2_1_197);

fn a_session_that_asks_something_is_free_beside_one_that_is_held(program: &Program) {
    beside_one_that_is_held(program, "What is in README.md?", &[LET_GO], (0, None));
}

fn a_session_that_is_told_to_do_the_tasks_of_a_living_one_is_held_too(program: &Program) {
    let capped = (3, Some("capped".to_owned()));
    beside_one_that_is_held(program, PROMPT, &[REFUSED, REFUSED, REFUSED, LET_GO], capped);
}

fn beside_one_that_is_held(program: &Program, prompt: &str, stops: &[bool], outcome: (u64, Option<String>)) {
    let scene = Scene::with_tasks(program, 2);
    let release = scene.dir().join("release");
    let wait = format!("until [ -e '{}' ]; do sleep 0.1; done", release.display());
    let mut owner = scene
        .session(
            Scenario::new("owner")
                .prompt(PROMPT)
                .say("Let me know!")
                .shell(wait)
                .say("Let me know!")
                .shell("for n in 1 2; do steadfast task start $n; echo $n > $n.txt; steadfast task done $n; done")
                .say("Done."),
        )
        .start();
    // The second request comes after the first refusal, so the tasks have their owner.
    owner.until_requests(2);
    let guest = scene.run(Scenario::new("guest").prompt(prompt).shell("ls").say("A scene."));
    assert!(owner.is_running());
    assert_eq!(scene.status()["plan"]["owner"], owner.id().as_str());
    std::fs::write(release, "").unwrap();
    let owner = owner.finish();

    assert_eq!(guest.journal.stops(), stops);
    assert_eq!(guest.outcome(&scene), outcome);
    assert_eq!(owner.journal.stops(), [REFUSED, REFUSED, LET_GO]);
    assert_eq!(owner.outcome(&scene), (2, Some("complete".to_owned())));
}

fn a_session_in_another_worktree_is_free(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&["--user"]);
    scene.steadfast(&["task", "add", "piece 1", "--file", "README.md", "--verify", "true"]);
    let side = scene.dir().join("side");
    scene.git(["worktree", "add", "--quiet", side.to_str().unwrap()]);
    let run = scene.session(Scenario::new("side").prompt(PROMPT).say("There are none.")).at(side).run();
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.journal.contexts(), []);
    assert_eq!(scene.status()["plan"]["owner"], serde_json::Value::Null);
}

fn the_tasks_of_an_ended_session_are_offered_to_the_next(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let first = scene.run(Scenario::new("first").prompt(PROMPT).say("Let me know!"));
    let asks = scene.run(Scenario::new("asks").prompt("What is in README.md?").say("A scene."));
    assert_eq!(asks.journal.stops(), [LET_GO]);
    assert!(asks.journal.contexts()[0].1.contains("no session works on"));
    assert_eq!(scene.status()["plan"]["owner"], first.id.as_str());
    let takes = scene.run(Scenario::new("takes").prompt(PROMPT).say("Let me know!"));
    assert_eq!(takes.journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    assert_eq!(scene.status()["plan"]["owner"], takes.id.as_str());
}

fn a_fork_does_not_inherit_the_tasks(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let first = scene.run(Scenario::new("first").prompt(PROMPT).say("Let me know!"));
    let fork = scene
        .session(Scenario::new("fork").prompt("Go on.").say("Let me know!"))
        .args(["--resume", &first.id, "--fork-session"])
        .run();
    assert_ne!(fork.id, first.id);
    assert_eq!(fork.journal.stops(), [LET_GO]);
    assert_eq!(scene.status()["plan"]["owner"], first.id.as_str());
}
