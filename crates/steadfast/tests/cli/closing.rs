//! How a task is closed: what its check does to it, and what a check may do.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use steadfast_testkit::wait_for;

use crate::sandbox::{Sandbox, as_just_now};

/// A task with a check, about a file.
fn with_check(command: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "Write it", "--file", "it.txt", "--verify", command]);
    sandbox
}

fn said(sandbox: &Sandbox, output: &Output) -> String {
    let text = as_just_now(&sandbox.without_paths(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()));
    // Times differ.
    let mut shown = String::new();
    for word in text.split_inclusive([' ', '\n', ')', ';']) {
        let bare = word.trim_end_matches([' ', '\n', ')', ';']);
        let is_time = bare.contains('.') && bare.parse::<f64>().is_ok();
        shown += if is_time { "T" } else { bare };
        shown += &word[bare.len()..];
    }
    shown
}

fn closed(sandbox: &Sandbox, more: &[&str]) -> String {
    said(sandbox, &sandbox.run(&[&["task", "done", "1"], more].concat()))
}

fn task(sandbox: &Sandbox) -> Value {
    let list: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
    list["tasks"][0].clone()
}

#[test]
fn a_check_that_fails_leaves_the_task_open_and_the_third_time_is_named() {
    let sandbox = with_check("echo looking; grep -q done it.txt");
    insta::assert_snapshot!(closed(&sandbox, &[]), @r"
    error: task `1` stays open: `echo looking; grep -q done it.txt` exited with 2
      last lines of output:
        looking
        grep: it.txt: No such file or directory

    hint: `steadfast task done 1` runs the check again
    ");
    closed(&sandbox, &[]);
    insta::assert_snapshot!(closed(&sandbox, &[]), @r"
    error: task `1` stays open: `echo looking; grep -q done it.txt` exited with 2; the same failure 3 times
      last lines of output:
        looking
        grep: it.txt: No such file or directory

    hint: try another way, or `steadfast task block 1 --why REASON`
    ");
    let open = task(&sandbox);
    assert_eq!((&open["status"], &open["stuck_count"]), (&json!("pending"), &json!(3)));
    fs::write(sandbox.root().join("it.txt"), "done").unwrap();
    insta::assert_snapshot!(closed(&sandbox, &[]), @r"
    1 Write it: done (`echo looking; grep -q done it.txt` passed in T s)
    1 of 1 tasks done, 0 open, 0 blocked.
    ");
    let done = task(&sandbox);
    assert_eq!((&done["status"], &done["evidence"]["class"]), (&json!("done"), &json!("executed")));
    assert_eq!((&done["evidence"]["exit"], &done["evidence"]["stale"]), (&json!(0), &json!(false)));
    assert_eq!(done["evidence"]["tree"].as_str().unwrap().len(), 40);
    fs::write(sandbox.root().join("it.txt"), "other").unwrap();
    assert_eq!(task(&sandbox)["evidence"]["stale"], true);
    insta::assert_snapshot!(sandbox.ok(&["task", "list"]), @r"
    1  done         Write it  [it.txt]  (executed, stale: its files changed later)
    ");
}

#[test]
fn every_end_of_a_check_is_defined() {
    let ends = [
        "kill -9 $$",
        "exit 7",
        "/no/such/program",
        "read answer </dev/tty",
        "yes | head -c 100000000; echo; exit 3",
        "printf 'a\\000b\\377c\\033[31mred\\033[0m\\n'; exit 1",
        "setsid sleep 300 & exit 0",
        "date +%N >> it.txt",
        "grep -q done it.txt || echo done > it.txt",
    ];
    let mut all = String::new();
    for end in ends {
        let sandbox = with_check(end);
        all += &format!("$ {end}\n{}\n", closed(&sandbox, &[]));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_check_that_takes_long_is_running_and_the_session_may_wait_for_it() {
    let sandbox = with_check("echo $$ > pid; while [ ! -e go ]; do sleep 0.05; done");
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.as_agent("me", &["task", "start", "1"]);
    assert!(sandbox.stop_is_refused("me"));
    let started = sandbox.as_agent("me", &["task", "done", "1", "--wait", "1"]);
    assert_eq!(started.status.code(), Some(1));
    insta::assert_snapshot!(said(&sandbox, &started), @r"
    error: running: task `1` stays open until its check `echo $$ > pid; while [ ! -e go ]; do sleep T; done` ends; the check was started just now

    hint: `steadfast task wait 1` waits for it
    ");
    assert!(!sandbox.stop_is_refused("me"), "a session whose check runs is waiting");
    assert!(sandbox.ok(&["status"]).contains("checks running: 1"));
    // A second one joins the first.
    let joined = sandbox.run(&["task", "done", "1", "--wait", "0"]);
    assert!(String::from_utf8_lossy(&joined.stderr).contains("running"));
    fs::write(sandbox.root().join("go"), "").unwrap();
    insta::assert_snapshot!(said(&sandbox, &sandbox.run(&["task", "wait", "1"])), @r"
    1 Write it: done (`echo $$ > pid; while [ ! -e go ]; do sleep T; done` passed in T s)
    1 of 1 tasks done, 0 open, 0 blocked.
    ");
    assert_eq!(task(&sandbox)["status"], "done");
    assert!(!sandbox.stop_is_refused("me"));
}

#[test]
fn a_check_whose_supervisor_died_is_lost_and_can_be_run_again() {
    let sandbox = with_check("[ -e go ] || { echo $PPID > supervisor; echo $$ > pid; sleep 300; }");
    sandbox.run(&["task", "done", "1", "--wait", "0"]);
    let number = |name: &str| {
        wait_for(name, || match fs::read_to_string(sandbox.root().join(name)).unwrap_or_default().trim() {
            "" => Err("nothing written".to_owned()),
            number => Ok(number.to_owned()),
        })
    };
    let (supervisor, check) = (number("supervisor"), number("pid"));
    assert!(Command::new("kill").args(["-9", &supervisor]).status().unwrap().success());
    insta::assert_snapshot!(said(&sandbox, &sandbox.run(&["task", "wait", "1"])), @r"
    error: task `1` stays open: `[ -e go ] || { echo $PPID > supervisor; echo $$ > pid; sleep 300; }` did not finish (its supervisor is gone and left no result)

    hint: `steadfast task done 1` runs the check again
    ");
    // Where nobody buries the dead, as in some containers, it stays on the list of processes.
    wait_for("the end of the check", || match fs::read_to_string(format!("/proc/{check}/stat")) {
        Ok(stat) if !stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('Z')) => Err(stat),
        _ => Ok(()),
    });
    fs::write(sandbox.root().join("go"), "").unwrap();
    sandbox.ok(&["task", "done", "1"]);
}

#[test]
fn a_check_cannot_close_its_own_task() {
    let sandbox = with_check("steadfast task done 1");
    insta::assert_snapshot!(closed(&sandbox, &[]), @r"
    error: task `1` stays open: `steadfast task done 1` exited with 2
      last lines of output:
        error: task `1` cannot be closed from inside the check of task `1`

        hint: remove it from the check: a check only finds out whether a task is done

    hint: `steadfast task done 1` runs the check again
    ");
}

#[test]
fn a_task_waits_for_those_before_it() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["task", "add", "Two", "--after", "1"]);
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "2"]).1, @r"
    error: task `2` depends on open tasks: `1`

    hint: `steadfast task next` shows a task that can start now
    ");
}

#[test]
fn a_human_puts_their_word_in_the_place_of_a_claim() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let class = || task(&sandbox)["evidence"]["class"].clone();
    sandbox.as_agent("me", &["task", "done", "1"]);
    assert_eq!(class(), "claimed");
    assert_eq!(sandbox.as_agent("me", &["task", "done", "1", "--force"]).status.code(), Some(2));
    assert_eq!(class(), "claimed");
    assert!(sandbox.ok(&["task", "done", "1", "--force"]).starts_with("1 One: done (forced: a human closed it)"));
    assert_eq!(class(), "forced");
}

/// A claim that is not stale: nothing of the task's file changed since.
#[test]
fn a_human_puts_their_word_in_the_place_of_a_fresh_claim_of_a_loaded_plan() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", "# F\n\n## Phase 1: P\n\n- [ ] 1.1 Write it\n  - files: `a.txt`\n");
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    sandbox.ok(&["decide", "Text", "--why", "it is read"]);
    sandbox.ok(&["task", "done", "1.0"]);
    let evidence = || {
        let list: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
        list["tasks"].as_array().unwrap().iter().find(|task| task["id"] == "1.1").unwrap()["evidence"].clone()
    };
    sandbox.as_agent("me", &["task", "start", "1.1"]);
    sandbox.write("a.txt", "by the agent\n");
    sandbox.as_agent("me", &["task", "done", "1.1"]);
    assert_eq!((evidence()["class"].as_str(), evidence()["stale"].as_bool()), (Some("claimed"), Some(false)));
    sandbox.ok(&["task", "done", "1.1", "--force"]);
    assert_eq!(evidence()["class"], "forced");
}

#[test]
fn only_a_human_closes_a_task_without_its_check() {
    let sandbox = with_check("false");
    let refused = sandbox.as_agent("me", &["task", "done", "1", "--force"]);
    assert_eq!(refused.status.code(), Some(2));
    insta::assert_snapshot!(said(&sandbox, &refused), @r"
    error: only a human can run `steadfast task done --force`, and this is an agent's call

    hint: a human runs `steadfast task done --force` in a separate terminal
    ");
    assert_eq!(task(&sandbox)["status"], "pending");
    sandbox.ok(&["task", "done", "1", "--force"]);
    assert_eq!(task(&sandbox)["evidence"]["class"], "forced");
}

#[test]
fn a_check_that_is_made_to_pass_is_no_evidence() {
    let sandbox = Sandbox::new();
    let manifest = |test: &str, more: &str| {
        let text = format!("{{\"scripts\": {{\"test\": \"{test}\"}}{more}}}");
        fs::write(sandbox.root().join("package.json"), text).unwrap();
    };
    manifest("vitest run", "");
    sandbox.ok(&["task", "add", "Write it", "--verify", "npm test"]);
    manifest("true", "");
    let refused = sandbox.as_agent("me", &["task", "done", "1"]);
    assert_eq!(refused.status.code(), Some(3));
    insta::assert_snapshot!(said(&sandbox, &refused), @r"
    error: task `1` stays open: its check `npm test` changed since the plan was loaded: package.json script `test` was `vitest run`, is `true`

    hint: restore the check, or a human accepts it: `steadfast task done 1 --accept-check`
    ");
    let accepted = sandbox.as_agent("me", &["task", "done", "1", "--accept-check"]);
    assert_eq!(accepted.status.code(), Some(2), "only a human says yes");
    assert!(sandbox.ok(&["status"]).contains("--accept-check"));
    // A dependency is no change of the check: it runs, and finds no vitest, or no npm.
    manifest("vitest run", ", \"dependencies\": {\"left-pad\": \"1\"}");
    assert!(closed(&sandbox, &[]).contains("`npm test` exited with 127"));
}

#[test]
fn a_check_that_swallows_its_status_is_no_evidence() {
    let sandbox = with_check("false | tail -1");
    insta::assert_snapshot!(closed(&sandbox, &[]), @r"
    1 Write it: done (claimed: `false | tail -1` ran; its exit status proves nothing: a pipe has the exit status of its last command, which always succeeds here)
    1 of 1 tasks done, 0 open, 0 blocked.
    ");
    assert_eq!(task(&sandbox)["evidence"]["class"], "claimed");
}

#[test]
fn a_check_that_hangs_is_ended_at_its_limit() {
    let sandbox = with_check("trap '' TERM; sleep 300");
    sandbox.ok(&["config", "set", "ledger.check_seconds", "1"]);
    insta::assert_snapshot!(closed(&sandbox, &[]), @r"
    error: task `1` stays open: `trap '' TERM; sleep 300` reached its time limit (ended at its time limit of 1 s)

    hint: `steadfast task done 1` runs the check again
    ");
}

#[test]
fn a_note_is_kept_with_its_task() {
    let sandbox = with_check("true");
    sandbox.ok(&["task", "note", "1", "the fixtures are in tests/data"]);
    assert_eq!(task(&sandbox)["notes"], "the fixtures are in tests/data");
    insta::assert_snapshot!(sandbox.fails(&["task", "note", "1", " "]).1, @r"
    error: the note is empty

    hint: `steadfast task note ID TEXT`
    ");
}

#[test]
fn there_is_nothing_to_wait_for_when_no_check_runs() {
    let sandbox = with_check("true");
    insta::assert_snapshot!(sandbox.fails(&["task", "wait", "1"]).1, @r"
    error: no check of task `1` is running

    hint: `steadfast task done 1` starts it
    ");
}
