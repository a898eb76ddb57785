//! A request, without a human: its spec is written, its tasks are done, a panel helps, experts review, a gate opens.

use serde_json::json;
use steadfast_model::{LoopEnd, ReviewKind, Stage, TaskKind};
use steadfast_sim::{Cast, Request, Scenario};

use super::agents::{Hands, cue};
use super::proxied::assert_every_request_came_through_a_proxy;
use super::runner::Workshop;
use super::settings;
use crate::agents::Program;

const REQUEST: &str = "Write `one.txt` and `two.txt` so that each holds its own name. Do not touch `legacy/`. No new \
                       dependencies. Success: `grep -q one one.txt` exits with 0 and `grep -q two two.txt` exits with 0. \
                       It is done when both checks pass.";

/// What the agent that reads the request answers.
fn spec() -> String {
    let task = |id: &str, name: &str, after: &[&str]| {
        let check = format!("cat {name}.txt; grep -q {name} {name}.txt");
        json!({"id": id, "task": format!("Write {name}.txt"), "files": [format!("{name}.txt")], "verification": check,
               "depends_on": after})
    };
    let phase =
        json!({"id": "phase-1", "name": "Phase 1", "tasks": [task("1.1", "one", &[]), task("1.2", "two", &["1.1"])]});
    let spec =
        json!({"feature": "Two files", "description": "The folder holds one.txt and two.txt.", "phases": [phase]});
    format!("I looked around.\n\n```json\n{spec}\n```")
}

fn says(name: &str, text: impl Into<String>) -> Scenario {
    Scenario::new(name).say(text)
}

/// The first words of what an expert is told, and of what a panel is.
const EXPERT: &str = "You are one of several experts";
const FAILED: &str = "and its check failed";

pub(super) fn a_request_comes_to_its_card(program: &Program) {
    card_of_a_request(program, settings(program));
}

/// Writer of the spec, workers, panel and experts: all of them.
pub(super) fn every_agent_of_a_loop_is_behind_a_proxy(program: &Program) {
    let workshop = card_of_a_request(program, &format!("{}proxy = true\n", settings(program)));
    assert_every_request_came_through_a_proxy(&workshop);
}

fn card_of_a_request(program: &Program, settings: &str) -> Workshop {
    let hands = Hands(program.host());
    let blocker = json!({"score": 6, "findings": [
        {"severity": "BLOCKER", "file": "one.txt", "line": 1, "text": "The name has no stop behind it."},
        {"severity": "BLOCKER", "file": "three.txt", "line": 1, "text": "This is invented."},
    ]});
    let content = json!({"score": 9, "findings": []});
    let wrong = hands.session("wrong").write("two.txt", "tow\n").turn(hands.close("1.2")).say("It should be right.");
    let right = hands.session("right").read("two.txt").edit("two.txt", "tow", "two");
    let right = right.turn(hands.close("1.2")).say("Now it is right.");
    let mended = hands.session("mended").read("one.txt").edit("one.txt", "one", "one.");
    let mended = mended.turn(hands.close("+1")).say("It has a stop now.");
    let advice =
        json!({"cause": "Two letters changed places.", "recommendation": "Write `two`.", "files": ["two.txt"]});
    // Two waves with a change have two experts each, then three look thoroughly, and again.
    let quick = || says("content", format!("```json\n{content}\n```"));
    let cast = Cast::several()
        .part("You turn a request into a spec", [says("spec", spec())])
        .part(FAILED, [says("advice", advice.to_string())])
        .part("An earlier round found these blockers", [quick()])
        .part("This is the last review", [says("blocker", blocker.to_string()), quick()])
        .part(EXPERT, [quick()])
        .part(cue("1.1"), [hands.writes(&["1.1"], "one.txt", "one\n")])
        .part(cue("1.2"), [wrong, right])
        .part(cue("+1"), [mended]);
    let workshop = Workshop::new(program, settings, "{}", cast);
    let ended = workshop.run(&["run", REQUEST, "--from-head", "--host", program.host().as_str()]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.said, workshop.timeline());

    let (looped, reviews) = workshop.find_loop();
    assert_eq!((looped.stage, looped.ended), (Stage::Complete, Some(LoopEnd::Complete)));
    let thorough: Vec<(u32, usize)> = reviews
        .iter()
        .filter_map(|review| match review.kind {
            ReviewKind::Thorough { round } => Some((round, review.findings.len())),
            ReviewKind::Light { .. } => None,
        })
        .collect();
    // What was invented is not among them.
    assert_eq!(thorough, [(1, 1), (2, 0)], "{}", ended.said);
    let branch = workshop.view().run.branch;
    assert_eq!(workshop.git(&["show", &format!("{branch}:one.txt")]), "one.\n");
    assert_panel_saw_everything(&workshop);
    // Everybody was paid by the run.
    let view = workshop.view();
    let calls = workshop.calls() as u64;
    let price = super::price(program, steadfast_sim::Usage::default());
    assert_eq!(view.sums.micro_usd, calls * price, "{}", workshop.timeline());
    workshop.assert_only_the_branch_is_left();
    workshop
}

