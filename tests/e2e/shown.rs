//! What the human sees in Claude Code: refusals in our name and not as an error, one line for what Steadfast does, and
//! the plan beside the question about it.

use serde_json::json;
use steadfast_sim::{Scenario, Turn};

use crate::agents::Program;
use crate::gate::{attended, proposing};
use crate::journal::{LET_GO, REFUSED};
use crate::session::Run;
use crate::terminal::{Terminal, scene};
use crate::world::{PROMPT, Scene};

on!(a_refused_stop_is_feedback_in_our_name_on_the_screen: claude_2_1_325, claude_2_1_197);
on!(under_p_the_agent_gets_the_refusal_as_feedback_and_goes_on: claude_2_1_325, claude_2_1_197);
on!(a_version_that_is_not_known_gets_the_form_that_every_version_knows: claude_2_1_325, claude_2_1_197);
on!(a_subagent_gets_its_refusal_as_feedback: claude_2_1_325, claude_2_1_197);
on!(start_correction_and_denied_call_are_one_line_each: claude_2_1_325, claude_2_1_197);
on!(quiet_shows_none_of_these_lines: claude_2_1_325);
on!(approve_and_start_shows_the_plan_loads_it_and_holds_the_session: claude_2_1_325, claude_2_1_197);

/// How the host names a refusal in the next request.
const FEEDBACK: &str = "Stop hook additional context: ";
const BLOCKED: &str = "Stop hook feedback:";

fn told(run: &Run) -> String {
    run.told().join("\n")
}

