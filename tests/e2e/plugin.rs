//! The plugin and the skills, as the real hosts see them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use steadfast_model::Via;
use steadfast_sim::{Action, Scenario, Turn};

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::session::Run;
use crate::world::{PROMPT, Scene};

on!(the_plugin_and_the_marketplace_are_valid_without_a_warning: claude_2_1_325, claude_2_1_197);
on!(the_plugin_would_be_taken_by_the_directory: claude_2_1_325);
on!(a_skill_without_its_front_matter_is_noticed: claude_2_1_325);
on!(what_init_says_about_tokens_is_what_a_session_lists: claude_2_1_325, claude_2_1_197);
on!(a_plugin_brings_its_skills_into_a_session: claude_2_1_325, claude_2_1_197);
on!(the_plugin_alone_holds_a_session_and_closes_its_tasks: claude_2_1_325, claude_2_1_197);
on!(a_session_that_is_wired_and_has_the_plugin_is_refused_once: claude_2_1_325, claude_2_1_197);
on!(the_plugin_is_silent_where_init_was_never_run: claude_2_1_325);
on!(the_planner_that_comes_with_it_closes_the_gate_and_only_reads: claude_2_1_325, claude_2_1_197);
on_every_host!(the_skills_of_every_wiring_are_offered_to_the_model, after_uninstall_no_skill_is_offered);

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin").canonicalize().unwrap()
}

/// Whether it is valid, and what was said. A warning counts as an error.
fn validate(program: &Program, plugin: &Path, more: &[&str]) -> (bool, String) {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(&program.path)
        .args(["plugin", "validate", "--strict"])
        .args(more)
        .arg(plugin)
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .current_dir(home.path())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

fn the_plugin_and_the_marketplace_are_valid_without_a_warning(program: &Program) {
    for folder in [plugin(), plugin().parent().unwrap().to_owned()] {
        let (valid, said) = validate(program, &folder, &[]);
        assert!(valid && said.contains("Validation passed"), "{said}");
    }
}

fn the_plugin_would_be_taken_by_the_directory(program: &Program) {
    let (valid, said) = validate(program, &plugin(), &["--profile", "directory"]);
    assert!(valid && said.contains("These checks found nothing to report"), "{said}");
}

fn a_skill_without_its_front_matter_is_noticed(program: &Program) {
    let folder = tempfile::tempdir().unwrap();
    for file in [".claude-plugin/plugin.json", "skills/run-tasks/SKILL.md"] {
        let text = fs::read_to_string(plugin().join(file)).unwrap();
        let to = folder.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, text.trim_start_matches("---\n")).unwrap();
    }
    let (valid, said) = validate(program, folder.path(), &[]);
    assert!(!valid && said.contains("frontmatter"), "{said}");
}

