//! Who wrote what a closed gate protects, with the real hosts: told by the processes that they start.

use std::fs;

use steadfast_model::Ruling;
use steadfast_sim::{Action, Scenario, Turn};

use crate::agents::Program;
use crate::session::Run;
use crate::world::Scene;

on!(what_a_background_subagent_or_a_daemon_wrote_is_put_back: claude_2_1_325);
on!(a_human_s_save_after_a_finished_job_stays_and_is_told: claude_2_1_325, claude_2_1_197);
on!(a_draft_that_waits_stands_before_the_next_session: claude_2_1_325, codex_0_166_0);
on!(a_session_that_is_a_planner_only_reads: claude_2_1_325);

const PLAN: &str = "# Sign in\n\n## Phase 1: Codes\n### 1.1 Make codes\n- Files: src/code.txt\n\
                    - Verify: `test -f src/code.txt`\n";

fn gated(program: &Program) -> Scene {
    let scene = Scene::bare(program);
    scene.write("steadfast.toml", "[approval]\nprotected = [\"PLAN.md\", \"src/\"]\n");
    scene.write("draft.md", PLAN);
    scene.write("PLAN.md", "nothing yet\n");
    scene.init(&[]);
    scene
}

fn proposing(name: &str) -> Scenario {
    Scenario::new(name).prompt("Plan it.").shell("steadfast plan propose draft.md --path PLAN.md")
}

fn plan(scene: &Scene) -> String {
    fs::read_to_string(scene.root().join("PLAN.md")).unwrap_or_else(|error| {
        let log = fs::read_to_string(scene.state().join("hook.log")).unwrap_or_default();
        panic!("{error}: {log} {:?}", kept(scene))
    })
}

fn kept(scene: &Scene) -> Vec<String> {
    let folder = fs::read_dir(scene.state().join("seals/kept")).into_iter().flatten().flatten();
    let mut kept: Vec<String> = folder.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    kept.sort();
    kept
}

/// What the human of a session was told on their own channel.
fn noted(run: &Run) -> String {
    run.journal.records.iter().filter_map(|record| record.answer.note.clone()).collect::<Vec<_>>().join("\n")
}

fn denied(run: &Run) -> usize {
    run.journal.records.iter().filter(|record| matches!(record.answer.ruling, Ruling::Deny { .. })).count()
}

fn what_a_background_subagent_or_a_daemon_wrote_is_put_back(program: &Program) {
    let scene = gated(program);
    scene.write("w.sh", "echo by a subagent > PLAN.md\n");
    scene.write("start.sh", "(sleep 2; echo by a daemon > PLAN.md; sleep 2) >/dev/null 2>&1 &\n");
    scene.write("detach.sh", "setsid -f sh -c 'sleep 2; echo detached > PLAN.md; sleep 2' >/dev/null 2>&1\n");
    scene.run(
        proposing("waits")
            .agent_in_background("general-purpose", "do the long part")
            .say("I wait for it.")
            .say("It is done.")
            .subagent([Turn::doing([Action::shell("sleep 2; sh w.sh")]), Turn::saying("done")]),
    );
    assert_eq!((plan(&scene).as_str(), kept(&scene)), ("nothing yet\n", vec!["by a subagent\n".to_owned()]));

    let run = scene.run(
        Scenario::new("starts daemons")
            .prompt("Go on.")
            .shell("sh start.sh")
            .shell("sleep 3")
            .shell("sh detach.sh")
            .shell("sleep 3")
            .say("That is all."),
    );
    let intruders = ["by a daemon\n", "by a subagent\n", "detached\n"].map(str::to_owned).to_vec();
    assert_eq!((plan(&scene).as_str(), kept(&scene)), ("nothing yet\n", intruders));
    assert!(noted(&run).contains("a process of the agent could have done it"), "{}", noted(&run));
}

fn a_human_s_save_after_a_finished_job_stays_and_is_told(program: &Program) {
    let scene = gated(program);
    scene.write("nothing.sh", "true\n");
    let first = scene.run(proposing("plans").shell("sh nothing.sh >/dev/null 2>&1 &").say("It waits."));
    scene.write("PLAN.md", "by hand\n");
    let again = Scenario::new("goes on").prompt("I edited it, have a look.").shell("cat PLAN.md").say("Yes.");
    let run = scene.session(again).args(["--resume", &first.id]).run();
    assert_eq!((plan(&scene).as_str(), kept(&scene)), ("by hand\n", Vec::new()));
    assert!(noted(&run).contains("`PLAN.md` was changed by something other than the agent"), "{}", noted(&run));
}

fn a_draft_that_waits_stands_before_the_next_session(program: &Program) {
    let scene = gated(program);
    scene.run(proposing("plans").say("It waits."));
    let run = scene.run(
        Scenario::new("next")
            .prompt("Make the link red.")
            .shell("echo red > theme.css")
            .shell("echo v3 > PLAN.md")
            .shell("git worktree add -q ../x && cd ../x && mkdir -p src && echo built > src/token.ts")
            .say("Done."),
    );
    assert_eq!((plan(&scene).as_str(), denied(&run)), ("nothing yet\n", 2));
    assert!(scene.root().join("theme.css").exists() && !scene.root().join("../x/src/token.ts").exists());
    let told = noted(&run);
    assert_eq!(told.matches("waits for your answer").count(), 1, "{told}");
    assert!(run.journal.stops().iter().all(|stop| *stop == crate::journal::LET_GO));
}

fn a_session_that_is_a_planner_only_reads(program: &Program) {
    let scene = gated(program);
    scene.write(".claude/agents/planner.md", "---\nname: planner\ndescription: plans\n---\nPlan.\n");
    let scenario = Scenario::new("planner")
        .prompt("Plan it.")
        .shell("git log --oneline")
        .shell("echo x > notes.txt")
        .shell("git commit --allow-empty -qm x")
        .shell("npm install left-pad")
        .shell("mkdir -p .steadfast/scratch && echo x > .steadfast/scratch/draft.md")
        .say("Drafted.");
    let run = scene.session(scenario).args(["--agent", "planner"]).run();
    assert_eq!(denied(&run), 3);
    assert!(!scene.root().join("notes.txt").exists() && scene.root().join(".steadfast/scratch/draft.md").exists());
}
