use std::io::{IsTerminal, stdin};

use clap::Args;

use crate::error::CommandError;
use crate::output::note;

mod arguments;
mod line;
mod message;
mod server;
mod stdio;
mod tool;
mod tools;

/// Serve the task list over MCP on standard input and output.
#[derive(Debug, Args)]
pub(super) struct Mcp {}

impl Mcp {
    /// Until the host closes the pipe, or does not listen any more. The ledger is open only during a call.
    pub(super) fn run(self) -> Result<(), CommandError> {
        if stdin().is_terminal() {
            note!("`steadfast mcp` speaks JSON-RPC, one message per line; `steadfast task` is for people");
        }
        stdio::serve().map_err(|error| {
            CommandError::failure(format!("the server failed: {error}"))
                .hint("`steadfast task` does the same; the host starts the server again with its next session")
        })
    }
}
