//! A spec goes in, and nothing stops until it is really done.

use serde_json::Value;
use steadfast_model::Host;
use steadfast_sim::{Action, Scenario, Then, Turn};

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::Scene;

on_every_host!(
    it_goes_on_until_every_check_passed,
    a_false_promise_is_answered_with_what_is_open,
    one_that_only_talks_is_let_go_as_capped,
    one_that_appends_to_a_file_every_turn_is_let_go_as_capped,
    a_session_without_the_plan_is_free,
    a_crash_between_start_and_done_leaves_a_plan_that_is_offered,
    a_test_that_was_made_to_pass_is_no_evidence,
    asking_for_the_user_sets_the_task_aside_and_lets_go,
    running_out_of_context_lets_go_as_checkpoint_and_the_next_session_goes_on,
);
on!(after_a_compaction_the_plan_is_told_again: claude_2_1_325, codex_0_166_0);
on!(a_task_that_is_added_hides_nothing_of_the_plan: claude_2_1_325);
on!(what_was_done_and_is_gone_is_not_complete: claude_2_1_325, codex_0_166_0);

const PROMPT: &str = "Run the plan.";

const SPEC: &str = r#"{
  "feature": "Three files",
  "description": "The folder holds one.txt, two.txt and three.txt.",
  "context": {"constraints": ["README.md stays as it is."]},
  "phases": [{"id": "phase-1", "name": "Phase 1", "tasks": [
    {"id": "1.1", "task": "Write one.txt", "files": ["one.txt"], "verification": {"command": "grep -q one one.txt"}},
    {"id": "1.2", "task": "Write two.txt", "files": ["two.txt"], "verification": {"command": "grep -q two two.txt"}},
    {"id": "1.3", "task": "Write three.txt", "files": ["three.txt"], "verification": {"command": "grep -q three three.txt"}}
  ]}]
}"#;

/// The human loads the plan, and its first decision is made.
fn scene(program: &Program, config: &str) -> Scene {
    let scene = Scene::configured(program, config, 0);
    load(&scene);
    scene
}

pub(crate) fn load(scene: &Scene) {
    scene.write("SPEC.json", SPEC);
    scene.steadfast(&["plan", "load", "SPEC.json"]);
    scene.steadfast(&["decide", "Plain files", "--why", "nothing else is asked for"]);
    scene.steadfast(&["task", "done", "1.0"]);
}

fn written(name: &str) -> Action {
    Action::shell(format!("echo {name} > {name}.txt"))
}

fn closed(id: &str) -> Action {
    Action::shell(format!("steadfast task done {id}"))
}

fn evidence(scene: &Scene) -> Vec<Value> {
    let list: Value = serde_json::from_str(&scene.steadfast(&["task", "list", "--json"])).unwrap();
    list["tasks"].as_array().unwrap()[1..].iter().map(|task| task["evidence"]["class"].clone()).collect()
}

/// By the human before the session, and by the agent in it.
fn a_task_that_is_added_hides_nothing_of_the_plan(program: &Program) {
    const PROMISE: &str = "<promise>ALL TASKS COMPLETE</promise>";
    let scene = scene(program, "");
    scene.steadfast(&["task", "add", "Also tidy up", "--file", "tidy", "--verify", "test -f tidy"]);
    let run = scene.run(
        Scenario::new("adds")
            .prompt(PROMPT)
            .shell("touch tidy")
            .turn(Turn::doing([closed("+1")]))
            .say(PROMISE)
            .turn(Turn::doing(["one", "two", "three"].map(written)))
            .turn(Turn::doing(["1.1", "1.2", "1.3"].map(closed)))
            .shell("steadfast task add 'And a fourth' --file four --verify 'test -f four'")
            .say(PROMISE)
            .shell("touch four")
            .turn(Turn::doing([closed("+2")]))
            .say(PROMISE),
    );
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO]);
    let [first, second] = run.journal.refusals()[..] else { panic!("{:?}", run.journal.refusals()) };
    assert!(first.contains("3 of 5 tasks are open: 1.1 Write one.txt"), "{first}");
    assert!(second.contains("1 of 6 tasks is open: +2 And a fourth"), "{second}");
    assert_eq!(run.outcome(&scene), (2, Some("complete".to_owned())));
}

