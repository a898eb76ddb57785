//! The agent's other door to the ledger: the MCP server that `init` registers.

use serde_json::json;
use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on_every_host!(a_task_is_closed_through_the_server);

fn a_task_is_closed_through_the_server(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let run = scene.run(
        Scenario::new("server")
            .prompt(PROMPT)
            // The host connects to its servers while the first turn runs.
            .shell("sleep 1")
            .tool("mcp__steadfast__task_done", json!({"id": "1"}))
            .say("Let me know!")
            .tool("mcp__steadfast__task_done", json!({"id": "2"}))
            .say("Done."),
    );
    assert_eq!(scene.tasks(), ["done", "done"]);
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
}
