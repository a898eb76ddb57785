//! A loop with simulated agents: from a spec or a sentence to the card, and everything that keeps it from there.

use std::fs;
use std::process::Output;

use steadfast_model::{Loop, LoopEnd, Review, ReviewKind, Stage, Status, TaskKind};
use steadfast_store::ledger::Ledger;
use steadfast_store::lock_loop;
use steadfast_testkit::wait_for;

use crate::run::git;
use crate::sandbox::Sandbox;

const LOOP: [&str; 5] = ["run", "--loop", "SPEC.md", "--host", "sim"];

/// Clear enough to run alone.
const HEAD: &str = "\
# Garden walls

Build a garden wall that keeps rabbits out, described in `ground.txt` and `walls.txt`.

## Constraints
- do not touch `legacy/`
- no new dependencies

## Success criteria
- `grep -q 'Raise a wall' walls.txt` exits with 0

## Phase 1: P

";

fn task(number: u32, title: &str, file: &str, check: &str) -> String {
    format!("- [ ] 1.{number} {title}\n  - files: `{file}`\n  - verify: `{check}`\n")
}

/// Two tasks in two waves, the second one as it is said.
fn spec(second: &str, check: &str) -> String {
    let first = task(1, "Lay the ground", "ground.txt", "grep -q 'Lay the ground' ground.txt");
    format!("{HEAD}{first}{}  - depends on: 1.1\n", task(2, second, "walls.txt", check))
}

fn plain() -> String {
    spec("Raise a wall", "grep -q 'Raise a wall' walls.txt")
}

/// An agent that cannot meet its check is not kept at it for long.
const SHORT: &str = "[stop]\nmax_cycles = 2\n";

fn ready(spec: &str, settings: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.root().join("legacy")).unwrap();
    fs::create_dir_all(sandbox.root().join("tests")).unwrap();
    sandbox.write("legacy/old.txt", "old\n");
    sandbox.write("tests/test_wall.py", "def test_wall():\n    assert height() == 3\n    assert width() == 2\n");
    sandbox.write("SPEC.md", spec);
    sandbox.write("steadfast.toml", settings);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "The spec"]);
    sandbox
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn ledger(sandbox: &Sandbox) -> Ledger {
    Ledger::open_read_only(&sandbox.place().state).unwrap().unwrap()
}

fn last(sandbox: &Sandbox) -> (Loop, Vec<Review>) {
    let ledger = ledger(sandbox);
    let looped = ledger.loops_of(&sandbox.place().worktree()).unwrap().remove(0);
    let reviews = ledger.reviews_of(&looped.id).unwrap();
    (looped, reviews)
}

fn thorough(reviews: &[Review]) -> Vec<(u32, bool)> {
    let of = |review: &Review| match review.kind {
        ReviewKind::Thorough { round } => Some((round, review.passed)),
        ReviewKind::Light { .. } => None,
    };
    reviews.iter().filter_map(of).collect()
}

#[test]
fn from_a_spec_to_the_card() {
    let sandbox = ready(&plain(), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let card = String::from_utf8_lossy(&output.stdout);
    assert!(card.contains("<loop-complete>") && card.contains("1.2: ✓ Raise a wall"), "{card}");
    let (looped, reviews) = last(&sandbox);
    assert_eq!((looped.stage, looped.ended), (Stage::Complete, Some(LoopEnd::Complete)));
    let light = reviews.iter().filter(|review| matches!(review.kind, ReviewKind::Light { .. })).count();
    assert_eq!((light, thorough(&reviews)), (2, vec![(1, true)]));
    let folder = sandbox.root().join(".steadfast/loops").join(looped.id.as_str());
    let state: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("workflow-state.json")).unwrap()).unwrap();
    assert_eq!(
        (state["stage"].as_str(), state["reviews"]["thorough"]["passed"].as_bool()),
        (Some("complete"), Some(true))
    );
    assert!(fs::read_to_string(folder.join("SHAPE.md")).unwrap().contains("do not touch `legacy/`"));
    // The user's own is as it was.
    assert_eq!(git(&sandbox, &["status", "--porcelain"]), "");
    assert!(!sandbox.root().join("walls.txt").exists());
}

