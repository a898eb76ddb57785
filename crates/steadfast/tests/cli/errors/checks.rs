//! A check that cannot be run, and what its supervisor says when it is called wrongly.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::process::Output;

use serde_json::json;

use super::{fails, failure};
use crate::sandbox::Sandbox;

fn with_check(check: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One", "--verify", check]);
    sandbox
}

/// The program is in memory already when another file lies in its place.
fn behind(cover: &str) -> String {
    format!("exec 9<\"$0\" && mount --bind {cover} \"$0\" && exec /proc/self/fd/9 \"$@\"")
}

/// The supervisor of this run, called by hand.
fn supervise<'a>(plan: &'a str, task: &'a str) -> [&'a str; 7] {
    ["supervise", "--plan", plan, "--task", task, "--run", "r-1"]
}

fn plan(sandbox: &Sandbox) -> String {
    let said = sandbox.ok(&["plan", "status", "--json"]);
    serde_json::from_str::<serde_json::Value>(&said).unwrap()["plan"].as_str().unwrap().to_owned()
}

fn said(sandbox: &Sandbox, output: &Output) -> String {
    failure(sandbox, output).replace(&plan(sandbox), "<plan>")
}

#[test]
fn a_supervisor_that_cannot_be_started() {
    let sandbox = with_check("true");
    let Some(output) = sandbox.elsewhere(&behind("/bin/false"), &["task", "done", "1"]) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot start the check of task `1`: its supervisor failed: exit status: 1

    hint: `steadfast doctor` checks the state it needs
    ");
    fs::write(sandbox.home().join("text"), "no program").unwrap();
    let Some(output) = sandbox.elsewhere(&behind("~/text"), &["task", "done", "1"]) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot start the check of task `1`: Permission denied (os error 13)

    hint: `steadfast doctor` checks the state it needs
    ");
    let plan = plan(&sandbox);
    let leave = [&supervise(&plan, "1")[..], &["--leave"]].concat();
    let Some(output) = sandbox.elsewhere(&behind("~/text"), &leave) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot start the supervisor: Permission denied (os error 13)

    hint: run the check with `steadfast task done 1`
    ");
    // None of these is left as running.
    sandbox.ok(&["task", "done", "1"]);
}