/// The screen as text: a line may break anywhere between words.
fn read(terminal: &Terminal<'_>) -> String {
    terminal.screen().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn a_refused_stop_is_feedback_in_our_name_on_the_screen(program: &Program) {
    let scene = scene(program, 2);
    let scenario = Scenario::new("obeys")
        .prompt("-")
        .say("Good progress!")
        .shell("steadfast task done 1")
        .say("More progress!")
        .shell("steadfast task done 2")
        .say("Done.");
    let Some(terminal) = Terminal::open(&scene, scenario) else { return };
    terminal.enter(PROMPT);
    terminal.until("Stop", 3);
    let line = "Steadfast: not done yet. 1 of 2 tasks open, next: 2 piece 2";
    terminal.wait("the line about the refusal", || read(&terminal).contains(line));
    let screen = read(&terminal);
    assert!(screen.contains("Steadfast: not done yet. 2 of 2 tasks open, next: 1 piece 1"), "{screen}");
    for absent in ["hook error", "AskUserQuestion", "(refusal"] {
        assert!(!screen.contains(absent), "{absent:?} is on the screen: {screen}");
    }
    let [session] = terminal.sessions().try_into().unwrap();
    assert_eq!(session.stops(), [REFUSED, REFUSED, LET_GO]);
}

fn under_p_the_agent_gets_the_refusal_as_feedback_and_goes_on(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene
        .run(Scenario::new("obeys").prompt(PROMPT).say("Good progress!").shell("steadfast task done 1").say("Done."));
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    assert_eq!(scene.tasks(), ["done"]);
    let told = told(&run);
    assert!(told.contains(&format!("{FEEDBACK}1 of 1 tasks is open: 1 piece 1.")), "{told}");
    assert!(!told.contains(BLOCKED), "{told}");
}

/// Claude Code leaves a name that is not its own.
fn a_version_that_is_not_known_gets_the_form_that_every_version_knows(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let talks = Scenario::new("obeys").prompt(PROMPT).say("Good progress!").shell("steadfast task done 1").say("Done.");
    let run = scene.session(talks).env("AI_AGENT", "another-harness").run();
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    let told = told(&run);
    assert!(told.contains(BLOCKED) && !told.contains(FEEDBACK), "{told}");
}

fn a_subagent_gets_its_refusal_as_feedback(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = scene.run(
        Scenario::new("delegates")
            .prompt("Look around.")
            .agent("general-purpose", "do task 1")
            .subagent([
                Turn::doing([steadfast_sim::Action::shell("steadfast task start 1")]),
                Turn::saying("I looked at it."),
                Turn::doing([steadfast_sim::Action::shell("steadfast task done 1")]),
                Turn::saying("Done."),
            ])
            .say("Done."),
    );
    assert_eq!(scene.tasks(), ["done"]);
    let all: String = run.requests.iter().map(steadfast_sim::Request::text).collect();
    assert!(all.contains("SubagentStop hook additional context: This agent started a task"), "{all}");
}

fn drifting() -> Scenario {
    // The host asks about its own Write, and not about a shell.
    let write = |name: &str| format!("mkdir -p site && echo 'a {{}}' > site/{name}");
    let mut scenario = Scenario::new("drifts").prompt("-").read("src/auth/token.ts");
    scenario = scenario.shell("echo 'export const token = 2;' > src/auth/token.ts");
    for name in ["theme.css", "fonts.css", "layout.css", "menu.css"] {
        scenario = scenario.shell(write(name));
    }
    scenario.shell("git commit -am x").shell("git commit -am x").say("Let me know!")
}

/// With a task that the human has not ordered yet.
fn at_work(scene: &Scene) {
    scene.write("src/auth/token.ts", "export const token = 1;\n");
    scene.git(["add", "."]);
    scene.git(["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "more"]);
}

fn start_correction_and_denied_call_are_one_line_each(program: &Program) {
    let scene = scene(program, 2);
    at_work(&scene);
    let Some(terminal) = Terminal::open(&scene, drifting()) else { return };
    let start = "Steadfast: 2 open tasks wait here, next: 1 piece 1. To start, say: do the tasks";
    terminal.wait("the line at the start", || read(&terminal).contains(start));
    terminal.enter("Rotate the token in src/auth/token.ts, but don't commit.");
    terminal.until("Stop", 1);
    let refused =
        "Steadfast refused `git commit -am x`. You said: \"Rotate the token in src/auth/token.ts, but don't commit\".";
    terminal.wait("the line about the commit", || read(&terminal).contains(refused));
    let screen = read(&terminal);
    assert_eq!(screen.matches("Steadfast refused").count(), 1, "the same line twice: {screen}");
    assert!(screen.contains("Steadfast: off course?"), "{screen}");
}

fn quiet_shows_none_of_these_lines(program: &Program) {
    let scene = scene(program, 2);
    scene.write("steadfast.toml", "[ui]\nverbosity = \"quiet\"\n");
    at_work(&scene);
    let Some(terminal) = Terminal::open(&scene, drifting()) else { return };
    terminal.enter("Rotate the token in src/auth/token.ts, but don't commit.");
    terminal.until("Stop", 1);
    // It needs the human.
    terminal.wait("the note about the drift", || read(&terminal).contains("The work drifted and has not come back"));
    let screen = read(&terminal);
    for absent in ["open tasks wait", "part of the goal?", "off course?", "Steadfast refused"] {
        assert!(!screen.contains(absent), "{absent:?} is on the screen: {screen}");
    }
}

fn approve_and_start_shows_the_plan_loads_it_and_holds_the_session(program: &Program) {
    let scene = attended(program);
    let question = json!({"questions": [{"question": "Do you approve the plan?", "header": "Plan", "multiSelect": false,
        "options": [{"label": "Yes", "description": "go"}, {"label": "No", "description": "no"}]}]});
    let scenario = proposing("asks").tool("AskUserQuestion", question).say("Let me know!");
    let Some(terminal) = Terminal::open(&scene, scenario) else { return };
    terminal.enter("Plan it.");
    terminal.wait("our question", || terminal.screen().contains("Approve and start"));
    let dialog = read(&terminal);
    assert!(dialog.contains("Make codes"), "the plan is not beside the question: {dialog}");
    terminal.press("Enter", || scene.status()["gate"] == "open");
    terminal.until("Stop", 4);
    let [session] = terminal.sessions().try_into().unwrap();
    assert_eq!(session.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    let status = scene.status();
    assert_eq!(
        (status["approval"].as_str(), status["plan"]["owner"].as_str()),
        (Some("approved"), Some(session.session()))
    );
    let screen = read(&terminal);
    assert!(screen.contains("is approved, and the plan gate is open. It is loaded: "), "{screen}");
}
