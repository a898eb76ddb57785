use std::fs;
use std::io::Read;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use steadfast_testkit::wait_for;

use crate::sandbox::Sandbox;

/// Alone in a folder, with nothing of the tester's environment but what an agent around it would leave there.
fn demo(temporary: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
    command
        .arg("demo")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", temporary)
        .env("TMPDIR", temporary)
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "another-session");
    command
}

#[test]
fn the_demo_shows_its_refusals_and_what_they_saved_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let output = demo(temporary.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // It takes 3 s; the rest is for a machine with other work.
    assert!(started.elapsed() < Duration::from_secs(100), "{:?}", started.elapsed());

    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!said.contains('\x1b'), "{said}");
    assert_eq!(said.matches("refuses. The agent gets:").count(), 5, "{said}");
    assert_eq!(
        said.matches("| The plan is not approved. `NEXT.md` cannot be written until a human").count(),
        2,
        "{said}"
    );
    assert!(
        said.replace("\n                   ", " ")
            .contains("`NEXT.md` was created while the plan gate is closed. It is removed"),
        "{said}"
    );
    assert!(said.contains("task `2` stays open: `sh check.sh show` exited with 1"), "{said}");
    assert!(said.contains("| You wrote `<promise>ALL TASKS COMPLETE</promise>`, but 2 of 3 tasks"), "{said}");
    assert!(said.contains("| 2 of 3 tasks are open: 2 Print a duration"), "{said}");
    assert!(said.contains("Without Steadfast: 1 of 3 tasks done, and the words \"I've made good progress"), "{said}");
    assert!(said.contains("\nWith Steadfast: 3 of 3 tasks done, each by its check, after 2 refusals.\n"), "{said}");
    assert!(said.contains("| The human said: \"Do the tasks, but don't commit\". `git commit` is not run."), "{said}");
    assert_eq!(said.matches("tells the agent: This leads away from the goal: `site/menu.css`").count(), 1, "{said}");
    assert!(said.contains("\nAnd it stayed on scope: Steadfast told it 2 times"), "{said}");
    assert!(said.contains("spec score 10 of 10") && said.contains("wave 2 of 3: 1.1, 1.2"), "{said}");
    assert!(said.contains("- 1.3: ✓ Describe the lists") && said.contains("</loop-complete>"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn a_host_that_is_not_installed_is_named_with_the_way_to_get_it() {
    let temporary = tempfile::tempdir().unwrap();
    let output = demo(temporary.path()).args(["--host", "claude"]).env("PATH", temporary.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: `claude` is not on the PATH\n"), "{said}");
    assert!(said.contains("`npm install --global @anthropic-ai/claude-code`"), "{said}");
}

#[test]
fn a_demo_that_nobody_reads_to_its_end_leaves_nothing_behind_either() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = demo(temporary.path()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn a_demo_that_is_killed_is_swept_up() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = demo(temporary.path()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let left = || fs::read_dir(temporary.path()).unwrap().count();
    wait_for("an empty folder", || if left() == 0 { Ok(()) } else { Err(format!("{} left", left())) });
}

#[test]
fn the_simulated_agent_works_through_the_ledger() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "one", "--file", "one.md"]);
    sandbox.ok(&["task", "add", "two"]);
    let lines = sandbox.ok(&["sim", "--session", "s-1"]);
    let moments: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(moments[0]["moment"], "session_started");
    let end = moments.last().unwrap();
    assert_eq!((&end["moment"], &end["ending"]), (&"ended".into(), &"stopped".into()));
    assert_eq!(fs::read_to_string(sandbox.root().join("one.md")).unwrap(), "1 one\n");
    let list: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
    let statuses: Vec<&Value> = list["tasks"].as_array().unwrap().iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["done", "done"]);
    assert!(sandbox.session("s-1").peek().is_some());
}

#[test]
fn a_simulated_agent_that_only_talks_is_overridden_at_its_cap() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "one"]);
    let scenario = r#"{"name": "talker", "prompt": "Do the tasks.", "turns": [{"say": "I am done."}]}"#;
    fs::write(sandbox.root().join("talker.json"), scenario).unwrap();
    let output = sandbox.run(&["sim", "--scenario", "talker.json", "--stop-cap", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.matches(r#""moment":"stop_refused""#).count(), 1, "{said}");
    assert!(said.contains(r#""moment":"stop_overridden","refusals":1"#), "{said}");
}
