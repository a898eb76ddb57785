//! A repository with shared wiring, and a colleague who has no Steadfast: nothing is said, nothing is held.

use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::world::Scene;

// `codex exec` says nothing of hooks that fail; its terminal does.
on!(a_colleague_without_steadfast_notices_nothing: claude_2_1_325, claude_2_1_197);

fn a_colleague_without_steadfast_notices_nothing(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&["--shared"]);
    // What a clone has: the settings, and neither state nor program.
    std::fs::rename(scene.state(), scene.dir().join("gone")).unwrap();
    std::fs::rename(scene.dir().join("bin/steadfast"), scene.dir().join("bin/elsewhere")).unwrap();
    let run = scene.run(Scenario::new("colleague").prompt("Look around.").shell("echo one").say("That is all."));
    assert!(run.status.success());
    assert_eq!(run.told().len(), 2, "nobody sent it back");
    let shown: Vec<_> = run.printed.iter().map(ToString::to_string).filter(|line| complains(line)).collect();
    assert!(shown.is_empty(), "{shown:#?}");
}

/// What the hosts say of a hook that failed.
fn complains(line: &str) -> bool {
    ["Executable not found", "hook_no_verdict", "stop-hook-error", "\"outcome\":\"error\"", "hook failed", "not found"]
        .iter()
        .any(|complaint| line.contains(complaint))
}
