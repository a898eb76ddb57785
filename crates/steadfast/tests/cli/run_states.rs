//! What a run says about itself while it goes on: when it pauses, when it is complete, and who works.

use std::fs;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use steadfast_model::ReviewKind;
use steadfast_store::ledger::Ledger;
use steadfast_testkit::wait_for;

use crate::run::{git, progress, task, with_spec};
use crate::sandbox::Sandbox;

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A repository with this SPEC.md in its one commit.
fn with_markdown(spec: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", spec);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "The spec"]);
    sandbox
}

fn boxed(id: &str, title: &str, files: &str, after: &str) -> String {
    let files = if files.is_empty() { String::new() } else { format!("  - files: `{files}`\n") };
    let check = if files.is_empty() { "true".to_owned() } else { "test -s SPEC.md".to_owned() };
    let after = if after.is_empty() { String::new() } else { format!("  - depends on: {after}\n") };
    format!("- [ ] {id} {title}\n{files}  - verify: `{check}`\n{after}")
}

fn status_of(progress: &Value, unit: &str) -> String {
    let units = progress["units"].as_array().unwrap();
    units.iter().find(|one| one["id"] == unit).unwrap()["status"].as_str().unwrap().to_owned()
}

/// The units that landed, in their order.
fn landed(sandbox: &Sandbox) -> Vec<String> {
    let branch = progress(sandbox)["branch"].as_str().unwrap().to_owned();
    let format = "--format=%(trailers:key=Steadfast-Unit,valueonly,separator=%x20)";
    let log = git(sandbox, &["log", "--reverse", "--first-parent", format, &format!("HEAD..{branch}")]);
    log.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn a_colleague_pauses_after_each_unit_and_not_for_one_that_changed_nothing() {
    let tasks = [
        boxed("1.1", "Lay the ground", "a.txt", ""),
        boxed("1.2", "Raise a wall", "b.txt", ""),
        boxed("1.3", "Look around", "", "1.1, 1.2"),
        boxed("1.4", "Plant a hedge", "c.txt", "1.3"),
        boxed("1.5", "Hang a gate", "d.txt", "1.4"),
    ];
    let sandbox = with_markdown(&format!("# Garden\n\n## Phase 1: P\n\n{}", tasks.concat()));
    let mut output = sandbox.run(&["run", "--loop", "SPEC.md", "--host", "sim", "--override", "a trial"]);
    assert!(said(&output).contains("pauses after each that changed something"), "{}", said(&output));
    let mut seen = Vec::new();
    while output.status.code() == Some(3) && seen.len() < 10 {
        assert!(said(&output).contains("is paused: a unit has landed"), "{}", said(&output));
        seen.push(landed(&sandbox).len());
        output = sandbox.run(&["resume", "--host", "sim"]);
    }
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    // One more each time. Neither the decisions nor the unit without a difference are a pause of their own.
    assert_eq!(seen.first(), Some(&1), "{seen:?}");
    assert!(seen.windows(2).all(|two| two[0] < two[1]) && seen.len() == 3, "{seen:?}");
}

/// Clear, but not clear enough to run alone: 6 of 10, fit 30.
const HALF: &str = "\
# Garden walls

Build a garden wall that keeps rabbits out, so that visitors see it in `walls.txt`.

## Phase 1: P

";

#[test]
fn tool_review_pauses_after_a_wave_with_a_difference_and_is_complete_after_the_last() {
    let tasks = [
        boxed("1.1", "Look around", "", ""),
        boxed("1.2", "Lay the ground", "a.txt", "1.1"),
        boxed("1.3", "Raise a wall", "b.txt", "1.1"),
        boxed("1.4", "Hang a gate", "c.txt", "1.2, 1.3"),
    ];
    let criteria = "## Success criteria\n- tests pass\n\n";
    let spec = format!("{}{}", HALF.replace("## Phase", &format!("{criteria}## Phase")), tasks.concat());
    let sandbox = with_markdown(&spec);
    let output = sandbox.run(&["run", "--loop", "SPEC.md", "--host", "sim"]);
    let text = said(&output);
    assert!(text.contains("pauses after each wave"), "{text}");
    // Neither after the decisions nor after the unit that changed nothing.
    assert!(output.status.code() == Some(3) && text.contains("wave 3 was reviewed"), "{text}");
    let mut first = landed(&sandbox);
    first.retain(|unit| unit != "1.1");
    first.sort_unstable();
    assert_eq!(first, ["1.2", "1.3"]);
    let output = sandbox.run(&["resume", "--host", "sim"]);
    // After the last unit nothing is left to pause for: the loop goes on to its review.
    assert!(!said(&output).contains("is paused: wave"), "{}", said(&output));
    assert_eq!(progress(&sandbox)["state"], "complete", "{}", said(&output));
}

#[test]
fn a_run_whose_last_iteration_does_the_last_task_is_complete_and_not_paused() {
    let sandbox = with_spec(&[("1", &[], vec![task("1.1", "test -s 1.1.txt"), task("1.2", "test -s 1.2.txt")])]);
    let output = sandbox.run(&["run", "SPEC.json", "--host", "sim", "--max-iterations", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(progress(&sandbox)["state"], "complete");
    let status = sandbox.ok(&["status"]);
    assert!(!status.contains("paused") && !status.contains("needs a human"), "{status}");
}

#[test]
fn agents_of_a_run_that_was_killed_are_not_shown_as_working() {
    let slow = json!({"id": "1.1", "task": "Write it [sim:takes 300]", "files": ["1.1.txt"],
        "verification": {"type": "command", "command": "test -s 1.1.txt"}});
    let sandbox = with_spec(&[("1", &[], vec![slow])]);
    let mut command = sandbox.command();
    command.args(["run", "SPEC.json", "--host", "sim"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut runner = command.spawn().unwrap();
    let at_work = || {
        let shown = sandbox.run(&["progress", "--json"]).stdout;
        let progress: Value = serde_json::from_slice(&shown).unwrap_or_default();
        let unit = progress["units"].as_array().and_then(|units| units.iter().find(|unit| unit["id"] == "1.1"));
        let has_session = unit.is_some_and(|unit| unit["session"].is_string() && unit["status"] == "running");
        if has_session { Ok(()) } else { Err(progress.to_string()) }
    };
    wait_for("an agent that works", at_work);
    assert!(sandbox.ok(&["status"]).contains("1 agent ·"), "{}", sandbox.ok(&["status"]));
    runner.kill().unwrap();
    runner.wait().unwrap();
    // Its agents end within two seconds, and say nothing.
    wait_for("the end of the agent", || match status_of(&progress(&sandbox), "1.1").as_str() {
        "waiting" => Ok(()),
        other => Err(other.to_owned()),
    });
    let status = sandbox.ok(&["status"]);
    assert!(status.contains("0 agents") && !status.contains(", working"), "{status}");
    assert!(!status.contains(" working"), "{status}");
    let shown = sandbox.ok(&["progress"]);
    assert!(shown.contains("interrupted: the process of the run ended") && !shown.contains("[>]"), "{shown}");
    sandbox.ok(&["resume", "--give-up"]);
}

/// Clear enough to run alone.
const CLEAR: &str = "\
# Garden walls

Build a garden wall that keeps rabbits out, described in `ground.txt` and `walls.txt`.

## Constraints
- do not touch `legacy/`
- no new dependencies

## Success criteria
- `grep -q 'Raise a wall' b.txt` exits with 0

## Phase 1: P

";

#[test]
fn reviews_of_waves_that_land_interleaved_see_the_work_of_their_own_wave_alone() {
    let tasks = [
        boxed("1.1", "Lay the ground [sim:takes 6]", "a.txt", ""),
        boxed("1.2", "Raise a wall", "b.txt", ""),
        boxed("1.3", "Hang a gate [sim:warning]", "c.txt", "1.2"),
    ];
    let sandbox = with_markdown(&format!("{CLEAR}{}", tasks.concat()));
    let output = sandbox.run(&["run", "--loop", "SPEC.md", "--host", "sim"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(landed(&sandbox), ["1.2", "1.3", "1.1"], "wave 2, wave 3, wave 2");
    let ledger = Ledger::open_read_only(&sandbox.place().state).unwrap().unwrap();
    let looped = ledger.loops_of(&sandbox.place().worktree()).unwrap().remove(0);
    let mut light: Vec<(u32, Vec<String>)> = Vec::new();
    for review in ledger.reviews_of(&looped.id).unwrap() {
        if let ReviewKind::Light { wave } = review.kind {
            let mut files: Vec<String> = review.findings.into_iter().map(|finding| finding.file).collect();
            files.dedup();
            light.push((wave, files));
        }
    }
    light.sort();
    assert_eq!(light, [(2, Vec::new()), (3, vec!["c.txt".to_owned()])]);
}

#[test]
fn a_run_that_the_scheduler_of_waves_began_is_resumed() {
    let sandbox = with_spec(&[
        ("1", &[], vec![task("1.1", "test -s 1.1.txt"), task("1.2", "test -s 1.2.txt")]),
        ("2", &["1"], vec![task("2.1", "test -s 2.1.txt")]),
    ]);
    let output = sandbox.run(&["run", "SPEC.json", "--host", "sim", "--max-iterations", "2"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let run = progress(&sandbox)["run"].as_str().unwrap().to_owned();
    // As that scheduler left it when it was killed: an agent of its own was at the decisions of the second phase, which
    // were undone, and at nothing else, since the wave was that unit.
    let other = rusqlite::Connection::open(sandbox.place().state.join("state.db")).unwrap();
    let now = "(SELECT updated_at FROM run)";
    other
        .execute_batch(&format!(
            "BEGIN;
             DELETE FROM evidence WHERE task = '2.0';
             UPDATE task SET status = 'in_progress', first_closed_at = NULL WHERE id = '2.0';
             UPDATE task SET waits = 1 WHERE id = '2.1';
             UPDATE run_unit SET status = 'running', attempts = 1, merged = NULL, pid = 999999, pid_started = 1,
                branch = 'steadfast/{run}-2.0', directory = '/nowhere/2.0', leases = '{{\"2.0\": 1}}'
                WHERE unit = '2.0';
             UPDATE run SET state = 'running', reason = NULL, pid = 999999, pid_started = 1;
             INSERT INTO dispatch (run, number, unit, host, started_at, input_tokens, cached_tokens, output_tokens, turns)
                VALUES ('{run}', 9, '2.0', 'sim', {now}, 0, 0, 0, 0);
             COMMIT;"
        ))
        .unwrap();
    drop(other);
    assert_eq!(status_of(&progress(&sandbox), "2.0"), "waiting", "nobody works on it");
    let report = sandbox.ok(&["resume", "--max-iterations", "none"]);
    assert!(report.contains("5 of 5 tasks done"), "{report}");
    assert_eq!(progress(&sandbox)["state"], "complete");
    let mut units = landed(&sandbox);
    units.sort_unstable();
    assert_eq!(units, ["1.1", "1.2", "2.1"], "each once");
    let page = fs::read_to_string(sandbox.root().join(".steadfast/plans/greetings/PROGRESS.md")).unwrap();
    assert!(page.contains("5 of 5 units landed") && !page.to_lowercase().contains("wave"), "{page}");
}

#[test]
fn a_check_that_passes_before_any_work_is_noted() {
    let tasks = [
        "- [ ] 1.1 Lay the ground\n  - files: `a.txt`\n  - verify: `test -s SPEC.md`\n",
        "- [ ] 1.2 Raise a wall\n  - files: `b.txt`\n  - verify: `test -s b.txt`\n",
        "- [ ] 1.3 Plant a hedge\n  - files: `c.txt`\n  - verify: `test -s SPEC.md`\n",
    ];
    let sandbox = with_markdown(&format!("# Garden\n\n## Phase 1: P\n\n{}", tasks.concat()));
    let output = sandbox.run(&["run", "SPEC.md", "--host", "sim", "--parallel", "1"]);
    let said = said(&output);
    assert!(said.contains("check passes before any work: 1.1, 1.3\n"), "{said}");
    let listed: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
    let noted: Vec<&str> = listed["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|task| task["notes"].as_str().is_some_and(|notes| notes.contains("passed before any work")))
        .map(|task| task["id"].as_str().unwrap())
        .collect();
    assert_eq!(noted, ["1.1", "1.3"]);
}
