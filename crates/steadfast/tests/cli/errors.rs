//! The errors that no other test is about, each brought about in the binary and read: the thing, the cause, what to do.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use crate::sandbox::Sandbox;

mod checks;
mod demo;
mod hook;
mod hosts;
mod ledger;
mod looking;
mod pictures;
mod plans;
mod run;
mod server;
mod sessions;
mod settings;
mod specs;
mod tasks;

/// The exit code and what was said.
fn failure(sandbox: &Sandbox, output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    format!("exit {}\n{}", output.status.code().unwrap(), sandbox.without_paths(&output.stderr))
}

fn fails(sandbox: &Sandbox, arguments: &[&str]) -> String {
    failure(sandbox, &sandbox.run(arguments))
}

/// The same where no thread and no process can be started. Root may start as many as it likes, so as root this is
/// nobody's process.
fn without_threads(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    const NOBODY: u32 = 65_534;
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -u 1 && exec \"$0\" \"$@\""]).arg(sandbox.binary()).args(arguments);
    command.current_dir(sandbox.root()).env_clear().env("HOME", sandbox.home()).stdin(Stdio::null());
    let top = sandbox.root().parent().unwrap().to_owned();
    if std::os::unix::fs::chown(&top, Some(NOBODY), Some(NOBODY)).is_ok() {
        let all = Command::new("chown").args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(top).status();
        assert!(all.unwrap().success());
        command.uid(NOBODY).gid(NOBODY);
    }
    command.output().unwrap()
}
