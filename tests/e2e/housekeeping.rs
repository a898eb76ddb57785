//! What tidies a checkout up, with the real host: its settings with our hooks are still there afterwards.

use std::fs;

use serde_json::json;
use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::world::{PROMPT, Scene};

on!(the_hooks_survive_housekeeping: claude_2_1_325, claude_2_1_197);

fn the_hooks_survive_housekeeping(program: &Program) {
    let scene = Scene::bare(program);
    scene.write(".gitignore", "build/\n");
    scene.write("build/out", "");
    scene.write("tidy.sh", "rm -rf build .claude\n");
    scene.git(["add", ".gitignore", "tidy.sh"]);
    scene.git(["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "second"]);
    scene.init(&[]);
    let settings = scene.root().join(".claude/settings.local.json");
    let (before, binary) = (fs::read(&settings).unwrap(), scene.bin().join("steadfast"));
    let permission = scene.root().join(".claude/settings.json");

    let run = scene.run(
        Scenario::new("housekeeping")
            .prompt(PROMPT)
            .shell("git clean -fdx")
            .shell("git clean -e /.claude -fdx")
            .shell(format!("rm {}", binary.display()))
            .tool(
                "Write",
                json!({"file_path": permission, "content": "{\"permissions\": {\"allow\": [\"Bash(ls)\"]}}\n"}),
            )
            .shell("sh tidy.sh")
            .shell("git stash --all")
            .say("All tidy."),
    );
    let told = run.told();
    assert!(told[1].contains("`git clean -e /.claude -fdx` keeps it."), "{}", told[1]);
    assert!(!scene.root().join("build").exists(), "the spelling that was named runs");
    assert!(told[3].contains("is Steadfast itself"), "{}", told[3]);
    assert!(!told[4].contains("decides whether Steadfast is called"), "a permission may be written: {}", told[4]);
    assert!(told[5].contains("This call removed") && told[5].contains("Steadfast put it back."), "{}", told[5]);
    assert!(told[6].contains("git stash push --all"), "{}", told[6]);
    assert_eq!(fs::read(&settings).unwrap(), before);
    assert!(binary.exists());
}
