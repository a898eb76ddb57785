//! A spec that is worked off with the simulated agent.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use steadfast_testkit::wait_for;

use crate::sandbox::Sandbox;

/// A task with a file and a check, after others.
pub(crate) fn task(id: &str, check: &str) -> Value {
    json!({"id": id, "task": format!("Write {id}"), "files": [format!("{id}.txt")],
        "verification": {"type": "command", "command": check}})
}

/// A repository with one commit and this spec in it.
pub(crate) fn with_spec(phases: &[(&str, &[&str], Vec<Value>)]) -> Sandbox {
    let sandbox = Sandbox::new();
    let phases: Vec<Value> = phases
        .iter()
        .map(|(id, after, tasks)| json!({"id": id, "name": format!("Phase {id}"), "depends_on": after, "tasks": tasks}))
        .collect();
    let spec = json!({"feature": "Greetings", "description": "Files that greet", "phases": phases});
    fs::write(sandbox.root().join("SPEC.json"), spec.to_string()).unwrap();
    // An agent that does not get it done is held for as long as it likes; here it likes it for a moment.
    sandbox.set_own("[run]\narguments = [\"--max-turns\", \"30\"]\n");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "spec"]);
    sandbox
}

pub(crate) fn git(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(sandbox.root()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

pub(crate) fn progress(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.ok(&["progress", "--json"])).unwrap()
}

/// Each unit and how it stands.
fn units(progress: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    progress["units"].as_array().unwrap().iter().map(|unit| (text(&unit["id"]), text(&unit["status"]))).collect()
}

fn branches(sandbox: &Sandbox) -> Vec<String> {
    git(sandbox, &["for-each-ref", "--format=%(refname:short)", "refs/heads"]).lines().map(str::to_owned).collect()
}

#[test]
fn the_decisions_file_of_a_run_says_how_far_it_came_and_keeps_what_was_decided() {
    let sandbox = with_spec(&[
        ("1", &[], vec![task("1.1", "test -s 1.1.txt")]),
        ("2", &["1"], vec![task("2.1", "test -s 2.1.txt")]),
    ]);
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    sandbox.ok(&["decide", "Phase 1 is written in English", "--why", "all readers know it"]);
    sandbox.ok(&["run", "SPEC.json", "--host", "sim"]);
    let file = fs::read_to_string(sandbox.root().join(".steadfast/decisions/greetings.md")).unwrap();
    assert!(file.contains("4 of 4 tasks done, 0 blocked"), "{file}");
    let list: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
    let waves: Vec<_> = list["tasks"].as_array().unwrap().iter().map(|task| task["wave"].as_u64()).collect();
    assert!(waves.iter().all(Option::is_some) && waves.is_sorted(), "{waves:?}");
    // How many agents and iterations there may be is at least one, and that is said in words.
    let (_, said) = sandbox.fails(&["run", "SPEC.json", "--parallel", "0"]);
    assert!(said.contains("0 is not in 1..=4294967295"), "{said}");
    assert!(file.contains("- Phase 1 is written in English: all readers know it"), "{file}");
}

#[test]
fn a_spec_is_worked_off_and_left_on_a_branch_of_its_own() {
    let sandbox = with_spec(&[
        ("1", &[], vec![task("1.1", "test -s 1.1.txt"), task("1.2", "test -s 1.2.txt")]),
        ("2", &["1"], vec![task("2.1", "test -s 2.1.txt && test -s 1.1.txt")]),
    ]);
    let told = sandbox.home().join("told");
    let notify = format!("sh -c 'echo \"$0\" >> {}'", told.display());
    // What comes with a project says nothing of what is run.
    fs::write(sandbox.root().join("steadfast.toml"), "[run]\nnotify = 'touch /never'\n").unwrap();
    sandbox.set_own(&format!("[run]\narguments = [\"--max-turns\", \"30\"]\nnotify = '''{notify}'''\n"));
    let before = (git(&sandbox, &["rev-parse", "HEAD"]), git(&sandbox, &["status", "--porcelain"]));
    let (code, said) = sandbox.fails(&["run", "SPEC.json", "--host", "sim"]);
    assert_eq!(code, 1);
    assert!(said.contains("1 file is not committed: steadfast.toml"), "{said}");

    let report = sandbox.ok(&["run", "SPEC.json", "--host", "sim", "--from-head"]);
    assert!(report.contains("complete\n5 of 5 tasks done, 5 units, 3 iterations"), "{report}");
    assert!(
        report.contains("2.1 done: `test -s 2.1.txt && test -s 1.1.txt` exited with 0 (executed, tree "),
        "{report}"
    );
    let progress = progress(&sandbox);
    assert_eq!((progress["state"].as_str(), progress["tasks"]["done"].as_u64()), (Some("complete"), Some(5)));
    let branch = progress["branch"].as_str().unwrap().to_owned();
    assert!(report.contains(&format!("`git merge {branch}`")), "{report}");

    assert_eq!((git(&sandbox, &["rev-parse", "HEAD"]), git(&sandbox, &["status", "--porcelain"])), before);
    assert!(!sandbox.root().join("1.1.txt").exists());
    assert_eq!(git(&sandbox, &["ls-tree", "--name-only", &branch]), "1.1.txt\n1.2.txt\n2.1.txt\nSPEC.json");
    assert_eq!(branches(&sandbox).iter().filter(|name| name.starts_with("steadfast/")).count(), 1);
    assert_eq!(git(&sandbox, &["worktree", "list"]).lines().count(), 1);

    let page = fs::read_to_string(sandbox.root().join(".steadfast/plans/greetings/PROGRESS.md")).unwrap();
    assert!(
        page.starts_with("# Loop Progress: Greetings\n\n**Status:** 5 of 5 units landed | Iteration 3 |"),
        "{page}"
    );
    let told = fs::read_to_string(told).unwrap();
    assert_eq!(told, format!("run {} of SPEC.json is complete\n", progress["run"].as_str().unwrap()));

    // What is done is on the branch, and after the merge it is here.
    let on_branch = format!("(executed, on {branch})");
    assert!(sandbox.ok(&["task", "list"]).contains(&on_branch));
    git(&sandbox, &["-c", "user.name=T", "-c", "user.email=t@t", "merge", "--quiet", &branch]);
    let list = sandbox.ok(&["task", "list"]);
    assert!(!list.contains("stale") && !list.contains(&on_branch) && list.contains("(executed)"), "{list}");
}

#[test]
fn a_unit_that_does_not_get_done_waits_for_a_human_and_the_others_go_on() {
    let sandbox = with_spec(&[
        ("1", &[], vec![task("1.1", "test -e ../../../../../../never"), task("1.2", "test -s 1.2.txt")]),
        ("2", &["1"], vec![task("2.1", "true")]),
    ]);
    let output = sandbox.run(&["run", "SPEC.json", "--host", "sim"]);
    assert_eq!(output.status.code(), Some(3));
    let progress = progress(&sandbox);
    assert_eq!(progress["state"], "paused");
    let expected = [("1.0", "done"), ("1.1", "blocked"), ("1.2", "done"), ("2.0", "waiting"), ("2.1", "waiting")];
    assert_eq!(units(&progress), expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
    assert_eq!(progress["units"][1]["attempts"], 3);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("1.1") && report.contains("3 attempts in a row failed"), "{report}");
    let status = sandbox.ok(&["status"]);
    assert!(status.contains("needs a human: run r-"), "{status}");

    // A human takes it as it is, and the rest is done.
    sandbox.ok(&["task", "done", "1.1", "--force"]);
    sandbox.ok(&["resume"]);
    assert_eq!(sandbox.ok(&["progress"]).lines().filter(|line| line.contains("[x]")).count(), 5);
}

#[test]
fn a_unit_that_waits_for_a_human_stops_only_what_depends_on_it_and_decisions_take_no_agent() {
    let sandbox = with_spec(&[
        ("1", &[], vec![task("1.1", "test -e ../../../../../../never")]),
        ("2", &[], vec![task("2.1", "test -s 2.1.txt")]),
        ("3", &["2"], vec![task("3.1", "test -s 3.1.txt")]),
        ("4", &["1"], vec![task("4.1", "true")]),
    ]);
    let output = sandbox.run(&["run", "SPEC.json", "--host", "sim"]);
    assert_eq!(output.status.code(), Some(3));
    let progress = progress(&sandbox);
    let stands: Vec<(String, String)> = units(&progress).into_iter().filter(|(id, _)| id.ends_with(".1")).collect();
    let expected = [("1.1", "blocked"), ("2.1", "done"), ("3.1", "done"), ("4.1", "waiting")];
    assert_eq!(stands, expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("3.0: nothing decided, recorded without an agent"), "{said}");
    assert!(!said.contains("3.0 Decisions"), "{said}");
}

#[test]
fn an_interrupt_pauses_and_a_resume_goes_on() {
    let sandbox =
        with_spec(&[("1", &[], vec![task("1.1", "test -e go || sleep 600"), task("1.2", "test -s 1.2.txt")])]);
    let mut command = sandbox.command();
    command.args(["run", "SPEC.json", "--host", "sim"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let runner = command.spawn().unwrap();
    // Until only the check that sleeps is left. Every step on the way has its own time.
    let mut units = Value::Null;
    while units[2]["status"] != "done" {
        units = wait_for("the next step of the run", || {
            let progress = sandbox.run(&["progress", "--json"]).stdout;
            match serde_json::from_slice::<Value>(&progress) {
                Ok(progress) if progress["units"] != units => Ok(progress["units"].clone()),
                _ => Err(String::from_utf8_lossy(&progress).into_owned()),
            }
        });
    }
    let (code, said) = sandbox.fails(&["resume"]);
    assert!(code == 1 && said.contains("is already running in process"), "{said}");
    let (code, said) = sandbox.fails(&["task", "done", "1.1", "--force"]);
    assert!(code == 2 && said.contains("is working on task `1.1`"), "{said}");
    let asked = Command::new("kill").args(["-INT", &runner.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let output = runner.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("is paused: a human stopped it"), "{said}");
    assert!(said.contains("it does not pause between units; Ctrl-C pauses it"), "{said}");
    assert!(said.contains("stopping: waiting until unit 1.1 has ended; Ctrl-C again ends the run at once"), "{said}");
    assert!(left_behind(&sandbox).is_empty(), "{:?}", left_behind(&sandbox));

    let folder =
        fs::read_dir(sandbox.home().join(".local/state/steadfast/worktrees")).unwrap().next().unwrap().unwrap();
    let run = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap();
    fs::write(run.path().join("1.1/go"), "").unwrap();
    let report = sandbox.ok(&["resume"]);
    assert!(report.contains("3 of 3 tasks done"), "{report}");
    assert!(!folder.path().join(run.file_name()).exists());
}

/// Processes that work for a run in this sandbox.
fn left_behind(sandbox: &Sandbox) -> Vec<String> {
    let run = progress(sandbox)["run"].as_str().unwrap().to_owned();
    let mark = format!("STEADFAST_RUN_MARK={run}");
    let is_marked = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| String::from_utf8_lossy(one).starts_with(&mark))
    };
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    folder.flatten().filter(|entry| is_marked(&entry.path())).map(|entry| entry.path().display().to_string()).collect()
}

#[test]
fn a_run_that_is_given_up_leaves_its_branch_and_nothing_else() {
    let sandbox = with_spec(&[("1", &[], vec![task("1.1", "false"), task("1.2", "true")])]);
    assert_eq!(sandbox.run(&["run", "SPEC.json", "--host", "sim"]).status.code(), Some(3));
    let (code, said) = sandbox.fails(&["run", "SPEC.json", "--host", "sim"]);
    assert!(code == 1 && said.contains("is unfinished"), "{said}");
    let printed = sandbox.ok(&["resume", "--print"]);
    assert!(printed.starts_with("steadfast resume --run r-") && printed.lines().count() == 1, "{printed}");
    assert!(sandbox.ok(&["resume", "--give-up"]).contains("is over; its merged work is on steadfast/r-"));
    assert_eq!(git(&sandbox, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(branches(&sandbox).iter().filter(|name| name.starts_with("steadfast/")).count(), 1);
    assert_eq!(progress(&sandbox)["state"], "stopped");
    let (_, said) = sandbox.fails(&["resume"]);
    assert!(!said.contains("run r-"), "{said}");
}