#[test]
fn from_a_sentence_to_the_card() {
    let sandbox = ready(&plain(), "");
    let words = "Write `ground.txt` and `walls.txt` so that a garden wall is described. Do not touch `legacy/`. It is done \
                 when `test -s walls.txt` exits with 0.";
    let output = sandbox.run(&["run", words, "--host", "sim", "--override", "a trial"]);
    let mut output = output;
    // With less freedom it pauses after each unit.
    for _ in 0..10 {
        if output.status.code() != Some(3) {
            break;
        }
        output = sandbox.run(&["resume", "--host", "sim"]);
    }
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (looped, _) = last(&sandbox);
    assert_eq!(looped.ended, Some(LoopEnd::Complete));
    let spec = looped.spec.unwrap();
    let text = fs::read_to_string(sandbox.root().join(&spec)).unwrap();
    assert!(spec.ends_with("SPEC.json") && text.contains("Write walls.txt") && text.contains("legacy"), "{text}");
}

#[test]
fn a_blocker_is_mended_and_looked_at_again() {
    let title = "Raise a wall [sim:blocker once]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (looped, reviews) = last(&sandbox);
    assert_eq!((thorough(&reviews), looped.ended), (vec![(1, true), (2, true)], Some(LoopEnd::Complete)));
    let tasks = ledger(&sandbox).tasks(&looped.plan.unwrap()).unwrap();
    let mended = tasks.iter().filter(|task| task.kind == TaskKind::Remediation).count();
    assert_eq!(mended, 1);
}

#[test]
fn a_human_who_is_there_may_take_a_blocker_as_it_is() {
    let title = "Raise a wall [sim:blocker]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "");
    let (code, said) = sandbox.at_terminal(&LOOP.join(" "), "fix it, waive it or defer it?", "w it is a trial\n");
    assert_eq!(code, 0, "{said}");
    let (looped, reviews) = last(&sandbox);
    assert_eq!((thorough(&reviews), looped.ended), (vec![(1, true)], Some(LoopEnd::Complete)));
    assert!(said.contains("↳ Risk: walls.txt:1 It says so itself."), "{said}");
}

#[test]
fn a_review_that_is_never_content_ends_capped_and_not_complete() {
    let title = "Raise a wall [sim:blocker]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("is capped after 3 reviews") && !said(&output).contains("<loop-complete>"));
    let (looped, reviews) = last(&sandbox);
    assert_eq!((thorough(&reviews).len(), looped.ended), (3, Some(LoopEnd::Capped)));
    // A human may still take what is left as it is, and the gate looks again.
    let open = reviews.last().unwrap().findings.iter().find(|finding| finding.blocks()).unwrap();
    sandbox.ok(&["loop", "review", "waive", &open.id.to_string(), "--why", "it is a trial"]);
    let output = sandbox.run(&["resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(last(&sandbox).0.ended, Some(LoopEnd::Complete));
}

#[test]
fn a_review_that_invents_findings_holds_nothing_up() {
    let title = "Raise a wall [sim:invents]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("dropped without a place in the change"), "{}", said(&output));
}

#[test]
fn experts_who_answer_nonsense_are_no_review() {
    let title = "Raise a wall [sim:nonsense]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("the review failed: no readable answer"), "{}", said(&output));
    // However often nobody answers, no round is used up, and the loop is not capped.
    for _ in 0..3 {
        let output = sandbox.run(&["resume", "--host", "sim"]);
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        assert!(said(&output).contains("the review failed: no readable answer"), "{}", said(&output));
    }
    let (looped, reviews) = last(&sandbox);
    assert_eq!((looped.ended, looped.rounds, thorough(&reviews)), (None, 0, vec![]));
}

#[test]
fn a_review_that_never_ends_is_ended() {
    let title = "Raise a wall [sim:endless]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "[loop]\nexpert_time = \"1s\"\n");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("the review failed: no readable answer"), "{}", said(&output));
}

/// Its run is over then, so nobody's process says that it goes on.
#[test]
fn a_loop_that_is_reviewed_is_not_reviewed_by_another_at_the_same_time() {
    let title = "Raise a wall [sim:endless]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "[loop]\nexpert_time = \"1s\"\n");
    assert_eq!(sandbox.run(&LOOP).status.code(), Some(3));
    let (looped, _) = last(&sandbox);
    assert_eq!(looped.stage, Stage::Review);
    let turn = lock_loop(&sandbox.place(), &looped.id).unwrap().unwrap();
    let (code, said) = sandbox.fails(&["resume"]);
    assert_eq!((code, said.contains(&format!("loop {} is already running", looped.id))), (1, true), "{said}");
    drop(turn);
    let (_, said) = sandbox.fails(&["resume"]);
    assert!(said.contains("continues in stage review"), "{said}");
}