fn it_goes_on_until_every_check_passed(program: &Program) {
    let scene = scene(program, "");
    let run = scene.run(
        Scenario::new("obeys")
            .prompt(PROMPT)
            .turn(Turn::doing([written("one")]))
            .turn(Turn::doing([closed("1.1")]))
            .say("Good progress, let me know!")
            // "The tests pass", and nobody wrote the file.
            .turn(Turn::doing([closed("1.2")]))
            .say("Tests pass, let me know!")
            .turn(Turn::doing([written("two")]))
            .turn(Turn::doing([closed("1.2")]))
            .turn(Turn::doing([written("three")]))
            .turn(Turn::doing([closed("1.3")]))
            .say("<promise>ALL TASKS COMPLETE</promise>"),
    );
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (2, Some("complete".to_owned())));
    assert_eq!(scene.tasks(), ["done"; 4]);
    assert_eq!(evidence(&scene), ["executed"; 3]);
    let told = run.told().concat();
    assert!(told.contains("stays open: `grep -q two two.txt` exited with"), "the failing check was read");
}

fn a_false_promise_is_answered_with_what_is_open(program: &Program) {
    let scene = scene(program, "");
    let run = scene.run(
        Scenario::new("promises")
            .prompt(PROMPT)
            .say("All done. <promise>ALL TASKS COMPLETE</promise>")
            .turn(Turn::doing([Action::shell("for n in one two three; do echo $n > $n.txt; done")]))
            .turn(Turn::doing([Action::shell("for n in 1 2 3; do steadfast task done 1.$n; done")]))
            .say("<promise>ALL TASKS COMPLETE</promise>"),
    );
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    let refusal = run.journal.refusals()[0];
    assert!(refusal.contains("promise") && refusal.contains("3 of 4 tasks are open: 1.1 Write one.txt"), "{refusal}");
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}

fn one_that_only_talks_is_let_go_as_capped(program: &Program) {
    let scene = scene(program, "");
    let run = scene.run(Scenario::new("talks").prompt(PROMPT).say("Let me know!"));
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (3, Some("capped".to_owned())));
}

fn one_that_appends_to_a_file_every_turn_is_let_go_as_capped(program: &Program) {
    let scene = scene(program, "[stop]\nmax_cycles = 8\n");
    let run = scene
        .run(Scenario::new("busy").prompt(PROMPT).shell("echo x >> log.txt").say("Let me know!").then(Then::Loop(2)));
    assert_eq!(run.journal.stops(), [[REFUSED; 8].as_slice(), &[LET_GO]].concat());
    assert_eq!(run.outcome(&scene), (8, Some("capped".to_owned())));
}

fn a_session_without_the_plan_is_free(program: &Program) {
    let scene = scene(program, "");
    let run = scene.run(Scenario::new("asks").prompt("What is in README.md?").read("README.md").say("A scene."));
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.outcome(&scene), (0, None));
}

fn a_crash_between_start_and_done_leaves_a_plan_that_is_offered(program: &Program) {
    let scene = scene(program, "");
    let mut crashing = scene
        .session(Scenario::new("crashes").prompt(PROMPT).shell("steadfast task start 1.1").shell("sleep 30").say("-"))
        .start();
    crashing.until_requests(2);
    crashing.kill();
    assert_eq!(scene.tasks()[1], "in_progress");
    // The dead one said no farewell; a human who starts the next knows better.
    let run = scene.run(
        Scenario::new("next")
            .prompt("Run the plan.")
            .turn(Turn::doing([Action::shell("steadfast task start 1.1; echo one > one.txt; steadfast task done 1.1")]))
            .say("Let me know!"),
    );
    let (event, context) = run.journal.contexts()[0];
    assert_eq!(event, "SessionStart");
    assert!(context.contains("1.1 Write one.txt"), "{context}");
    assert_eq!(scene.tasks()[1], "done");
    assert_eq!(scene.status()["plan"]["owner"], run.id.as_str());
}

fn a_test_that_was_made_to_pass_is_no_evidence(program: &Program) {
    let scene = Scene::configured(program, "", 0);
    scene.write("package.json", "{\"scripts\": {\"test\": \"exit 1\"}}");
    scene.write("SPEC.md", "# A\n\n## Phase 1\n\n### 1.1 Make it pass\n\n- Verify: `npm test`\n");
    scene.steadfast(&["plan", "load", "SPEC.md"]);
    scene.steadfast(&["decide", "None", "--why", "none"]);
    scene.steadfast(&["task", "done", "1.0"]);
    let run = scene.run(
        Scenario::new("cheats")
            .prompt(PROMPT)
            .shell("echo '{\"scripts\": {\"test\": \"true\"}}' > package.json; steadfast task done 1.1")
            .say("<promise>ALL TASKS COMPLETE</promise>"),
    );
    assert_eq!(scene.tasks(), ["done", "pending"]);
    let told = run.told().concat();
    assert!(told.contains("package.json script `test` was `exit 1`, is `true`"), "it was told");
    let needs = scene.status()["needs_human"].to_string();
    assert!(needs.contains("--accept-check"), "{needs}");
}

