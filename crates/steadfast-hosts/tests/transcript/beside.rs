use std::fs;

use serde_json::{Value, json};
use steadfast_hosts::transcript::{SessionEvents, session_of};

use crate::sample::{File, call, line, lines, prompt, result, said, text};

/// A session that started a subagent in the background, and the file of that.
fn with_subagent() -> File {
    let mut launched = result(2, "c-1", "launched", json!({}));
    launched["toolUseResult"] = json!({"agentId": "a-1", "status": "async_launched"});
    let file = File::of(lines(&[
        prompt(0, "go"),
        said(1, "m-1", call("c-1", "Agent", json!({"subagent_type": "Explore"})), 5),
        launched,
        said(4, "m-2", text("I wait."), 5),
        prompt(9, "<task-notification>\n<task-id>a-1</task-id>"),
        said(10, "m-3", text("All is done."), 5),
    ]));
    let aside = |mut row: Value| {
        row["isSidechain"] = true.into();
        row["agentId"] = "a-1".into();
        row
    };
    let folder = file.path().with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    let rows = [
        aside(prompt(2, "look around")),
        aside(said(3, "n-1", call("d-1", "Read", json!({"file_path": "a"})), 5)),
        aside(result(5, "d-1", "a", json!({}))),
        aside(said(6, "n-2", text("An a."), 5)),
    ];
    fs::write(folder.join("agent-a-1.jsonl"), lines(&rows)).unwrap();
    fs::write(folder.join("agent-a-1.meta.json"), json!({"agentType": "Explore"}).to_string()).unwrap();
    file
}

#[test]
fn what_a_subagent_did_is_told_in_its_place() {
    let file = with_subagent();
    let events = SessionEvents::of(&file.path(), file.open()).unwrap();
    let told: String = events.map(|event| line(&event)).collect();
    insta::assert_snapshot!(told, @r#"
    {"session_start":{"source":"startup"}}
    {"prompt":{"text":"go","origin":"human"}}
    {"pre_tool":{"id":"c-1","tool":"Agent","action":{"delegate":{"agent_type":"Explore"}}}}
    "subagent_start" in a-1 (Explore)
    {"post_tool":{"call":{"id":"c-1","tool":"Agent","action":{"delegate":{"agent_type":"Explore"}}},"outcome":"ok","millis":1000}}
    {"pre_tool":{"id":"d-1","tool":"Read","action":{"read":{"paths":["a"]}}}} in a-1 (Explore)
    {"stop":{"again":false,"last_message":"I wait.","background":[{"what":"subagent","status":"running"}]}}
    {"post_tool":{"call":{"id":"d-1","tool":"Read","action":{"read":{"paths":["a"]}}},"outcome":"ok","millis":2000}} in a-1 (Explore)
    {"subagent_stop":{"again":false,"last_message":"An a."}} in a-1 (Explore)
    {"prompt":{"text":"<task-notification>\n<task-id>a-1</task-id>","origin":"notification"}}
    {"stop":{"again":false,"last_message":"All is done.","background":[]}}
    "#);
}

#[test]
fn a_subagents_file_names_its_session() {
    let file = with_subagent();
    let beside = file.path().with_extension("").join("subagents/agent-a-1.jsonl");
    assert_eq!(session_of(&beside), Some(file.path()));
    assert_eq!(session_of(&file.path()), None);
}

#[test]
fn damage_beside_is_counted_too() {
    let file = with_subagent();
    let folder = file.path().with_extension("").join("subagents");
    fs::write(folder.join("agent-b.jsonl"), "noise\n").unwrap();
    let torn = fs::read_to_string(folder.join("agent-a-1.jsonl")).unwrap() + "torn\n";
    fs::write(folder.join("agent-a-1.jsonl"), torn).unwrap();
    let mut events = SessionEvents::of(&file.path(), file.open()).unwrap();
    assert!(events.by_ref().count() > 8);
    assert_eq!(events.damaged(), 1, "what nobody wrote is no subagent");
}