/// The agents that were sent to meet it did not, and nothing else closed its task.
fn assert_needs_human_for_its_objection(sandbox: &Sandbox, check: &str) {
    let (looped, _) = last(sandbox);
    assert_eq!((looped.ended, looped.objections.len()), (None, 1));
    let tasks = ledger(sandbox).tasks(&looped.plan.unwrap()).unwrap();
    let of_gate: Vec<_> = tasks.iter().filter(|task| task.kind == TaskKind::Remediation).collect();
    let command = of_gate[0].verify.as_ref().unwrap().as_command().unwrap();
    assert!(of_gate.len() == 1 && command.ends_with(check), "{of_gate:?}");
    assert_eq!(of_gate[0].status, Status::Blocked);
}

#[test]
fn a_must_not_that_the_last_wave_broke_is_found_at_the_gate() {
    // By its check, where no hook is.
    let check = "test -e legacy/new.txt || echo new > legacy/new.txt; grep -q 'Raise a wall' walls.txt";
    let sandbox = ready(&spec("Raise a wall", check), SHORT);
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("\"do not touch `legacy/`\": `legacy/new.txt` was changed"), "{}", said(&output));
    assert_needs_human_for_its_objection(&sandbox, "--must-not 'do not touch `legacy/`'");
}

#[test]
fn a_test_that_was_weakened_is_found_at_the_gate() {
    let check = "sed -i '/width/d' tests/test_wall.py; grep -q 'Raise a wall' walls.txt";
    let sandbox = ready(&spec("Raise a wall", check), SHORT);
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("gate: tests/test_wall.py:"), "{}", said(&output));
    assert_needs_human_for_its_objection(&sandbox, "--tests 'tests/test_wall.py'");
}

#[test]
fn evidence_that_does_not_hold_on_the_final_tree_is_found_at_the_gate() {
    // What the second one writes makes the first check fail, until somebody sees to it.
    let check = "! test -e walls.txt || grep -q Make ground.txt";
    let first = task(1, "Lay the ground", "ground.txt", check);
    let second = task(2, "Raise a wall", "walls.txt", "grep -q 'Raise a wall' walls.txt");
    let sandbox = ready(&format!("{HEAD}{first}{second}  - depends on: 1.1\n"), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains(&format!("gate: 1.1: `{check}` fails on the final tree")), "{}", said(&output));
    assert_eq!(thorough(&last(&sandbox).1), [(1, true), (2, true)]);
}

#[test]
fn a_panel_looks_at_the_first_failure_and_the_retry_is_told() {
    let title = "Raise a wall [sim:fail 1]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("1.2: 2 experts gave advice for the next attempt"), "{}", said(&output));
    let (looped, _) = last(&sandbox);
    let tasks = ledger(&sandbox).tasks(&looped.plan.unwrap()).unwrap();
    let noted =
        tasks.iter().filter(|task| task.notes.as_deref().is_some_and(|notes| notes.contains("A panel recommends")));
    assert_eq!(noted.count(), 1);
    let off = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "[loop]\npanel = false\n");
    let output = off.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains("experts gave advice"), "{}", said(&output));
}

/// Where a loop is: its stage, and how many of its tasks are done.
fn step_of(sandbox: &Sandbox) -> Option<(Stage, usize)> {
    let ledger = Ledger::open_read_only(&sandbox.place().state).ok().flatten()?;
    let looped = ledger.loops_of(&sandbox.place().worktree()).ok()?.into_iter().next()?;
    let tasks = looped.plan.and_then(|plan| ledger.tasks(&plan).ok()).unwrap_or_default();
    Some((looped.stage, tasks.iter().filter(|task| task.status == Status::Done).count()))
}

/// Waits until the loop is in this stage. Every step on the way has its own time.
fn wait_for_stage(sandbox: &Sandbox, stage: Stage) {
    let mut last = None;
    while last.is_none_or(|(at, _)| at != stage) {
        last = wait_for("the next step of the loop", || {
            let step = step_of(sandbox);
            if step == last { Err(format!("{step:?}")) } else { Ok(step) }
        });
    }
}

#[test]
fn a_loop_that_is_killed_in_any_stage_goes_on_and_comes_to_its_card() {
    for stage in [Stage::Executing, Stage::Review] {
        let second = task(2, "Raise a wall", "walls.txt", "sleep 0.5; grep -q 'Raise a wall' walls.txt");
        let first = task(1, "Lay the ground", "ground.txt", "sleep 0.5; grep -q 'Lay the ground' ground.txt");
        let sandbox = ready(&format!("{HEAD}{first}{second}  - depends on: 1.1\n"), "");
        let mut child = sandbox.command().args(LOOP).spawn().unwrap();
        wait_for_stage(&sandbox, stage);
        let _ = child.kill();
        let _ = child.wait();
        assert_eq!(last(&sandbox).0.stage, stage);
        let output = sandbox.run(&["resume"]);
        assert_eq!(output.status.code(), Some(0), "{stage:?}: {}", said(&output));
        let (looped, _) = last(&sandbox);
        assert_eq!(looped.ended, Some(LoopEnd::Complete));
        assert_eq!(git(&sandbox, &["worktree", "list"]).lines().count(), 1);
    }
}

