//! What is for the human only is refused inside an agent's call.

use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::world::{PROMPT, Scene};

on_every_host!(an_agent_cannot_run_a_humans_command);

fn an_agent_cannot_run_a_humans_command(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    scene.steadfast(&["task", "block", "1", "--why", "the key is missing"]);
    scene.steadfast(&["task", "add", "piece 2"]);
    let run = scene.run(
        Scenario::new("tries")
            .prompt(PROMPT)
            .shell("steadfast task unblock 1; echo unblock=$?")
            // Without what the host says of itself, the claim that the pre-tool hook left still tells.
            .shell("env -i HOME=\"$HOME\" PATH=\"$PATH\" steadfast task unblock 1; echo disguised=$?")
            .shell("steadfast uninstall --purge; echo uninstall=$?")
            .shell("steadfast init --mode observe --yes; echo init=$?")
            .shell("steadfast task done 2")
            .say("Done."),
    );
    let told = run.told().pop().unwrap();
    for refused in ["unblock=2", "disguised=2", "uninstall=2", "init=2"] {
        assert!(told.contains(refused), "{refused}");
    }
    assert_eq!(scene.tasks(), ["blocked", "done"]);
    assert_eq!(run.outcome(&scene), (0, Some("all blocked".to_owned())));
}
