//! What Claude Code asks its human before it runs, in its usual mode: a real host in a terminal.

use serde_json::json;
use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::terminal::{Asking, Terminal, Window, scene_with};
use crate::world::{PROMPT, Scene};

on!(calls_that_init_allowed_are_not_asked_for_and_a_humans_are_refused: claude_2_1_325, claude_2_1_197);
on!(without_the_permissions_the_first_call_asks: claude_2_1_325, claude_2_1_197);
on!(codex_does_not_ask_before_a_tool_of_the_server: codex_0_166_0);
on!(a_tool_of_the_server_asks_without_the_permissions: claude_2_1_325, claude_2_1_197);

const ASKING: Window = Window { asking: Asking::AsUsual, ..Window::USUAL };

/// The dialog of Claude Code.
const DIALOG: &str = "Do you want to proceed?";

fn tasks(scene: &Scene) {
    for number in 1..=3 {
        scene.steadfast(&["task", "add", &format!("piece {number}"), "--file", "README.md", "--verify", "true"]);
    }
    scene.steadfast(&["task", "block", "3", "--why", "the key is missing"]);
}

fn calls_that_init_allowed_are_not_asked_for_and_a_humans_are_refused(program: &Program) {
    let scene = scene_with(program, &[]);
    tasks(&scene);
    let scenario = Scenario::new("works")
        .prompt(PROMPT)
        .shell("steadfast task next")
        .shell("steadfast task done 1")
        .tool("mcp__steadfast__task_next", json!({}))
        .tool("mcp__steadfast__task_done", json!({"id": "2"}))
        .shell("steadfast task unblock 3")
        // The rule for `task done` covers these words; the hook refuses them.
        .shell("steadfast task done 3 --force")
        // A permission is for one command of a line.
        .shell("steadfast task next && touch asked.txt")
        .say("Done.");
    let Some(terminal) = Terminal::open_in(ASKING, &scene, scenario) else { return };
    terminal.enter(PROMPT);
    terminal.until("PermissionRequest", 1);
    terminal.wait("the dialog", || terminal.screen().contains(DIALOG));
    assert!(terminal.screen().contains("touch asked.txt"), "{}", terminal.screen());
    assert_eq!(scene.tasks(), ["done", "done", "blocked"]);
    let requests = terminal.model.requests();
    let told = requests.last().unwrap().text();
    assert!(told.contains("Only a human can run `steadfast task unblock`"), "{told}");
    assert!(told.contains("Only a human can run `steadfast task done --force`"), "{told}");
    assert!(!scene.root().join("asked.txt").exists());
}

fn without_the_permissions_the_first_call_asks(program: &Program) {
    asks_at_once(program, |scenario| scenario.shell("steadfast task next"), "steadfast task next");
}

fn a_tool_of_the_server_asks_without_the_permissions(program: &Program) {
    asks_at_once(program, |scenario| scenario.tool("mcp__steadfast__task_next", json!({})), "task next");
}

/// Codex goes by what the tools say of themselves, so `init` writes it no rules.
fn codex_does_not_ask_before_a_tool_of_the_server(program: &Program) {
    let scene = scene_with(program, &[]);
    tasks(&scene);
    let scenario = Scenario::new("works")
        .prompt(PROMPT)
        .tool("mcp__steadfast__task_next", json!({}))
        .tool("mcp__steadfast__task_done", json!({"id": "1"}))
        .tool("mcp__steadfast__task_add", json!({"title": "piece 4"}))
        .say("<promise>BLOCKED - NEEDS USER</promise>");
    let Some(terminal) = Terminal::open_in(ASKING, &scene, scenario) else { return };
    terminal.enter(PROMPT);
    terminal.until("Stop", 1);
    let [session] = terminal.sessions().try_into().unwrap();
    assert!(!session.events().contains(&"PermissionRequest"), "{:?}", session.events());
    let tasks = scene.tasks();
    assert_eq!((tasks[0].as_str(), tasks.len()), ("done", 4), "{tasks:?}");
}

fn asks_at_once(program: &Program, first: impl Fn(Scenario) -> Scenario, named: &str) {
    let scene = scene_with(program, &["--no-permissions"]);
    tasks(&scene);
    let scenario = first(Scenario::new("asks").prompt(PROMPT)).say("Done.");
    let Some(terminal) = Terminal::open_in(ASKING, &scene, scenario) else { return };
    terminal.enter(PROMPT);
    terminal.until("PermissionRequest", 1);
    terminal.wait("the dialog", || terminal.screen().contains(DIALOG));
    // A tool is shown by its name or by its title.
    let screen = terminal.screen().to_lowercase().replace('_', " ");
    assert!(screen.contains(named), "{screen}");
    // An update does not ask the human again, and `doctor` says what it costs.
    scene.init(&[]);
    let findings = String::from_utf8(scene.try_steadfast(&["doctor"]).stdout).unwrap();
    assert!(findings.contains("permissions-declined") && findings.contains("init --permissions"), "{findings}");
}