#[test]
fn a_loop_that_is_not_finished_is_not_forgotten() {
    let title = "Raise a wall [sim:nonsense]";
    let sandbox = ready(&spec(title, "grep -q 'Raise a wall' walls.txt"), "");
    assert_eq!(sandbox.run(&LOOP).status.code(), Some(3));
    let before = last(&sandbox).0.id;
    let (code, said) = sandbox.fails(&LOOP);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("is unfinished") && said.contains("--fresh"), "{said}");
    assert_eq!(last(&sandbox).0.id, before);
    // What is printed is not begun: nobody was sent anywhere.
    let before = last(&sandbox).0;
    let printed = sandbox.run(&["resume", "--print"]);
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "steadfast resume\n");
    let explained = String::from_utf8_lossy(&printed.stderr);
    assert!(explained.contains(&format!("loop {} continues in stage ", before.id)), "{explained}");
    assert_eq!(last(&sandbox).0, before);
    sandbox.ok(&["resume", "--give-up"]);
    assert_eq!(last(&sandbox).0.ended, Some(LoopEnd::Archived));
}

/// A spec whose tasks pass, and whose own words say more.
fn stated(words: &str) -> String {
    plain().replace("## Phase 1: P\n", &format!("## Definition of done\n{words}\n\n## Phase 1: P\n"))
}

