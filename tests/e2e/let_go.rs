//! Stops that are let go though tasks are open, and hooks that disturb nothing.

use steadfast_sim::Scenario;
use steadfast_store::ledger::{HistoryFilter, Ledger};

use crate::agents::Program;
use crate::journal::LET_GO;
use crate::world::{PROMPT, Scene};

on_every_host!(
    an_error_of_the_service_is_no_stop,
    observing_refuses_nothing_and_keeps_the_opinion,
    a_vanished_state_disturbs_nothing,
    a_vanished_binary_disturbs_nothing
);
on!(a_session_that_plans_may_stop: claude_2_1_325, claude_2_1_197);

fn an_error_of_the_service_is_no_stop(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    // Of its own accord Claude Code would try again for minutes; Codex cannot be told not to, except by such an error.
    let error = if program.is_claude() { 529 } else { 400 };
    let run = scene
        .session(Scenario::new("fails").prompt(PROMPT).shell("ls").fail(error, 99))
        .env("CLAUDE_CODE_MAX_RETRIES", "0")
        .run();
    assert_eq!(run.journal.refusals(), [""; 0]);
    assert_eq!(run.outcome(&scene).0, 0);
    assert!(!run.status.success());
    if program.is_claude() {
        assert!(run.journal.events().contains(&"StopFailure"), "{:?}", run.journal.events());
    }
}

fn a_session_that_plans_may_stop(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene
        .session(Scenario::new("plans").prompt(PROMPT).read("README.md").say("This is my plan."))
        .guarded()
        .args(["--permission-mode", "plan"])
        .run();
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.outcome(&scene), (0, Some("yielded".to_owned())));
}

fn observing_refuses_nothing_and_keeps_the_opinion(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&["--mode", "observe"]);
    scene.steadfast(&["task", "add", "piece 1", "--file", "README.md", "--verify", "true"]);
    let run = scene.run(Scenario::new("talks").prompt(PROMPT).say("Let me know!"));
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.told().len(), 1);
    assert!(!run.told()[0].contains("Steadfast holds"));
    assert_eq!(run.outcome(&scene).0, 0, "what was not refused is no refusal");
    let ledger = Ledger::open_read_only(&scene.state()).unwrap().unwrap();
    let history = ledger.history(&HistoryFilter::default()).unwrap();
    let stop = history.iter().find(|line| line.event == "Stop").unwrap();
    assert_eq!(
        (stop.policy.as_str(), stop.mode.as_str(), stop.verdict.as_str()),
        ("completion", "observe", "continue")
    );
    assert!(stop.reason.starts_with("1 of 1 tasks is open: 1 piece 1."), "{}", stop.reason);
}

fn a_vanished_state_disturbs_nothing(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    // In plain sight it would be refused; and Codex refuses to run `rm -rf`.
    scene.write("vanish.sh", "mv .git/steadfast ../gone\n");
    let run = scene.run(Scenario::new("vanishes").prompt(PROMPT).shell("sh vanish.sh").shell("ls").say("Let me know!"));
    assert!(run.status.success());
    assert_eq!(run.told().len(), 3);
    assert!(!scene.state().exists());
}

fn a_vanished_binary_disturbs_nothing(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    std::fs::remove_file(scene.dir().join("bin/steadfast")).unwrap();
    let run = scene.run(Scenario::new("vanished").prompt(PROMPT).shell("ls").say("Let me know!"));
    assert!(run.status.success());
    assert_eq!(run.told().len(), 2);
    assert!(run.told()[1].contains("README.md"), "the tool ran");
}
