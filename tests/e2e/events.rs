//! Every event we use arrives from the real host.

use steadfast_sim::{Action, Scenario, Turn};

use crate::agents::Program;
use crate::world::Scene;

on!(a_whole_session_is_heard: claude_2_1_325, claude_2_1_197);
on!(a_whole_session_of_codex_is_heard: codex_0_166_0);
// Claude Code 2.1.197 does not compact by itself under `-p`: there it is typed, see `terminal`.
on!(a_compaction_is_heard: claude_2_1_325, codex_0_166_0);

fn a_whole_session_is_heard(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    let run = scene.run(
        Scenario::new("events")
            .prompt("Look around.")
            .shell("ls")
            .shell("exit 3")
            .agent("general-purpose", "look elsewhere")
            .say("That is all.")
            .subagent([Turn::doing([Action::shell("ls")]), Turn::saying("nothing there")]),
    );
    let main = [
        &["SessionStart", "UserPromptSubmit"][..],
        &["PreToolUse", "PostToolUse", "PostToolBatch"],
        &["PreToolUse", "PostToolUseFailure", "PostToolBatch"],
        &["PreToolUse", "PostToolUse", "PostToolBatch"],
        &["Stop", "SessionEnd"],
    ];
    assert_eq!(run.journal.events(), main.concat());
    assert_eq!(
        run.journal.subagent_events(),
        ["SubagentStart", "PreToolUse", "PostToolUse", "PostToolBatch", "SubagentStop"]
    );
}

/// Codex has no event for a failed call and none for a batch, and gives a subagent its task as a prompt.
fn a_whole_session_of_codex_is_heard(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    let run = scene.run(
        Scenario::new("events")
            .prompt("Look around.")
            .shell("exit 3")
            .agent("general-purpose", "look elsewhere")
            // A subagent runs beside the main thread, and ends with it.
            .shell("sleep 2")
            .say("That is all.")
            .subagent([Turn::doing([Action::shell("ls")]), Turn::saying("nothing there")]),
    );
    let main = [
        &["SessionStart", "UserPromptSubmit"][..],
        &["PreToolUse", "PostToolUse", "PreToolUse", "PostToolUse", "PreToolUse", "PostToolUse"],
        &["Stop", "SessionEnd"],
    ];
    assert_eq!(run.journal.events(), main.concat());
    assert_eq!(
        run.journal.subagent_events(),
        ["SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop"]
    );
}

fn a_compaction_is_heard(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    let run = scene.run(
        Scenario::new("compaction")
            .prompt("Look around.")
            .turn(Turn::doing([Action::shell("ls"), Action::Compact {}]))
            .say("That is all."),
    );
    let events = run.journal.events();
    let compacting: Vec<_> =
        events.iter().copied().filter(|event| ["PreCompact", "PostCompact", "SessionStart"].contains(event)).collect();
    let expected = if program.is_claude() {
        ["SessionStart", "PreCompact", "SessionStart", "PostCompact"]
    } else {
        ["SessionStart", "PreCompact", "PostCompact", "SessionStart"]
    };
    assert_eq!(compacting, expected);
    assert_eq!(events.last(), Some(&"SessionEnd"));
}
