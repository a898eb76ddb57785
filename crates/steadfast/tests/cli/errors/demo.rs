//! A demo that cannot be played.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use super::{fails, failure};
use crate::sandbox::{Sandbox, write_program};

/// The demo with this variable set so, without the name of its temporary folder.
fn demo(sandbox: &Sandbox, arguments: &[&str], variable: (&str, &str)) -> String {
    let output: Output = sandbox
        .command()
        .arg("demo")
        .args(arguments)
        .env("TMPDIR", sandbox.home())
        .env(variable.0, variable.1)
        .output()
        .unwrap();
    let said = failure(sandbox, &output);
    let Some((before, after)) = said.split_once("/steadfast-demo-") else { return said };
    let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
    format!("{before}/steadfast-demo-<random>{}", &after[end..])
}

/// A host that does only what the script says.
fn host(sandbox: &Sandbox, script: &str) -> String {
    let path = sandbox.home().join("host");
    write_program(&path, script);
    path.display().to_string()
}

#[test]
fn a_host_that_is_not_there() {
    let sandbox = Sandbox::bare();
    let bin = sandbox.binary().parent().unwrap().display().to_string();
    insta::assert_snapshot!(demo(&sandbox, &["--host", "codex"], ("PATH", &bin)), @r"
    exit 1
    error: `codex` is not on the PATH

    hint: install it with `npm install --global @openai/codex`, or give its path with `--program PATH`; `steadfast demo` without `--host` needs no other program
    ");
    insta::assert_snapshot!(demo(&sandbox, &["--host", "claude", "--program", "/nowhere/claude"], ("PATH", &bin)), @r"
    exit 1
    error: `/nowhere/claude` is not a program

    hint: install it with `npm install --global @anthropic-ai/claude-code`, or give its path with `--program PATH`; `steadfast demo` without `--host` needs no other program
    ");
}

#[test]
fn a_host_that_does_not_ask() {
    let sandbox = Sandbox::bare();
    let program = host(&sandbox, "echo 'not logged in' >&2");
    insta::assert_snapshot!(demo(&sandbox, &["--host", "claude", "--program", &program], ("LANG", "C")), @r"
    exit 1
    error: the host ended without a stop event

    hint: last line of the host: not logged in

    hint: `steadfast demo` without `--host` shows the same
    ");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(demo(&sandbox, &["--host", "claude", "--program", &program], ("LANG", "C")), @r"
    exit 1
    error: cannot start `/home/host`: Permission denied (os error 13)

    hint: give the program of the host with `--program PATH`; `steadfast demo` without `--host` needs none
    ");
}

#[test]
fn a_machine_without_git_or_without_a_temporary_folder() {
    let sandbox = Sandbox::bare();
    let bin = sandbox.binary().parent().unwrap().display().to_string();
    insta::assert_snapshot!(demo(&sandbox, &[], ("PATH", &bin)), @r"
    exit 1
    error: cannot run `git init --quiet`: No such file or directory (os error 2)

    hint: the demo runs in a git repository: install `git`
    ");
    insta::assert_snapshot!(demo(&sandbox, &[], ("TMPDIR", "/nowhere")), @r#"
    exit 1
    error: cannot create a temporary folder: No such file or directory (os error 2) at path "/nowhere/steadfast-demo-<random>"

    hint: set `TMPDIR` to a writable folder with free space and without `:` in its path
    "#);
}

#[test]
fn a_demo_that_cannot_be_printed() {
    let sandbox = Sandbox::bare();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.command().arg("demo").env("TMPDIR", sandbox.home()).stdout(full).output().unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot write to standard output: No space left on device (os error 28)

    hint: free disk space or redirect the output; `steadfast status` shows the current state
    ");
}

/// The demo on a machine whose `name` is this script.
fn with_program(name: &str, script: &str) -> String {
    let sandbox = Sandbox::bare();
    let bin = sandbox.home().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = host(&sandbox, script);
    fs::rename(program, bin.join(name)).unwrap();
    demo(&sandbox, &[], ("PATH", &format!("{}:/usr/bin:/bin", bin.display())))
}

#[test]
fn a_temporary_folder_that_does_not_take_what_it_is_for() {
    let sandbox = Sandbox::bare();
    let colon = sandbox.home().join("a:b");
    fs::create_dir(&colon).unwrap();
    insta::assert_snapshot!(demo(&sandbox, &[], ("TMPDIR", &colon.display().to_string())), @r"
    exit 1
    error: cannot put the temporary folder on the PATH: path segment contains separator `:`

    hint: set `TMPDIR` to a writable folder with free space and without `:` in its path
    ");
    // What git is called for stands in the way of what comes next.
    insta::assert_snapshot!(with_program("git", "echo >.git"), @r"
    exit 1
    error: cannot set up the temporary repository: Not a directory (os error 20)

    hint: set `TMPDIR` to a writable folder with free space and without `:` in its path
    ");
    insta::assert_snapshot!(with_program("git", "mkdir .git check.sh"), @r"
    exit 1
    error: cannot write to the temporary repository: Is a directory (os error 21)

    hint: set `TMPDIR` to a writable folder with free space and without `:` in its path
    ");
    insta::assert_snapshot!(with_program("git", "/usr/bin/git \"$@\"; mkdir ../scenario.json"), @r"
    exit 1
    error: cannot write the scenario: Is a directory (os error 21)

    hint: set `TMPDIR` to a writable folder with free space and without `:` in its path
    ");
    insta::assert_snapshot!(with_program("git", "/usr/bin/git \"$@\"; mkdir ../stderr"), @r"
    exit 1
    error: cannot write `/home/steadfast-demo-<random>/stderr`: Is a directory (os error 21)

    hint: set `TMPDIR` to a writable folder with free space and without `:` in its path
    ");
    insta::assert_snapshot!(with_program("git", "/usr/bin/git \"$@\"; echo >.git/steadfast"), @r"
    exit 1
    error: cannot set up the temporary repository: File exists (os error 17)

    hint: set `TMPDIR` to a writable folder with free space and without `:` in its path
    ");
}

#[test]
fn a_host_that_hangs() {
    let sandbox = Sandbox::bare();
    let program = host(&sandbox, "echo 'waiting for the network' >&2; exec sleep 600");
    let arguments = ["--host", "claude", "--limit", "5", "--program", &program];
    insta::assert_snapshot!(demo(&sandbox, &arguments, ("LANG", "C")), @r"
    exit 1
    error: the host did not end within 5 s

    hint: last line of the host: waiting for the network

    hint: `steadfast demo` without `--host` shows the same

    hint: `--limit TIME` gives it more time
    ");
}

#[test]
fn a_host_that_does_not_pass_a_refusal_on() {
    let sandbox = Sandbox::bare();
    let hook = r#"hook() { printf '{"session_id":"s-1",%s}' "$2" | steadfast hook --host claude --via local "$1"; }"#;
    let calls = r#"hook UserPromptSubmit '"prompt":"Do the tasks."'; hook Stop '"stop_hook_active":false,"background_tasks":[]'"#;
    let program = host(&sandbox, &format!("{hook}; {calls}"));
    let arguments = ["--host", "claude", "--program", &program];
    insta::assert_snapshot!(demo(&sandbox, &arguments, ("LANG", "C")), @r"
    exit 1
    error: the host did not pass a refusal on to its model

    hint: `steadfast demo` without `--host` shows the same
    ");
}

#[test]
fn an_agent_that_ends_although_tasks_are_open() {
    // The check of the last task goes by it.
    insta::assert_snapshot!(with_program("grep", "exit 1"), @r"
    exit 1
    error: the host ended with open tasks

    hint: the checks of its tasks need `sh` and `grep`
    ");
}

#[test]
fn a_plan_that_comes_by_another_way() {
    // The check of the last task leaves it there.
    insta::assert_snapshot!(with_program("grep", "echo a plan >NEXT.md"), @r"
    exit 1
    error: a plan was written without approval

    hint: the checks of its tasks need `sh` and `grep`
    ");
}

#[test]
fn a_scenario_that_is_not_there_or_none() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(fails(&sandbox, &["sim", "--scenario", "absent.json"]), @r"
    exit 1
    error: cannot read the scenario absent.json: No such file or directory (os error 2)

    hint: `--scenario FILE` must be JSON; without it, the agent works through the tasks of the ledger
    ");
    fs::write(sandbox.root().join("talk.json"), "{}").unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["sim", "--scenario", "talk.json"]), @r"
    exit 1
    error: talk.json: missing field `name` at line 1 column 2

    hint: `--scenario FILE` must be JSON; without it, the agent works through the tasks of the ledger
    ");
    // The folder goes while its agent comes.
    let gone = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    let Some(output) = sandbox.elsewhere(gone, &["sim"]) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot work in .: No such file or directory (os error 2)

    hint: the agent needs this folder and the hooks of this program
    ");
}

#[test]
fn a_machine_on_which_nothing_may_listen() {
    let sandbox = Sandbox::bare();
    let program = host(&sandbox, "exit 0");
    let arguments = ["demo", "--host", "claude", "--program", &program];
    let Some(output) = sandbox.without_network("exec \"$0\" \"$@\"", &arguments) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: the host ended without a stop event

    hint: `steadfast demo` without `--host` shows the same
    ");
    let no_port = "cd /proc/sys/net/ipv4 && echo 40000 40000 >ip_local_port_range && echo 40000 >ip_local_reserved_ports && \
                   cd - >/dev/null && exec \"$0\" \"$@\"";
    let output = sandbox.without_network(no_port, &arguments).unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot start the scripted model: Address already in use (os error 98)

    hint: it listens on 127.0.0.1, which a sandbox may forbid; `steadfast demo` without `--host` needs no model
    ");
}

#[test]
fn a_simulated_session_that_does_not_end_by_itself() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "one"]);
    let scenario = r#"{"name": "talker", "prompt": "Do the tasks.", "turns": [{"say": "I am done."}]}"#;
    fs::write(sandbox.root().join("talker.json"), scenario).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["sim", "--scenario", "talker.json", "--stop-cap", "1"]), @r"
    exit 1
    error: the session did not end normally: overridden

    hint: its last lines on standard output show the cause
    ");
}
