use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

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

/// What the demo prints to a pipe, after which nothing is left of it.
fn printed(arguments: &[&str]) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let output = demo(temporary.path()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_demo_fits_40_lines_with_its_summary_first_and_three_refusals() {
    let said = printed(&[]);
    assert!(said.lines().count() <= 40, "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let place = |part: &str| said.find(part).unwrap_or_else(|| panic!("`{part}` is not in\n{said}"));
    let order = [
        "Without Steadfast  1 of 3 tasks done, and the words \"I've made good progress",
        "With Steadfast     3 of 3 tasks done, each by its check.",
        "1/3 The agent stops early\n",
        "| 2 of 3 tasks are open: 2 Print a duration",
        "runs `steadfast task start 2`\n",
        "2/3 The agent says that its tests pass\n",
        "steadfast  task `2` stays open: `sh check.sh show` exited with 1",
        "| You promised `ALL TASKS COMPLETE`, but 2 of 3",
        "writes durations/show.sh",
        "3/3 The agent wants to commit\n",
        "wants to run `git add -A && git commit",
        "| The human said: \"Do the tasks, but don't commit\". `git commit` is",
        "\"Then I won't commit.",
        "`steadfast demo --full`",
    ];
    let places: Vec<usize> = order.iter().map(|part| place(part)).collect();
    assert!(places.is_sorted(), "{places:?}\n{said}");
    assert!(!said.contains('\x1b') && !said.contains("Enter"), "{said}");
}

/// The README's picture shows the first two refusals.
#[test]
fn the_picture_is_what_the_demo_prints() {
    let svg = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/demo.svg")).unwrap();
    let (mut drawn, mut in_tag) = (String::new(), false);
    for c in svg.split_once("<text").unwrap().1.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if !in_tag => drawn.push(c),
            _ => {}
        }
    }
    let drawn = drawn.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let printed = printed(&["--fast"]);
    let (shown, _) = printed.split_once("3/3").unwrap();
    // Before the text are the attributes of its element.
    assert_eq!(lines(&drawn)[1..], lines(shown), "`cargo xtask picture` draws it");
}

#[test]
fn the_full_demo_shows_the_whole_session_and_a_run() {
    let said = printed(&["--full"]);
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
    assert!(said.contains("| You promised `ALL TASKS COMPLETE`, but 2 of 3 tasks"), "{said}");
    assert!(said.contains("| 2 of 3 tasks are open: 2 Print a duration"), "{said}");
    assert!(said.contains("writes site/theme.css (1 line)"), "{said}");
    assert!(said.contains("Without Steadfast: 1 of 3 tasks done, and the words \"I've made good progress"), "{said}");
    assert!(said.contains("\nWith Steadfast: 3 of 3 tasks done, each by its check, after 2 refusals.\n"), "{said}");
    assert!(said.contains("| The human said: \"Do the tasks, but don't commit\". `git commit` is not run."), "{said}");
    assert_eq!(said.matches("tells the agent: This leads away from the goal: `site/menu.css`").count(), 1, "{said}");
    assert!(said.contains("\nAnd it stayed on scope: Steadfast told it 2 times"), "{said}");
    assert!(said.contains("spec score 10 of 10") && said.contains("wave 2 of 3: 1.1, 1.2"), "{said}");
    assert!(said.contains("- 1.3: ✓ Describe the lists") && said.contains("</loop-complete>"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");

    // Wrapped lines as one, without the marks of quotations.
    let printed: Vec<&str> =
        said.lines().map(|line| line.trim()).map(|line| line.strip_prefix("| ").unwrap_or(line)).collect();
    let printed = printed.join(" ");
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, quoting) = readme.split_once("printed by `steadfast demo --full`").unwrap();
    let (quoting, _) = quoting.split_once("\n## ").unwrap();
    let quoted: Vec<&str> = quoting.split("```").skip(1).step_by(2).map(|block| block["text".len()..].trim()).collect();
    assert_eq!(quoted.len(), 6, "{quoted:?}");
    for line in quoted {
        assert!(printed.contains(line), "README.md quotes `{line}`, which is not in\n{said}");
    }
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    assert!(readme.lines().count() <= 150, "{}", readme.lines().count());
}

/// The demo at a terminal of this width, with keys that are pressed at each question.
fn at_a_terminal(columns: usize, key: &[u8]) -> (String, bool) {
    let temporary = tempfile::tempdir().unwrap();
    let mut terminal = Command::new("script");
    let program = format!("stty cols {columns} rows 24; exec {} demo", env!("CARGO_BIN_EXE_steadfast"));
    terminal.args(["--quiet", "--return", "--command", &program, "/dev/null"]);
    terminal.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", temporary.path()).env("TMPDIR", temporary.path());
    terminal.env("TERM", "xterm-256color").current_dir(temporary.path());
    let mut child = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut said, mut byte) = (Vec::new(), [0]);
    while output.read(&mut byte).unwrap() == 1 {
        said.extend(byte);
        if said.ends_with(b"q: quit\x1b[0m") {
            input.write_all(key).unwrap();
        }
    }
    drop(input);
    (String::from_utf8(said).unwrap().replace("\r\n", "\n"), child.wait().unwrap().success())
}

#[test]
fn at_a_terminal_it_waits_for_a_key_before_each_refusal_but_the_first() {
    let (said, ended_well) = at_a_terminal(80, b"\r");
    assert!(ended_well, "{said}");
    assert_eq!(said.matches("q: quit").count(), 2, "{said}");
    assert!(said.contains("3/3 The agent wants to commit") && said.contains("demo --full"), "{said}");
    // The question is wiped before the next heading.
    assert!(said.contains("\r\x1b[1m2/3 "), "{said}");
    // What fills the first screen is what comes before the first question.
    let first = said.split("Enter").next().unwrap();
    assert!(first.lines().count() < 24, "{first}");
}

#[test]
fn at_a_terminal_q_and_ctrl_c_leave_it() {
    for key in [b"q", b"\x03"] {
        let (said, ended_well) = at_a_terminal(80, key);
        assert!(ended_well, "{said}");
        assert_eq!((said.matches("q: quit").count(), said.contains("2/3")), (1, false), "{said}");
    }
}

#[test]
fn at_a_narrow_terminal_no_line_is_too_long() {
    let (said, _) = at_a_terminal(46, b" ");
    let plain = anstream::adapter::strip_str(&said).to_string();
    // A wiped question and the heading after it are on one line.
    let lines = plain.lines().map(|line| line.rsplit('\r').next().unwrap());
    let long: Vec<&str> = lines.filter(|line| line.chars().count() > 46).collect();
    assert_eq!(long, [""; 0], "{plain}");
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
    let mut child = demo(temporary.path()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn a_demo_that_is_killed_is_swept_up() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = demo(temporary.path()).stdout(Stdio::piped()).spawn().unwrap();
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
