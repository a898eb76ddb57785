//! A plan that cannot be loaded, gone on with or put away, and a decisions file that is in the way.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{fails, failure};
use crate::plans::loaded;
use crate::sandbox::Sandbox;

/// What the log says, without times and paths.
fn log(sandbox: &Sandbox) -> String {
    let text = fs::read(sandbox.place().state.join("hook.log")).unwrap_or_default();
    sandbox.without_paths(&text).lines().map(|line| format!("{}\n", &line[21..])).collect()
}

#[test]
fn a_spec_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    fs::File::create(sandbox.root().join("SPEC.md")).unwrap().set_len((64 << 20) + 1).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["plan", "load", "SPEC.md"]), @r"
    exit 1
    error: cannot read `SPEC.md`: it is longer than 64 MB; split it

    hint: a spec is a file of Markdown or JSON in UTF-8; `-` is standard input
    ");
    sandbox.write("SPEC.md", b"# \xff");
    insta::assert_snapshot!(fails(&sandbox, &["plan", "load", "SPEC.md"]), @r"
    exit 1
    error: cannot read `SPEC.md`: it is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 2

    hint: a spec is a file of Markdown or JSON in UTF-8; `-` is standard input
    ");
    insta::assert_snapshot!(fails(&sandbox, &["plan", "load", "."]), @r"
    exit 1
    error: cannot read `.`: it is not a file

    hint: a spec is a file of Markdown or JSON in UTF-8; `-` is standard input
    ");
    insta::assert_snapshot!(fails(&sandbox, &["plan", "load", "none.md"]), @r"
    exit 1
    error: cannot read `none.md`: No such file or directory (os error 2)

    hint: a spec is a file of Markdown or JSON in UTF-8; `-` is standard input
    ");
}

#[test]
fn a_spec_that_an_agent_loads_again_after_it_changed() {
    let sandbox = loaded();
    let text = fs::read_to_string(sandbox.root().join("SPEC.json")).unwrap();
    sandbox.write("SPEC.json", text.replace("grep -q hello greet.txt", "true"));
    insta::assert_snapshot!(failure(&sandbox, &sandbox.as_agent("me", &["plan", "load", "SPEC.json"])), @r"
    exit 3
    error: `SPEC.json` is loaded as plan `greeting` and has changed since; only a human can load it again

    hint: a human runs `steadfast plan load SPEC.json`; unchanged tasks keep their status
    ");
}

#[test]
fn a_decisions_file_that_cannot_be_put_away() {
    let sandbox = loaded();
    let file = sandbox.decisions_file("greeting");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["plan", "clear"]), @r"
    exit 1
    error: plan `greeting` is cleared, but `.steadfast/decisions/greeting.md` cannot be archived: Is a directory (os error 21)

    hint: move the file away yourself: the plan is archived and no longer writes it
    ");
    insta::assert_snapshot!(fails(&sandbox, &["plan", "show"]), @r"
    exit 1
    error: there is no plan in this worktree

    hint: `steadfast plan load SPEC.md` loads one
    ");
}

#[test]
fn a_decisions_file_that_cannot_be_read_or_written() {
    let sandbox = loaded();
    let file = sandbox.decisions_file("greeting");
    fs::File::options().write(true).open(&file).unwrap().set_len((1 << 20) + 1).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["task", "done", "1.0"]), @r"
    exit 1
    error: cannot read `/repo/.steadfast/decisions/greeting.md`: it is longer than a megabyte

    hint: move the file away: Steadfast writes a new one if it is missing
    ");
    let folder = file.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    symlink(sandbox.root().join("gone"), folder).unwrap();
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    insta::assert_snapshot!(log(&sandbox), @r"
    cannot write the decisions file: cannot read `/repo/.steadfast/decisions/greeting.md`: it is longer than a megabyte
    cannot write the decisions file: cannot write `/repo/.steadfast/decisions/greeting.md`: File exists (os error 17)
    ");
}

#[test]
fn a_decisions_file_that_cannot_be_handed_over() {
    let sandbox = loaded();
    let text = fs::read_to_string(sandbox.root().join("SPEC.json")).unwrap();
    sandbox.write("SPEC.json", text.replace("\"Greeting\"", "\"Welcome\""));
    fs::create_dir(sandbox.decisions_file("welcome")).unwrap();
    assert!(sandbox.ok(&["plan", "load", "SPEC.json"]).starts_with("plan welcome: 13 tasks, "));
    insta::assert_snapshot!(log(&sandbox), @r"
    cannot move the decisions file: cannot move `/repo/.steadfast/decisions/greeting.md` to `/repo/.steadfast/decisions/welcome.md`: Is a directory (os error 21)
    cannot write the decisions file: cannot read `/repo/.steadfast/decisions/welcome.md`: Is a directory (os error 21)
    ");
}

#[test]
fn a_decision_of_a_phase_that_is_not_there() {
    let sandbox = loaded();
    let database = rusqlite::Connection::open(sandbox.place().state.join("state.db")).unwrap();
    database.execute("UPDATE task SET phase = 'gone' WHERE id = '1.0'", ()).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["task", "done", "1.0"]), @r"
    exit 1
    error: task `1.0` stays open: its phase is not in the plan; a human has to load the spec again

    hint: `steadfast task done 1.0` runs the check again
    ");
}

#[test]
fn a_session_that_cannot_be_gone_on_with() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(fails(&sandbox, &["resume"]), @r"
    exit 1
    error: nothing to continue: no task is open in this worktree

    hint: `steadfast plan load SPEC.md` loads a plan; `steadfast status` shows tasks and sessions
    ");
    sandbox.ok(&["task", "add", "One"]);
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    assert!(sandbox.as_agent("s-1", &["task", "start", "1"]).status.success());
    let mut command = sandbox.command();
    let path = sandbox.binary();
    command.args(["resume"]).env("PATH", path.parent().unwrap());
    insta::assert_snapshot!(failure(&sandbox, &command.output().unwrap()), @r"
    exit 1
    session s-1 may still be open and is bound to the plan, too: the open tasks block the stop of both, and neither takes over a task that the other started
    error: cannot start `claude`: No such file or directory (os error 2)

    hint: install it, or choose another host with `--host`; `--print` shows the command
    ");
    insta::assert_snapshot!(fails(&sandbox, &["resume", "--host", "sim"]), @r"
    exit 64
    error: the simulated agent works only in runs

    hint: `steadfast run SPEC --host sim` starts a run; a session needs `claude` or `codex`
    ");
    insta::assert_snapshot!(failure(&sandbox, &sandbox.as_agent("s-1", &["resume"])), @r"
    exit 2
    error: only a human can run `steadfast resume`, and this is an agent's call

    hint: a human runs `steadfast resume` in a separate terminal
    ");
}
