//! The errors that no other test is about, each brought about in the binary and read: the thing, the cause, what to do.

use std::process::Output;

use crate::sandbox::Sandbox;

mod demo;
mod hook;
mod hosts;
mod ledger;
mod sessions;
mod tasks;

/// The exit code and what was said.
fn failure(sandbox: &Sandbox, output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    format!("exit {}\n{}", output.status.code().unwrap(), sandbox.without_paths(&output.stderr))
}

fn fails(sandbox: &Sandbox, arguments: &[&str]) -> String {
    failure(sandbox, &sandbox.run(arguments))
}
