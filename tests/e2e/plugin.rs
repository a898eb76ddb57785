//! The plugin and the skills, as the real hosts see them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_sim::{Action, Scenario, Turn};

use crate::agents::Program;
use crate::world::Scene;

on!(the_plugin_is_valid_without_a_warning: claude_2_1_325, claude_2_1_197);
on!(a_skill_without_its_front_matter_is_noticed: claude_2_1_325);
on!(a_plugin_brings_its_skills_into_a_session: claude_2_1_325, claude_2_1_197);
on!(the_planner_that_comes_with_it_closes_the_gate_and_only_reads: claude_2_1_325, claude_2_1_197);
on_every_host!(the_skills_of_every_wiring_are_offered_to_the_model, after_uninstall_no_skill_is_offered);

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin").canonicalize().unwrap()
}

/// Whether it is valid, and what was said. A warning counts as an error.
fn validate(program: &Program, plugin: &Path) -> (bool, String) {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(&program.path)
        .args(["plugin", "validate", "--strict"])
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

fn the_plugin_is_valid_without_a_warning(program: &Program) {
    let (valid, said) = validate(program, &plugin());
    assert!(valid && said.contains("Validation passed"), "{said}");
}

fn a_skill_without_its_front_matter_is_noticed(program: &Program) {
    let folder = tempfile::tempdir().unwrap();
    for file in [".claude-plugin/plugin.json", "skills/run-tasks/SKILL.md"] {
        let text = fs::read_to_string(plugin().join(file)).unwrap();
        let to = folder.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, text.trim_start_matches("---\n")).unwrap();
    }
    let (valid, said) = validate(program, folder.path());
    assert!(!valid && said.contains("frontmatter"), "{said}");
}

fn a_plugin_brings_its_skills_into_a_session(program: &Program) {
    let scene = Scene::bare(program);
    let session = scene.session(Scenario::new("plugin").prompt("Hello.").say("Hello."));
    let run = session.args(["--plugin-dir", plugin().to_str().unwrap()]).run();
    let started = run.printed.iter().find(|row| row["subtype"] == "init").unwrap();
    let skills: Vec<_> = started["skills"].as_array().unwrap().iter().filter_map(|skill| skill.as_str()).collect();
    for skill in ["steadfast:read-spec", "steadfast:run-tasks", "steadfast:plan", "steadfast:implement"] {
        assert!(skills.contains(&skill), "{skills:?}");
    }
}

/// What stands in the list of skills about each of ours.
fn offered(scene: &Scene) -> [bool; 4] {
    let run = scene.run(Scenario::new("skills").prompt("Hello.").say("Hello."));
    let body =
        run.requests.iter().find(|request| request.body.to_string().contains("Hello.")).unwrap().body.to_string();
    [
        ("steadfast-read-spec", "Turns a request into a SPEC.json or SPEC.md"),
        ("steadfast-run-tasks", "Works through the tasks of the Steadfast plan"),
        ("steadfast-plan", "Plans a change and gets the yes of a human"),
        ("steadfast-implement", "Builds the plan that a human approved"),
    ]
    .map(|(name, description)| body.contains(&format!("{name}: {description}")))
}

fn the_skills_of_every_wiring_are_offered_to_the_model(program: &Program) {
    for scope in [&[][..], &["--shared"], &["--user"]] {
        let scene = Scene::bare(program);
        scene.init(scope);
        assert_eq!(offered(&scene), [true; 4], "{scope:?}");
    }
}

fn after_uninstall_no_skill_is_offered(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&[]);
    scene.steadfast(&["uninstall"]);
    assert_eq!(offered(&scene), [false; 4]);
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
