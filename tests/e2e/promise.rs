//! What an agent promises at its stop, on every host.

use steadfast_model::Ruling;
use steadfast_sim::{Action, Scenario, Turn};

use crate::agents::Program;
use crate::journal::{Journal, LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on_every_host!(
    a_false_promise_is_answered_with_what_is_open,
    an_agent_that_needs_the_user_is_told_what_else_there_is_and_then_let_go,
    a_full_context_is_let_go_as_checkpoint,
);
on!(a_subagent_is_held_by_the_task_it_started: claude_2_1_325, claude_2_1_197);
on!(a_subagent_of_codex_is_held_by_the_task_it_started: codex_0_166_0);

fn a_false_promise_is_answered_with_what_is_open(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(
        Scenario::new("promises")
            .prompt(PROMPT)
            .shell("steadfast task done 1")
            .say("All is done. <promise>ALL TASKS COMPLETE</promise>")
            .shell("steadfast task done 2")
            .say("<promise>ALL TASKS COMPLETE</promise>"),
    );
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    let refusal = run.journal.refusals()[0];
    assert!(
        refusal.starts_with("You promised `ALL TASKS COMPLETE`, but 1 of 2 tasks is open: 2 piece 2. Next is 2."),
        "{refusal}"
    );
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}

fn an_agent_that_needs_the_user_is_told_what_else_there_is_and_then_let_go(program: &Program) {
    let scene = Scene::with_tasks(program, 3);
    let run = scene.run(
        Scenario::new("asks")
            .prompt(PROMPT)
            .shell("steadfast task start 1")
            .say("Which key is it?\n\n<promise>BLOCKED - NEEDS USER</promise>")
            .shell("steadfast task done 2")
            .say("<promise>BLOCKED - NEEDS USER</promise>"),
    );
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    let refusal = run.journal.refusals()[0];
    assert!(refusal.starts_with("1 is blocked until the user has answered. 2 of 3 tasks are open: "), "{refusal}");
    assert_eq!(run.outcome(&scene), (1, Some("needs user".to_owned())));
    assert_eq!(scene.tasks(), ["blocked", "done", "pending"]);
}

fn a_full_context_is_let_go_as_checkpoint(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(Scenario::new("full").prompt(PROMPT).say("<promise>CONTEXT LIMIT - CHECKPOINT</promise>"));
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.outcome(&scene), (0, Some("checkpoint".to_owned())));
}

/// The texts of all refusals, also to subagents.
fn refusals(journal: &Journal) -> Vec<&str> {
    let reasons = journal.records.iter().filter_map(|record| match &record.answer.ruling {
        Ruling::Continue { reason } => Some(reason.as_str()),
        Ruling::Pass | Ruling::Ask { .. } | Ruling::AskInstead(_) | Ruling::Deny { .. } => None,
    });
    reasons.collect()
}

fn a_subagent_is_held_by_the_task_it_started(program: &Program) {
    held(program, Scenario::new("subagent").prompt(PROMPT).agent("general-purpose", "do the first"));
}

/// Codex does not wait for its subagents.
fn a_subagent_of_codex_is_held_by_the_task_it_started(program: &Program) {
    held(program, Scenario::new("subagent").prompt(PROMPT).agent("general-purpose", "do the first").shell("sleep 4"));
}

fn held(program: &Program, begins: Scenario) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(begins.shell("steadfast task done 2").say("Done.").subagent([
        Turn::doing([Action::shell("steadfast task start 1")]),
        Turn::saying("I am done!"),
        Turn::doing([Action::shell("steadfast task done 1")]),
        Turn::saying("Now I am."),
    ]));
    let refusals = refusals(&run.journal);
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(refusals[0].starts_with("This agent started a task that is in progress: 1 piece 1."), "{refusals:?}");
    assert_eq!(scene.tasks(), ["done", "done"]);
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}