#[test]
fn what_the_humans_own_words_say_has_to_pass_is_run_at_the_gate_and_stands_on_the_card() {
    let sandbox = ready(&stated("- `test -s walls.txt` is green\n- The wall looks solid"), "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = said(&output);
    for part in ["has to pass at the end: `test -s walls.txt`", "You said: `test -s walls.txt` passed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (looped, _) = last(&sandbox);
    let shape = looped.shape.unwrap();
    assert_eq!(shape.not_executed, ["The wall looks solid"]);
}

#[test]
fn a_loop_whose_own_words_do_not_hold_does_not_ship() {
    let failing = "grep -q 'no agent writes this' walls.txt";
    let sandbox = ready(&stated(&format!("- `{failing}` passes")), SHORT);
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains(&format!("`{failing}` exited with 1")) && !text.contains("SHIP"), "{text}");
    let (looped, _) = last(&sandbox);
    let tasks = ledger(&sandbox).tasks(looped.plan.as_ref().unwrap()).unwrap();
    let checks: Vec<&str> = tasks
        .iter()
        .filter(|task| task.kind == TaskKind::Remediation)
        .filter_map(|task| task.verify.as_ref()?.as_command())
        .collect();
    assert_eq!(checks, [failing], "{text}");
}

#[test]
fn an_objection_that_a_human_waives_ships_with_the_reason_on_the_card() {
    // By its check, where no hook is, and again whenever it runs.
    let check = "echo new > legacy/new.txt; grep -q 'Raise a wall' walls.txt";
    let sandbox = ready(&spec("Raise a wall", check), SHORT);
    let mut output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let (looped, _) = last(&sandbox);
    let status = sandbox.ok(&["loop", "status"]);
    assert!(status.contains("the gate objects [o-"), "{status}\n{}", said(&output));
    for objected in &looped.objections {
        sandbox.ok(&["loop", "waive", &objected.id, "--why", "the folder is ours after all"]);
    }
    assert_eq!(last(&sandbox).0.ended, None);
    output = sandbox.run(&["resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = said(&output);
    let flat = text.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("↳ Risk: waived: \"do not touch `legacy/`\""), "{text}");
    assert!(flat.contains("(why: the folder is ours after all)"), "{text}");
    let (code, said) = sandbox.fails(&["loop", "waive", "o-000000", "--why", "x"]);
    assert_eq!(code, 1, "{said}");
}

#[test]
fn a_plain_run_whose_own_words_do_not_hold_is_not_complete() {
    let failing = "grep -q 'no agent writes this' walls.txt";
    let sandbox = ready(&stated(&format!("- `{failing}` passes")), "");
    let output = sandbox.run(&["run", "SPEC.md", "--host", "sim"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains(&format!("`{failing}` exited with 1")) && text.contains("not complete"), "{text}");
    // It is looked again, and nothing is done twice.
    let again = sandbox.run(&["resume"]);
    assert_eq!(again.status.code(), Some(3), "{}", said(&again));
    let passing = ready(&stated("- `test -s walls.txt` passes"), "");
    let output = passing.run(&["run", "SPEC.md", "--host", "sim"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn only_a_humans_words_are_run_at_the_end() {
    // An agent that loads a spec gets nothing of it run.
    let sandbox = ready(&stated("- `test -s walls.txt` passes"), "");
    let stated = |sandbox: &Sandbox| {
        let ledger = ledger(sandbox);
        let plan = ledger.plan(&sandbox.place().worktree()).unwrap().unwrap();
        plan.head.checks.iter().map(|check| check.command.clone()).collect::<Vec<_>>()
    };
    let agents = sandbox.command().env("CLAUDECODE", "1").args(["plan", "load", "SPEC.md"]).output().unwrap();
    assert_eq!(agents.status.code(), Some(0), "{}", said(&agents));
    assert!(!said(&agents).contains("has to pass at the end"), "{}", said(&agents));
    assert_eq!(stated(&sandbox), Vec::<String>::new());
    let human = sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert!(human.contains("has to pass at the end: `test -s walls.txt`"), "{human}");
    let expected = ["grep -q 'Raise a wall' walls.txt", "test -s walls.txt"];
    assert_eq!(stated(&sandbox), expected);
    // Nor of a request that no human of its session said.
    let words = "Write walls.txt. Do not touch `legacy/`. Done when `test -s walls.txt` passes.";
    let started = sandbox.command().env("CLAUDECODE", "1").args(["loop", "start", words]).output().unwrap();
    assert!(!said(&started).contains("has to pass at the end"), "{}", said(&started));
    assert_eq!(last(&sandbox).0.asked.checks, []);
}

#[test]
fn a_scope_is_not_printed_as_a_must_not_and_does_not_shut_out_the_spec() {
    let only = plain().replace("- do not touch `legacy/`", "- Only touch `ground.txt` and `walls.txt`");
    let sandbox = ready(&only, "");
    let output = sandbox.run(&LOOP);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (looped, _) = last(&sandbox);
    let page = fs::read_to_string(sandbox.root().join(".steadfast/loops").join(looped.id.as_str()).join("SHAPE.md"));
    let page = page.unwrap();
    assert!(page.contains("## Must not\n- no new dependencies\n\n## Scope\n- Only touch"), "{page}");
    let status = sandbox.ok(&["loop", "status"]);
    assert!(status.contains("scope: Only touch") && !status.contains("must not: Only"), "{status}");
}

#[test]
fn an_objection_is_met_when_the_files_are_so_and_not_before() {
    let sandbox = ready(&plain(), "");
    let base = git(&sandbox, &["rev-parse", "HEAD"]);
    let base = base.trim();
    let must_not = ["loop", "objection", "--base", base, "--must-not", "do not touch `legacy/`"];
    let tests = ["loop", "objection", "--base", base, "--tests", "tests/test_wall.py"];
    let scope = ["loop", "objection", "--base", base, "--own", "plan.md", "--must-not", "Only touch `walls.txt`"];
    let met = |arguments: &[&str]| sandbox.run(arguments).status.code();
    assert_eq!((met(&must_not), met(&tests), met(&scope)), (Some(0), Some(0), Some(0)));

    // Committed or not.
    sandbox.write("legacy/new.txt", "new\n");
    let (code, said) = sandbox.fails(&must_not);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("`legacy/new.txt` was changed"), "{said}");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "New"]);
    assert_eq!(met(&must_not), Some(2));
    fs::remove_file(sandbox.root().join("legacy/new.txt")).unwrap();
    assert_eq!(met(&must_not), Some(0));

    // Something else in the same file is no weaker test.
    sandbox.write("tests/test_wall.py", "def test_wall():\n    assert height() == 3\n");
    assert_eq!(met(&tests), Some(2));
    let text = "def test_wall():\n    assert height() == 3\n    assert width() == 2\n    assert depth() == 1\n";
    sandbox.write("tests/test_wall.py", text);
    assert_eq!(met(&tests), Some(0));

    assert_eq!(met(&scope), Some(2));
    git(&sandbox, &["checkout", "--quiet", base, "--", "tests"]);
    sandbox.write("plan.md", "A plan.\n");
    sandbox.write("SPEC.md", "Another.\n");
    assert_eq!(met(&scope), Some(0));
    sandbox.write("other.md", "Another.\n");
    assert_eq!(met(&scope), Some(2));
}
