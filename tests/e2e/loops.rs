//! A loop inside of a session that a human watches: left at each stage by killing the program, and taken up by the next.

use serde_json::json;
use steadfast_model::{Loop, LoopEnd};
use steadfast_sim::{Cast, Request, Scenario, Track};
use steadfast_store::ledger::Ledger;

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::terminal::{Terminal, scene};
use crate::world::Scene;

on!(a_loop_is_left_at_each_stage_and_taken_up_by_the_next_session: claude_2_1_325, claude_2_1_197);
on!(a_session_is_held_to_the_review_and_the_gate_of_its_loop: claude_2_1_325);

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
    with_spec(&scene);

    let begins = begins();
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

/// Tasks that are done do not end a loop: the session is held at `executing` and at `review`, and let go when it asks for its
/// human.
fn a_session_is_held_to_the_review_and_the_gate_of_its_loop(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    with_spec(&scene);
    let (begins, [_, (_, shape), (_, decompose), (_, executing), ..]) = (begins(), STEPS);
    let commands = [&[begins.as_str(), "steadfast loop advance shape"], shape, decompose, &executing[..3]].concat();
    let scenario = Scenario::new("leaves").prompt("/steadfast-loop Begin the loop.");
    let scenario = commands.iter().fold(scenario, |scenario, command| scenario.shell(*command));
    let run = scene.run(
        scenario
            .say("All tasks are done. <promise>ALL TASKS COMPLETE</promise>")
            .shell("steadfast loop advance review")
            .say("It is in review.")
            .shell("true")
            .say("Who reviews it?\n<promise>BLOCKED - NEEDS USER</promise>"),
    );
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO], "{:?}", run.journal.refusals());
    let refusals = run.journal.refusals();
    let left = looped(&scene).unwrap();
    let executing =
        format!("loop {}: stage executing, 2 of 2 tasks are done; next: `steadfast loop advance review`", left.id);
    assert!(refusals[0].contains(&executing), "{refusals:?}");
    assert!(refusals[1].contains(&format!("loop {}: stage review", left.id)), "{refusals:?}");
    assert_eq!(run.outcome(&scene), (2, Some("needs user".to_owned())));
    assert_eq!((left.session.is_some(), left.waits.as_deref()), (true, Some("Who reviews it?")));
    // Its human continues it in a new session, which is bound by that.
    let again = scene.run(Scenario::new("resumed").prompt("/steadfast-loop").say("Let me know!"));
    assert_eq!(again.journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    assert_eq!(again.outcome(&scene), (3, Some("capped".to_owned())));
    assert_eq!(looped(&scene).unwrap().waits, None);
}

fn begins() -> String {
    format!("steadfast loop start \"{}\"", REQUEST.replace('`', "\\`"))
}

fn with_spec(scene: &Scene) {
    let task =
        json!({"id": "1.1", "task": "Write one.txt", "files": ["one.txt"], "verification": "grep -q one one.txt"});
    let spec = json!({"feature": "A file", "description": "The folder holds one.txt.", "constraints": ["do not touch `legacy/`"],
                      "phases": [{"id": "phase-1", "name": "Phase 1", "tasks": [task]}]});
    scene.write("SPEC.json", &spec.to_string());
    scene.git(["add", "."]);
    scene.git(["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "a spec"]);
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