fn asking_for_the_user_sets_the_task_aside_and_lets_go(program: &Program) {
    let scene = scene(program, "");
    let run = scene.run(
        Scenario::new("asks")
            .prompt(PROMPT)
            .shell("steadfast task start 1.1")
            .say("The key is missing. <promise>BLOCKED - NEEDS USER</promise>"),
    );
    assert_eq!(run.journal.stops().last(), Some(&LET_GO));
    assert_eq!(scene.tasks()[1], "blocked");
    assert_eq!(run.outcome(&scene).1, Some("needs user".to_owned()));
}

fn running_out_of_context_lets_go_as_checkpoint_and_the_next_session_goes_on(program: &Program) {
    let scene = scene(program, "");
    let first = scene.run(
        Scenario::new("full")
            .prompt(PROMPT)
            .shell("echo one > one.txt; steadfast task done 1.1; steadfast task start 1.2")
            .say("<promise>CONTEXT LIMIT - CHECKPOINT</promise>"),
    );
    assert_eq!(first.journal.stops(), [LET_GO]);
    assert_eq!(first.outcome(&scene), (0, Some("checkpoint".to_owned())));
    let resume = scene.steadfast(&["resume", "--print"]);
    let name = program.host().as_str();
    assert!(resume.starts_with(name) && resume.contains("Go on with the plan"), "{resume}");
    let prompt = "Go on with the plan \"Three files\".";
    let second = scene.run(Scenario::new("next").prompt(prompt).say("Let me know!"));
    let told = second.told()[0].clone();
    for part in ["The folder holds one.txt", "README.md stays as it is.", "1.2 Write two.txt", "Plain files"] {
        assert!(told.contains(part), "{part:?} is not in {:?}", second.journal.contexts());
    }
    assert_eq!(scene.status()["plan"]["owner"], second.id.as_str());
}

/// Inside one turn here; typed in a terminal in `terminal.rs`.
fn after_a_compaction_the_plan_is_told_again(program: &Program) {
    let scene = scene(program, "");
    let run = scene.run(
        Scenario::new("compaction")
            .prompt(PROMPT)
            .turn(Turn::doing([Action::shell("echo one > one.txt; steadfast task done 1.1"), Action::Compact {}]))
            .shell("for n in two three; do echo $n > $n.txt; done; steadfast task done 1.2; steadfast task done 1.3")
            .say("Done."),
    );
    let told = &run.told()[1];
    for part in ["The folder holds one.txt", "README.md stays as it is.", "1.2 Write two.txt", "Plain files"] {
        assert!(told.contains(part), "{part:?} is not in {:?}", run.journal.contexts());
    }
    assert_eq!(run.outcome(&scene), (0, Some("complete".to_owned())));
    assert_ne!(program.host(), Host::Sim);
}

fn what_was_done_and_is_gone_is_not_complete(program: &Program) {
    const PROMISE: &str = "<promise>ALL TASKS COMPLETE</promise>";
    let scene = scene(program, "");
    let run = scene.run(
        Scenario::new("removes")
            .prompt(PROMPT)
            .turn(Turn::doing(["one", "two", "three"].map(written)))
            .turn(Turn::doing(["1.1", "1.2", "1.3"].map(closed)))
            .shell("rm one.txt && echo 'two, again' > two.txt")
            .say(PROMISE)
            .shell("steadfast task check")
            .say(PROMISE)
            .turn(Turn::doing([written("one")]))
            .turn(Turn::doing([closed("1.1")]))
            .say(PROMISE),
    );
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO]);
    let [first, second] = run.journal.refusals()[..] else { panic!("{:?}", run.journal.refusals()) };
    assert!(
        first.contains("2 done tasks are stale (files changed since the check passed): 1.1 Write one.txt; 1.2"),
        "{first}"
    );
    assert!(second.contains("1 of 4 tasks is open: 1.1 Write one.txt"), "{second}");
    assert_eq!(run.outcome(&scene), (2, Some("complete".to_owned())));
}
