//! A session that waits for something is not stopping.

use serde_json::json;
use steadfast_model::{EventKind, PromptOrigin};
use steadfast_sim::{Action, Scenario, Turn};

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on!(a_session_waits_for_its_subagent_and_is_held_after_it: claude_2_1_325, claude_2_1_197);
on!(a_session_waits_for_its_shell_and_is_held_after_it: claude_2_1_325, claude_2_1_197);
on!(a_server_is_not_waited_for: claude_2_1_325, claude_2_1_197);
on!(a_session_of_codex_waits_for_its_subagent: codex_0_166_0);
on!(a_session_of_codex_is_held_when_its_subagent_is_done: codex_0_166_0);
on!(what_a_subagent_is_asked_claims_no_tasks: codex_0_166_0);
on!(what_a_subagent_is_asked_refills_no_budget: codex_0_166_0);
on!(the_news_of_a_subagent_claims_no_tasks: claude_2_1_325, claude_2_1_197);
on!(the_news_of_a_subagent_refills_no_budget: claude_2_1_325, claude_2_1_197);

/// The subagent's work, long enough for the main thread to stop meanwhile.
fn long_work() -> [Turn; 2] {
    [Turn::doing([Action::shell("sleep 2")]), Turn::saying("I would go on with the tasks, the plan.")]
}

fn a_session_waits_for_its_subagent_and_is_held_after_it(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene.run(
        Scenario::new("subagent")
            .prompt(PROMPT)
            .agent_in_background("general-purpose", "do the long part")
            .say("I wait for it.")
            .say("It is done, let me know!")
            .shell("steadfast task done 1")
            .say("Done.")
            .subagent(long_work()),
    );
    assert_eq!(run.journal.stops(), [LET_GO, REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}

fn a_session_waits_for_its_shell_and_is_held_after_it(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let shell = json!({"command": "sleep 2.5", "description": "the long part", "run_in_background": true});
    let run = scene.run(
        Scenario::new("shell")
            .prompt(PROMPT)
            .tool("Bash", shell)
            .say("Let me know!")
            .say("WAITING: for the long part")
            .say("It is done, let me know!")
            .shell("steadfast task done 1")
            .say("Done."),
    );
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO, REFUSED, LET_GO]);
    let reasons = run.journal.refusals();
    assert!(reasons[0].contains("`sleep 2.5` still runs in the background"), "{reasons:?}");
    assert!(!reasons[1].contains("sleep"), "{reasons:?}");
    assert_eq!(run.outcome(&scene), (2, Some("complete".to_owned())));
}

/// However the agent puts it: a server that listens on a port switches the gate off for nobody.
fn a_server_is_not_waited_for(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let serve = "python3 -c \"import socket, time; s = socket.create_server(('127.0.0.1', 0)); open('up', 'w'); time.sleep(8)\"";
    let run = scene.run(
        Scenario::new("server")
            .prompt(PROMPT)
            .tool("Bash", json!({"command": serve, "description": "dev server", "run_in_background": true}))
            .shell("for _ in $(seq 300); do [ -e up ] && break; sleep 0.1; done")
            .say("<promise>WAITING: for the server</promise>")
            .shell("steadfast task done 1")
            .say("Done."),
    );
    let reasons = run.journal.refusals();
    assert!(reasons[0].contains("listens on port"), "{reasons:?}");
    // When the server has ended, the newer one is woken and stops once more.
    assert_eq!(run.journal.stops()[..2], [REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}

/// `codex exec` ends with the stop that is let go, whatever its subagents do.
fn a_session_of_codex_waits_for_its_subagent(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene.run(
        Scenario::new("subagent")
            .prompt(PROMPT)
            .agent("general-purpose", "do the long part")
            .shell("sleep 1")
            .say("I wait for it.")
            .subagent([Turn::doing([Action::shell("sleep 9")]), Turn::saying("done")]),
    );
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.outcome(&scene), (0, Some("yielded".to_owned())));
}

fn a_session_of_codex_is_held_when_its_subagent_is_done(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene.run(
        Scenario::new("subagent")
            .prompt(PROMPT)
            .agent("general-purpose", "do the short part")
            .shell("sleep 3")
            .say("It is done, let me know!")
            .shell("steadfast task done 1")
            .say("Done."),
    );
    assert_eq!(run.journal.subagent_events().last(), Some(&"SubagentStop"));
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}

/// Codex gives a subagent its task as a prompt.
fn what_a_subagent_is_asked_claims_no_tasks(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene.run(
        Scenario::new("asked")
            .prompt("Look around.")
            .agent("general-purpose", PROMPT)
            .shell("sleep 2")
            .say("That is all."),
    );
    assert!(run.journal.subagent_events().contains(&"UserPromptSubmit"));
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(scene.status()["plan"]["owner"], serde_json::Value::Null);
}

fn what_a_subagent_is_asked_refills_no_budget(program: &Program) {
    let scene = Scene::configured(program, "[stop]\nmax_cycles = 2\n", 1);
    let run = scene.run(
        Scenario::new("asked")
            .prompt(PROMPT)
            .shell("ls")
            .say("Let me know!")
            .agent("general-purpose", "Go on.")
            .shell("sleep 2")
            .say("Let me know!")
            .shell("ls")
            .say("Let me know!"),
    );
    assert!(run.journal.subagent_events().contains(&"UserPromptSubmit"));
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (2, Some("capped".to_owned())));
}

fn the_news_of_a_subagent_claims_no_tasks(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene.run(
        Scenario::new("news")
            .prompt("Look around.")
            .agent_in_background("general-purpose", "look elsewhere")
            .say("I wait for it.")
            .say("That is all.")
            .subagent(long_work()),
    );
    let news = run.journal.records.iter().find_map(|record| match &record.event.kind {
        EventKind::Prompt { text, origin: PromptOrigin::Notification, .. } => Some(text),
        _ => None,
    });
    assert!(news.is_some_and(|text| text.contains("the tasks, the plan")), "{news:?}");
    assert_eq!(run.journal.stops(), [LET_GO, LET_GO]);
    assert_eq!(scene.status()["plan"]["owner"], serde_json::Value::Null);
}

fn the_news_of_a_subagent_refills_no_budget(program: &Program) {
    let scene = Scene::configured(program, "[stop]\nmax_cycles = 2\n", 1);
    let run = scene.run(
        Scenario::new("news")
            .prompt(PROMPT)
            .shell("ls")
            .say("Let me know!")
            .shell("ls")
            .say("Let me know!")
            .agent_in_background("general-purpose", "do the long part")
            .say("I wait for it.")
            .say("It is done, let me know!")
            .subagent(long_work()),
    );
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO, LET_GO]);
    assert_eq!(run.outcome(&scene), (2, Some("capped".to_owned())));
}
