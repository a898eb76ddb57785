//! Codex in its sandbox: the agent's shell cannot write our state, our hooks can.

use std::fs;

use serde_json::json;
use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on!(hooks_work_outside_the_sandbox: codex_0_166_0);
on!(in_the_sandbox_a_task_is_closed_through_the_server: codex_0_166_0);

fn hooks_work_outside_the_sandbox(program: &Program) {
    let scene = sandboxed(program);
    let run = scene
        .session(
            Scenario::new("sandbox")
                .prompt(PROMPT)
                .shell("touch in-the-workspace; touch .git/steadfast/in-the-state")
                .say("Let me know!"),
        )
        .guarded()
        .run();
    assert!(scene.root().join("in-the-workspace").exists());
    assert!(!scene.state().join("in-the-state").exists());
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
}

/// What the hint says is true.
fn in_the_sandbox_a_task_is_closed_through_the_server(program: &Program) {
    let scene = sandboxed(program);
    let run = scene
        .session(
            Scenario::new("sandbox")
                .prompt(PROMPT)
                .shell("steadfast task list && steadfast task done 1")
                .tool("mcp__steadfast__task_done", json!({"id": "1"}))
                .say("Done."),
        )
        .guarded()
        .run();
    let told = run.told();
    assert!(told[1].contains("1  pending      piece 1"));
    assert!(!told[0].contains("MCP server `steadfast`") && told[1].contains("MCP server `steadfast`"));
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.outcome(&scene), (0, Some("complete".to_owned())));
}

fn sandboxed(program: &Program) -> Scene {
    let scene = Scene::bare(program);
    let config = scene.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap().replace("danger-full-access", "workspace-write");
    assert!(text.contains("workspace-write"));
    fs::write(&config, text).unwrap();
    scene.init(&[]);
    scene.steadfast(&["task", "add", "piece 1"]);
    scene
}