/// `init` counts the names and descriptions of skills and agents, at four characters a token.
fn what_init_says_about_tokens_is_what_a_session_lists(program: &Program) {
    let scene = Scene::bare(program);
    let said = scene.steadfast(&["init", "--host", "claude", "--yes"]);
    let estimate: usize = said.split("about ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let run = scene.run(Scenario::new("lists").prompt("Hello.").say("Hello."));
    let body = &run.requests.iter().find(|request| request.body.to_string().contains("Hello.")).unwrap().body;
    let mut texts = Vec::new();
    collect(body, &mut texts);
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("- steadfast-"));
    let listed: std::collections::BTreeSet<&str> = lines.collect();
    let tokens = listed.iter().map(|line| line.chars().count() + 1).sum::<usize>() / 4;
    let tools =
        body["tools"].as_array().into_iter().flatten().filter(|tool| tool["name"].to_string().contains("mcp__"));
    eprintln!("{tokens} in {} lines, {} tools", listed.len(), tools.clone().count());
    assert!(tokens * 4 / 5 <= estimate && estimate <= tokens * 5 / 4, "{estimate} for {tokens}: {listed:#?}");
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(members) => members.values().for_each(|value| collect(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn with_plugin(scene: &Scene, scenario: Scenario) -> Run {
    scene.session(scenario).args(["--plugin-dir", plugin().to_str().unwrap()]).run()
}

fn a_plugin_brings_its_skills_into_a_session(program: &Program) {
    let scene = Scene::bare(program);
    let run = with_plugin(&scene, Scenario::new("plugin").prompt("Hello.").say("Hello."));
    let started = run.printed.iter().find(|row| row["subtype"] == "init").unwrap();
    let names = |of: &Value| -> Vec<String> {
        of.as_array().unwrap().iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
    };
    let (skills, agents, commands) =
        (names(&started["skills"]), names(&started["agents"]), names(&started["slash_commands"]));
    for skill in ["read-spec", "run-tasks", "plan", "implement", "loop", "counsel"] {
        assert!(skills.contains(&format!("steadfast:{skill}")), "{skills:?}");
    }
    for agent in ["planner", "expert-correctness", "expert-security", "expert-simplicity", "expert-tests"] {
        assert!(agents.contains(&format!("steadfast:{agent}")), "{agents:?}");
    }
    for command in ["start", "resume", "status"] {
        assert!(commands.contains(&format!("steadfast:{command}")), "{commands:?}");
    }
    let servers = started["mcp_servers"].as_array().unwrap();
    assert!(servers.iter().any(|server| server["name"] == "plugin:steadfast:steadfast"), "{servers:?}");
}

/// State is all that `init` has to leave: the hooks and the server come with the plugin.
fn the_plugin_alone_holds_a_session_and_closes_its_tasks(program: &Program) {
    let scene = Scene::bare(program);
    fs::create_dir(scene.state()).unwrap();
    for title in ["One", "Two"] {
        scene.steadfast(&["task", "add", title, "--file", "README.md", "--verify", "true"]);
    }
    let run = with_plugin(
        &scene,
        Scenario::new("plugin")
            .prompt(PROMPT)
            // The host connects to its servers while the first turn runs.
            .shell("sleep 1")
            .tool("mcp__plugin_steadfast_steadfast__task_done", json!({"id": "1"}))
            .say("Let me know!")
            .tool("mcp__plugin_steadfast_steadfast__task_done", json!({"id": "2"}))
            .say("Done."),
    );
    assert_eq!(scene.tasks(), ["done", "done"]);
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    assert_eq!(run.outcome(&scene), (1, Some("complete".to_owned())));
    assert!(run.journal.records.iter().any(|record| record.event.via == Via::Plugin));
    assert!(!scene.root().join(".claude").exists());
}

fn a_session_that_is_wired_and_has_the_plugin_is_refused_once(program: &Program) {
    let scene = Scene::with_tasks(program, 1);
    let run = with_plugin(&scene, Scenario::new("talks").prompt(PROMPT).say("Let me know!"));
    assert_eq!(run.outcome(&scene), (3, Some("capped".to_owned())));
    for via in [Via::Local, Via::Plugin] {
        assert!(run.journal.records.iter().any(|record| record.event.via == via), "{via}");
    }
}

fn the_plugin_is_silent_where_init_was_never_run(program: &Program) {
    let scene = Scene::bare(program);
    let run = with_plugin(&scene, Scenario::new("talks").prompt(PROMPT).say("Let me know!"));
    assert!(run.status.success());
    assert_eq!(run.told().len(), 1);
    assert!(!scene.state().exists());
}

/// What stands in the list of skills about each of ours.
fn offered(scene: &Scene) -> [bool; 6] {
    let run = scene.run(Scenario::new("skills").prompt("Hello.").say("Hello."));
    let body =
        run.requests.iter().find(|request| request.body.to_string().contains("Hello.")).unwrap().body.to_string();
    [
        ("steadfast-read-spec", "Turns a request into a SPEC.json or SPEC.md"),
        ("steadfast-run-tasks", "Works through the tasks of the Steadfast plan"),
        ("steadfast-plan", "Plans a change and gets the yes of a human"),
        ("steadfast-implement", "Builds the plan that a human approved"),
        ("steadfast-loop", "Takes a request or a spec from its first sentence"),
        ("steadfast-counsel", "Asks two to four experts"),
    ]
    .map(|(name, description)| body.contains(&format!("{name}: {description}")))
}

fn the_skills_of_every_wiring_are_offered_to_the_model(program: &Program) {
    for scope in [&[][..], &["--shared"], &["--user"]] {
        let scene = Scene::bare(program);
        scene.init(scope);
        assert_eq!(offered(&scene), [true; 6], "{scope:?}");
    }
}

fn after_uninstall_no_skill_is_offered(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&[]);
    scene.steadfast(&["uninstall"]);
    assert_eq!(offered(&scene), [false; 6]);
}

fn the_planner_that_comes_with_it_closes_the_gate_and_only_reads(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&[]);
    scene.run(
        Scenario::new("planner")
            .prompt("Plan it.")
            .agent("steadfast-planner", "plan it")
            .subagent([
                Turn::doing([Action::shell("echo x > notes.txt")]),
                Turn::doing([Action::shell("mkdir -p .steadfast/scratch && echo x > .steadfast/scratch/notes.txt")]),
                Turn::saying("That is all."),
            ])
            .say("Nothing is drafted."),
    );
    assert!(!scene.root().join("notes.txt").exists());
    assert!(scene.root().join(".steadfast/scratch/notes.txt").exists());
    assert!(scene.steadfast(&["plan", "status", "--json"]).contains("\"gate\":\"locked\""));
}