/// Each expert was given the hunks, the output and the must-nots; and the next attempt, what they said.
fn assert_panel_saw_everything(workshop: &Workshop) {
    let requests = workshop.model.requests();
    let first = |request: &&Request| request.text().contains(FAILED);
    let panel: Vec<String> = requests.iter().filter(first).map(Request::text).collect();
    assert_eq!(panel.len(), 2, "two experts for a file that is nobody's in particular");
    for told in &panel {
        for part in ["+tow", "tow\n```", "legacy/", "dependencies", "exited with 1"] {
            assert!(told.contains(part), "{part:?} is missing in {told}");
        }
    }
    let retry = requests.iter().map(Request::text).find(|text| text.contains("Experts who saw the change"));
    assert!(retry.is_some_and(|told| told.contains("Two letters changed places. Write `two`.")));
}

/// What the human says has to pass, and what must not happen.
const GREETING: &str = "Greeting file: write `hello.txt` so that it greets the world. Do not touch `src/auth`. No new \
                        dependencies. Done when `grep -qx 'Hello World' hello.txt` passes.";

/// The check that the agent who writes the spec thinks of does not tell right from wrong, and the worker writes something
/// else. The gate runs what the human said; and what broke a must-not is taken back as git does it.
pub(super) fn what_the_human_said_has_to_pass_and_what_must_not_be_is_taken_back(program: &Program) {
    let hands = Hands(program.host());
    let task =
        json!({"id": "1.1", "task": "Write hello.txt", "files": ["hello.txt"], "verification": "test -f hello.txt"});
    let spec = json!({"feature": "Greeting", "description": "hello.txt greets.", "phases": [
        {"id": "phase-1", "name": "Phase 1", "tasks": [task]}
    ]});
    let content = || says("content", json!({"score": 9, "findings": []}).to_string());
    // A script does not show what it writes.
    let wrong = hands.session("wrong").write("hello.txt", "hi\n").shell("sh ./tidy.sh").turn(hands.close("1.1"));
    let right = hands.session("right").read("hello.txt").edit("hello.txt", "hi", "Hello World");
    let back = hands.session("back").shell("git checkout before -- src/auth/other.ts");
    let back = back.shell("git checkout before -- src/auth/token.ts").turn(hands.close("+2"));
    let cast = Cast::several()
        .part("You turn a request into a spec", [says("spec", spec.to_string())])
        .part(EXPERT, [content()])
        .part(cue("1.1"), [wrong.say("Done.")])
        .part(cue("+1"), [right.turn(hands.close("+1")).say("It greets now.")])
        .part(cue("+2"), [back.say("It is as it was.")]);
    let files = [
        ("src/auth/token.ts", "export const token = 1;\n"),
        ("src/auth/other.ts", "export const other = 1;\n"),
        ("tidy.sh", "printf 'export const token = 2;\\n' > src/auth/token.ts\n"),
    ];
    // Without it an agent may not run git.
    let settings = [settings(program), "permissions = \"free\"\n"].concat();
    let workshop = Workshop::with(program, &settings, "{}", &files, cast);
    workshop.git(&["tag", "before"]);
    let ended = workshop.run(&["run", GREETING, "--from-head", "--host", program.host().as_str()]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.said, workshop.timeline());
    for part in [
        "has to pass at the end: `grep -qx 'Hello World' hello.txt`",
        "gate: you said \"Done when `grep -qx 'Hello World' hello.txt` passes.\"",
        "gate: \"Do not touch `src/auth`\": `src/auth/token.ts` was changed",
    ] {
        assert!(ended.said.contains(part), "{part}: {}", ended.said);
    }
    let (looped, _) = workshop.find_loop();
    assert_eq!((looped.ended, looped.objections, looped.waived), (Some(LoopEnd::Complete), vec![], vec![]));
    let view = workshop.view();
    let shown = |file: &str| workshop.git(&["show", &format!("{}:{file}", view.run.branch)]);
    assert_eq!((shown("hello.txt").as_str(), shown("src/auth/token.ts").as_str()), ("Hello World\n", files[0].1));
    let checks: Vec<&str> = view
        .tasks
        .iter()
        .filter(|task| task.kind == TaskKind::Remediation)
        .filter_map(|task| task.verify.as_ref()?.as_command())
        .collect();
    assert_eq!(checks[0], "grep -qx 'Hello World' hello.txt");
    assert!(checks[1].starts_with("steadfast loop objection --base "), "{checks:?}");
    // Exactly what broke it may be written.
    let requests = workshop.model.requests();
    let told: Vec<String> = requests.iter().map(Request::text).filter(|text| text.contains("other.ts")).collect();
    let told = told.last().cloned().unwrap_or_default();
    assert!(told.contains("`src/auth/other.ts` is not written"), "another file was let through: {told}");
    assert!(!told.contains("`src/auth/token.ts` is not written"), "{told}");
}
