//! One write to the wiring, dressed in every way on the list, by an agent whose permissions are skipped.

use std::fs;

use steadfast_model::{EventKind, Ruling};
use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::world::{PROMPT, Scene};

#[path = "../../crates/steadfast-shell/tests/list/dressings.rs"]
mod list;

on!(no_dressing_writes_the_wiring: claude_2_1_325);

fn no_dressing_writes_the_wiring(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    let settings = scene.root().join(".claude/settings.json");
    scene.write(".claude/settings.json", "{}\n");
    for file in ["a", "b", "x", "settings.json"] {
        scene.write(file, "x\n");
    }
    let root = scene.root().display().to_string();
    let lines: Vec<String> = list::DRESSINGS.iter().map(|line| line.replace("/repo", &root)).collect();
    let scenario = lines.iter().fold(Scenario::new("red team").prompt(PROMPT), |scenario, line| scenario.shell(line));
    let run = scene.run(scenario.say("Tried them all."));

    let denied: Vec<&str> = run
        .journal
        .records
        .iter()
        .filter(|record| matches!(record.answer.ruling, Ruling::Deny { .. }))
        .filter_map(|record| match &record.event.kind {
            EventKind::PreTool(call) => match &call.action {
                steadfast_model::Action::Shell { command, .. } => Some(command.as_str()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let through: Vec<&String> = lines.iter().filter(|line| !denied.contains(&line.as_str())).collect();
    assert!(through.is_empty(), "not refused: {through:#?}");
    assert!(lines.len() >= 60);
    assert_eq!(fs::read_to_string(settings).unwrap(), "{}\n");
}
