//! The stop gate: an agent that stops early goes on, one that does not is let go in the end, as capped.

use std::fs;

use steadfast_sim::{Action, Scenario, Then, Turn};

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on_every_host!(
    an_agent_that_stops_early_is_told_what_is_open_and_goes_on,
    an_agent_that_only_talks_is_let_go_as_capped,
    an_agent_that_is_busy_with_nothing_is_let_go_as_capped,
    the_default_budget_of_a_busy_agent_is_fifty,
    more_refusals_than_the_host_would_grant_by_itself_are_granted,
    a_closed_task_of_the_human_gives_three_refusals_back,
    a_task_the_agent_added_itself_gives_nothing_back,
    what_is_left_being_blocked_lets_go,
    tasks_closed_by_parallel_calls_are_all_closed,
);
on!(the_human_reads_that_it_was_capped: claude_2_1_325);

fn an_agent_that_stops_early_is_told_what_is_open_and_goes_on(program: &Program) {
    let scene = Scene::with_tasks(program, 3);
    let run = scene.run(
        Scenario::new("obeys")
            .prompt(PROMPT)
            .say("I have made good progress, let me know!")
            .shell("steadfast task done 1")
            .shell("steadfast task done 2")
            .shell("steadfast task done 3")
            .say("All three are done."),
    );
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    let refusal = run.journal.refusals()[0];
    assert!(refusal.starts_with("3 of 3 tasks are open: 1 piece 1; 2 piece 2; 3 piece 3. Next is 1."), "{refusal}");
    assert!(refusal.ends_with(" sets it aside.") || refusal.ends_with("read-only."), "{refusal}");
    assert_eq!(scene.tasks(), ["done", "done", "done"]);
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}

fn an_agent_that_only_talks_is_let_go_as_capped(program: &Program) {
    let scene = Scene::with_tasks(program, 3);
    let run = scene.run(Scenario::new("talks").prompt(PROMPT).say("Let me know!"));
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    assert_eq!(scene.tasks(), ["pending", "pending", "pending"]);
    assert_eq!(run.outcome(&scene), (3, capped()));
}

/// Of the hosts only this one shows it under `-p`; `steadfast status` has it everywhere.
fn the_human_reads_that_it_was_capped(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene.run(Scenario::new("talks").prompt(PROMPT).say("Let me know!"));
    let shown = run.printed.iter().filter_map(|line| line["content"].as_str());
    let [bound, refused, note] = shown.collect::<Vec<_>>().try_into().unwrap();
    assert!(bound.contains("`steadfast plan release`"), "{bound}");
    assert!(refused.contains("Steadfast: not done yet. 1 of 1 task open, next: 1 piece 1"), "{refused}");
    assert!(note.contains("after 3 refusals in a row without a tool call: 1 of 1 tasks is open"), "{note}");
    assert!(note.contains("capped, not complete"), "{note}");
}

fn an_agent_that_is_busy_with_nothing_is_let_go_as_capped(program: &Program) {
    let scene = Scene::configured(program, "[stop]\nmax_cycles = 6\n", 3);
    let run = scene.run(busy());
    assert_eq!(run.journal.stops(), [[REFUSED; 6].as_slice(), &[LET_GO]].concat());
    assert_eq!(run.outcome(&scene), (6, capped()));
}

fn the_default_budget_of_a_busy_agent_is_fifty(program: &Program) {
    let scene = Scene::with_tasks(program, 3);
    let run = scene.run(busy());
    assert_eq!(run.journal.stops(), [[REFUSED; 50].as_slice(), &[LET_GO]].concat());
    assert_eq!(run.outcome(&scene), (50, capped()));
}

fn more_refusals_than_the_host_would_grant_by_itself_are_granted(program: &Program) {
    let scene = Scene::configured(program, "[stop]\nmax_idle = 12\nmax_cycles = 12\n", 3);
    if program.is_claude() {
        let settings = fs::read_to_string(scene.root().join(".claude/settings.local.json")).unwrap();
        assert!(settings.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), "{settings}");
    }
    let run = scene.run(Scenario::new("talks").prompt(PROMPT).say("Let me know!"));
    assert_eq!(run.journal.stops(), [[REFUSED; 12].as_slice(), &[LET_GO]].concat());
    assert_eq!(run.told().len(), 13, "the host went on after every refusal");
    assert_eq!(run.outcome(&scene), (12, capped()));
}

fn a_closed_task_of_the_human_gives_three_refusals_back(program: &Program) {
    let scene = Scene::configured(program, "[stop]\nmax_cycles = 2\n", 3);
    let run = scene.run(
        Scenario::new("one done")
            .prompt(PROMPT)
            .shell("ls")
            .say("Let me know!")
            .shell("ls")
            .say("Let me know!")
            .shell("steadfast task done 1")
            .say("Let me know!")
            .shell("ls")
            .say("Let me know!")
            .then(Then::Loop(2)),
    );
    assert_eq!(run.journal.stops(), [[REFUSED; 5].as_slice(), &[LET_GO]].concat());
    assert_eq!(run.outcome(&scene), (5, capped()));
    assert_eq!(scene.tasks(), ["done", "pending", "pending"]);
}

fn a_task_the_agent_added_itself_gives_nothing_back(program: &Program) {
    let scene = Scene::configured(program, "[stop]\nmax_cycles = 2\n", 1);
    let run = scene.run(
        Scenario::new("its own")
            .prompt(PROMPT)
            .shell("steadfast task add mine --file README.md --verify true")
            .say("Let me know!")
            .shell("steadfast task done 2")
            .say("Let me know!")
            .shell("ls")
            .say("Let me know!")
            .then(Then::Loop(2)),
    );
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (2, capped()));
    assert_eq!(scene.tasks(), ["pending", "done"]);
}

fn what_is_left_being_blocked_lets_go(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(
        Scenario::new("blocked")
            .prompt(PROMPT)
            .shell("steadfast task done 1")
            .shell("steadfast task block 2 --why 'the key is missing'")
            .say("One is blocked."),
    );
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.outcome(&scene), (0, Some("all blocked".to_owned())));
    assert_eq!(scene.tasks(), ["done", "blocked"]);
}

fn tasks_closed_by_parallel_calls_are_all_closed(program: &Program) {
    let scene = Scene::with_tasks(program, 4);
    let calls = (1..=4).map(|number| Action::shell(format!("steadfast task done {number}")));
    let run = scene.run(Scenario::new("parallel").prompt(PROMPT).turn(Turn::doing(calls)).say("Done."));
    assert_eq!(scene.tasks(), ["done"; 4]);
    assert_eq!(run.outcome(&scene), (0, Some("complete".to_owned())));
}

fn capped() -> Option<String> {
    Some("capped".to_owned())
}

/// Calls a tool before every stop and closes nothing.
fn busy() -> Scenario {
    Scenario::new("busy").prompt(PROMPT).shell("ls").say("Let me know!").then(Then::Loop(2))
}
