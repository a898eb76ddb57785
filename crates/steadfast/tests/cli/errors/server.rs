//! An MCP server that cannot serve.

use std::fs::File;

use super::{failure, without_threads};
use crate::sandbox::Sandbox;

#[test]
fn a_server_without_a_thread_to_read_by() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(failure(&sandbox, &without_threads(&sandbox, &["mcp"])), @r"
    exit 1
    error: the server failed: Resource temporarily unavailable (os error 11)

    hint: `steadfast task` does the same; the host restarts the server in its next session
    ");
}

#[test]
fn a_server_with_an_input_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.arg("mcp").stdin(File::open(sandbox.root()).unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success());
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @r"
    error: cannot read standard input: Is a directory (os error 21)

    hint: only a host starts this server; people use `steadfast task`
    ");
}