#[test]
fn a_supervisor_that_is_called_wrongly() {
    let sandbox = with_check("true");
    sandbox.ok(&["task", "add", "Two"]);
    let plan = plan(&sandbox);
    let mut leader = sandbox.command();
    leader.args(supervise(&plan, "1")).process_group(0);
    insta::assert_snapshot!(failure(&sandbox, &leader.output().unwrap()), @r"
    exit 1
    error: cannot supervise a check here: this process cannot leave its terminal, because it leads a group: start it without a group of its own

    hint: run the check with `steadfast task done 1`
    ");
    let mut confined = sandbox.command();
    confined.args(supervise(&plan, "1")).env("STEADFAST_SANDBOX", "{");
    insta::assert_snapshot!(failure(&sandbox, &confined.output().unwrap()), @r"
    exit 1
    error: `STEADFAST_SANDBOX` is not a valid sandbox: EOF while parsing an object at line 1 column 1

    hint: run the check with `steadfast task done 1`
    ");
    insta::assert_snapshot!(fails(&sandbox, &supervise(&plan, "2")), @r"
    exit 1
    error: the check of task `2` is not a command

    hint: `steadfast task done 2` looks at its proof
    ");
    insta::assert_snapshot!(said(&sandbox, &sandbox.run(&supervise(&plan, "9"))), @r"
    exit 1
    error: there is no task `9` in plan `<plan>`; similar ids: `1`, `2`

    hint: `steadfast task list` shows all tasks
    ");
    insta::assert_snapshot!(fails(&sandbox, &supervise("nothing", "1")), @r"
    exit 1
    error: there is no plan `nothing`

    hint: `steadfast plan show` shows the plan of this worktree
    ");
}

#[test]
fn a_supervisor_in_a_container_that_was_entered_from_outside() {
    let sandbox = with_check("true");
    let plan = plan(&sandbox);
    // The shell gives it a group of its own; the session it belongs to is not seen from in there.
    let Some(output) = sandbox.entered("set -m; \"$0\" \"$@\"; exit $?", &supervise(&plan, "1")) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot supervise a check here: this process cannot leave its terminal, because it leads a group: start it without a group of its own

    hint: run the check with `steadfast task done 1`
    ");
    let done = sandbox.entered("exec \"$0\" \"$@\"", &["task", "done", "1"]).unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn a_supervisor_that_nobody_asked_for_closes_nothing() {
    let sandbox = with_check("true");
    let plan = plan(&sandbox);
    assert!(sandbox.run(&supervise(&plan, "1")).status.success());
    assert_eq!(sandbox.task("1")["status"], "pending");
}

#[test]
fn a_check_that_cannot_be_looked_into() {
    let sandbox = with_check("sh check.sh");
    let script = sandbox.root().join("check.sh");
    symlink("check.sh", &script).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["task", "done", "1"]), @r"
    exit 1
    error: cannot read what the check `sh check.sh` runs: `/repo/check.sh` cannot be read: Too many levels of symbolic links (os error 40)

    hint: fix that and try again: Steadfast runs a check only if it knows what the check runs
    ");
    insta::assert_snapshot!(fails(&sandbox, &["task", "add", "Two", "--verify", "sh check.sh"]), @r"
    exit 1
    error: cannot read what the check `sh check.sh` runs: `/repo/check.sh` cannot be read: Too many levels of symbolic links (os error 40)

    hint: fix that and try again: Steadfast runs a check only if it knows what the check runs
    ");
    fs::remove_file(&script).unwrap();
    fs::File::create(&script).unwrap().set_len(5 << 20).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["task", "done", "1"]), @r"
    exit 1
    error: cannot read what the check `sh check.sh` runs: `/repo/check.sh` is larger than 4 MiB, too large for a script or a manifest

    hint: fix that and try again: Steadfast runs a check only if it knows what the check runs
    ");
    let scripts: Vec<String> = (0..501).map(|n| format!("\"t{n}\": \"true\"")).collect();
    sandbox.write("package.json", format!("{{\"scripts\": {{{}}}}}", scripts.join(", ")));
    let all: Vec<String> = (0..501).map(|n| format!("npm run t{n}")).collect();
    let refused = fails(&sandbox, &["task", "add", "Two", "--verify", &all.join(" && ")]);
    insta::assert_snapshot!(refused.replace(&all.join(" && "), "<all>"), @r"
    exit 1
    error: cannot read what the check `<all>` runs: `<all>` leads to more than 500 scripts: use a more specific command

    hint: fix that and try again: Steadfast runs a check only if it knows what the check runs
    ");
}

#[test]
fn a_changed_check_that_an_agent_says_yes_to() {
    let sandbox = with_check("sh check.sh");
    sandbox.write("check.sh", "true");
    insta::assert_snapshot!(failure(&sandbox, &sandbox.as_agent("me", &["task", "done", "1", "--accept-check"])), @r"
    exit 2
    error: only a human can run `steadfast task done --accept-check`, and this is an agent's call

    hint: a human runs `steadfast task done --accept-check` in a separate terminal
    ");
}

#[test]
fn what_is_different_in_a_check_is_named() {
    let sandbox = Sandbox::new();
    let manifest = |test: &str| sandbox.write("package.json", json!({"scripts": {"test": test}}).to_string());
    manifest("sh a.sh");
    sandbox.write("a.sh", "false");
    sandbox.ok(&["task", "add", "One", "--verify", "npm test"]);
    let mut all = String::new();
    for (test, a, b) in [
        ("sh a.sh", Some("true"), None),
        ("sh a.sh", None, None),
        ("sh b.sh", Some("false"), None),
        ("sh a.sh && sh b.sh", Some("false"), Some("true")),
    ] {
        manifest(test);
        for (name, text) in [("a.sh", a), ("b.sh", b)] {
            let _ = fs::remove_file(sandbox.root().join(name));
            if let Some(text) = text {
                sandbox.write(name, text);
            }
        }
        let said = fails(&sandbox, &["task", "done", "1"]);
        let line = said.lines().nth(1).unwrap();
        all += &format!("{}\n", line.split_once("was loaded: ").unwrap().1);
    }
    insta::assert_snapshot!(all, @r"
    `a.sh` has different content
    `a.sh` was a file, is gone
    `a.sh` was a file, is no longer used; package.json script `test` was `sh a.sh`, is `sh b.sh`; `b.sh` is used now, and is missing
    package.json script `test` was `sh a.sh`, is `sh a.sh && sh b.sh`; `b.sh` was missing, is a file
    ");
    assert!(
        sandbox
            .ok(&["status"])
            .contains("the check of task 1 changed; `steadfast task done 1 --accept-check` accepts it")
    );
}

#[test]
fn a_check_that_fails_again_and_again_needs_a_human() {
    let sandbox = with_check("false");
    for _ in 0..12 {
        sandbox.run(&["task", "done", "1"]);
    }
    insta::assert_snapshot!(fails(&sandbox, &["task", "done", "1"]), @r"
    exit 1
    error: task `1` stays open: `false` exited with 1; the same failure 13 times

    hint: try another way, or `steadfast task block 1 --why REASON`
    ");
    assert!(sandbox.ok(&["status"]).contains("the check of task 1 keeps failing in the same way"));
}

#[test]
fn a_task_that_an_agent_may_not_touch() {
    let sandbox = with_check("true");
    sandbox.ok(&["task", "block", "1", "--why", "the key is missing"]);
    for arguments in [["task", "start", "1"], ["task", "done", "1"]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(failure(&sandbox, &sandbox.as_agent("me", &arguments)), @r"
            exit 2
            error: task `1` is blocked; only a human can unblock it

            hint: a human runs `steadfast task unblock 1`
            ");
        }
    }
}
