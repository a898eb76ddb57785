//! A demo that cannot be played.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use super::failure;
use crate::sandbox::Sandbox;

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

/// A host that does only what the script says. Written by another process: a file that this one had open for writing
/// cannot always be executed.
fn host(sandbox: &Sandbox, script: &str) -> String {
    let path = sandbox.home().join("host").display().to_string();
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
    assert!(Command::new("sh").args(["-c", write, &path, script]).status().unwrap().success());
    path
}

#[test]
fn a_host_that_is_not_there() {
    let sandbox = Sandbox::bare();
    let bin = sandbox.binary().parent().unwrap().display().to_string();
    insta::assert_snapshot!(demo(&sandbox, &["--host", "codex"], ("PATH", &bin)), @r"
    exit 1
    error: `codex` is not on the PATH

    hint: `npm install --global @openai/codex` installs it, `--program PATH` names one that is elsewhere; `steadfast demo` alone needs neither
    ");
    insta::assert_snapshot!(demo(&sandbox, &["--host", "claude", "--program", "/nowhere/claude"], ("PATH", &bin)), @r"
    exit 1
    error: `/nowhere/claude` is not a program

    hint: `npm install --global @anthropic-ai/claude-code` installs it, `--program PATH` names one that is elsewhere; `steadfast demo` alone needs neither
    ");
}

#[test]
fn a_host_that_does_not_ask() {
    let sandbox = Sandbox::bare();
    let program = host(&sandbox, "echo 'not logged in' >&2");
    insta::assert_snapshot!(demo(&sandbox, &["--host", "claude", "--program", &program], ("LANG", "C")), @r"
    exit 1
    error: the host ended without asking whether its agent may stop

    hint: the host's last words: not logged in
    ");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(demo(&sandbox, &["--host", "claude", "--program", &program], ("LANG", "C")), @r"
    exit 1
    error: cannot start `/home/host`: Permission denied (os error 13)
    ");
}

#[test]
fn a_machine_without_git_or_without_a_temporary_folder() {
    let sandbox = Sandbox::bare();
    let bin = sandbox.binary().parent().unwrap().display().to_string();
    insta::assert_snapshot!(demo(&sandbox, &[], ("PATH", &bin)), @r"
    exit 1
    error: cannot run `git init --quiet`: No such file or directory (os error 2)

    hint: the demo plays in a git repository: `git` has to be installed
    ");
    insta::assert_snapshot!(demo(&sandbox, &[], ("TMPDIR", "/nowhere")), @r#"
    exit 1
    error: cannot make a temporary folder: No such file or directory (os error 2) at path "/nowhere/steadfast-demo-<random>"
    "#);
}

#[test]
fn a_demo_that_cannot_be_printed() {
    let sandbox = Sandbox::bare();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.command().arg("demo").env("TMPDIR", sandbox.home()).stdout(full).output().unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot print: No space left on device (os error 28)
    ");
}
