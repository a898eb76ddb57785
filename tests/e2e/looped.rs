//! A loop inside of a session that a human watches: left at each stage by killing the program, and taken up by the next.

use serde_json::json;
use steadfast_model::{Loop, LoopEnd};
use steadfast_sim::{Cast, Request, Scenario, Track};
use steadfast_store::ledger::Ledger;

use crate::agents::Program;
use crate::terminal::{Terminal, scene};
use crate::world::Scene;

on!(a_loop_is_left_at_each_stage_and_taken_up_by_the_next_session: claude_2_1_325, claude_2_1_197);

const REQUEST: &str = "Write `one.txt` so that it holds its own name. Do not touch `legacy/`. Success: `grep -q one one.txt` \
                       exits with 0. It is done when that check passes.";

/// The last words of each session.
const SAID: &str = "That is what this stage needed.";

/// What each session does, in the stage it finds.
const STEPS: [(&str, &[&str]); 6] = [
    ("intent", &["steadfast loop advance shape"]),
    ("shape", &["steadfast loop shape SPEC.json", "steadfast loop advance decompose"]),
    ("decompose", &["steadfast plan load SPEC.json", "steadfast loop advance executing"]),
    (
        "executing",
        &[
            "steadfast decide 'One file' --why 'it is enough'",
            "steadfast task done 1.0",
            "steadfast task start 1.1 && echo one > one.txt && steadfast task done 1.1",
            "steadfast loop advance review",
        ],
    ),
    ("review", &["steadfast loop review"]),
    ("review", &["steadfast loop gate"]),
];

fn a_loop_is_left_at_each_stage_and_taken_up_by_the_next_session(program: &Program) {
    let scene = scene(program, 0);
    std::os::unix::fs::symlink(&program.path, scene.bin().join(program.host().as_str())).unwrap();
    let task =
        json!({"id": "1.1", "task": "Write one.txt", "files": ["one.txt"], "verification": "grep -q one one.txt"});
    let spec = json!({"feature": "A file", "description": "The folder holds one.txt.", "constraints": ["do not touch `legacy/`"],
                      "phases": [{"id": "phase-1", "name": "Phase 1", "tasks": [task]}]});
    scene.write("SPEC.json", &spec.to_string());
    scene.git(["add", "."]);
    scene.git(["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "a spec"]);

    let begins = format!("steadfast loop start \"{}\"", REQUEST.replace('`', "\\`"));
    let Some(terminal) = Terminal::open(&scene, session(&[&begins])) else { return };
    terminal.enter("/steadfast-loop Begin the loop.");
    terminal.wait("the loop to begin", || looped(&scene).is_some());
    terminal.wait("the end of its turn", || terminal.screen().contains(SAID));
    terminal.kill();
    for (stage, commands) in STEPS {
        let before = looped(&scene).unwrap();
        assert_eq!(before.stage.as_str(), stage);
        let terminal = Terminal::open(&scene, session(commands)).unwrap();
        terminal.enter("/steadfast-loop Go on with the loop.");
        terminal.wait("the end of its turn", || terminal.screen().contains(SAID));
        let requests = terminal.model.requests();
        let main = requests.iter().filter(|request| request.track == Track::Main).map(Request::text);
        let told = main.into_iter().find(|text| text.contains("Go on with the loop.")).unwrap();
        for part in [
            "# From a request to a gated result",
            "[LOOP RESUME] Active loop detected",
            &format!("Stage: {stage} | Spec: 10/10"),
        ] {
            assert!(told.contains(part), "{part:?} is not in {told}");
        }
        // Scores are read, never judged anew.
        assert_eq!(looped(&scene).unwrap().scores, before.scores, "{}", said(&requests));
        terminal.kill();
    }
    let over = looped(&scene).unwrap();
    assert_eq!(over.ended, Some(LoopEnd::Complete));
    let terminal = Terminal::open(&scene, session(&[])).unwrap();
    terminal.enter("What is left?");
    terminal.wait("the end of its turn", || terminal.screen().contains(SAID));
    assert!(!said(&terminal.model.requests()).contains("[LOOP RESUME]"));
}

/// One that runs these commands, beside experts who are content.
fn session(commands: &[&str]) -> Cast {
    let content = json!({"score": 9, "findings": []}).to_string();
    let scenario =
        commands.iter().fold(Scenario::new("loop").prompt("-"), |scenario, command| scenario.shell(*command));
    let main = scenario.say(SAID);
    Cast::several().part("You are one of several experts", [Scenario::new("expert").say(content)]).part("", [main])
}

fn looped(scene: &Scene) -> Option<Loop> {
    let ledger = Ledger::open_read_only(&scene.state()).ok().flatten()?;
    ledger.loops_of(&scene.root().canonicalize().unwrap().to_string_lossy()).unwrap().into_iter().next()
}

fn said(requests: &[Request]) -> String {
    requests.iter().map(Request::text).collect::<Vec<_>>().join("\n---\n")
}
