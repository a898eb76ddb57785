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

/// The names of all tools. Each is the command of its name, with `_` for a space.
pub(super) fn tool_names() -> impl Iterator<Item = &'static str> {
    tools::TOOLS.iter().map(|tool| tool.name)
}

/// Serve the task list over MCP on standard input and output.
#[derive(Debug, Args)]
pub(super) struct Mcp {}

impl Mcp {
    /// Serves until the host closes a pipe. The ledger is open only during a call.
    pub(super) fn run(self) -> Result<(), CommandError> {
        if stdin().is_terminal() {
            note!("`steadfast mcp` reads JSON-RPC, one message per line; people use `steadfast task`");
        }
        stdio::serve().map_err(|error| {
            CommandError::failure(format!("the server failed: {error}"))
                .hint("`steadfast task` does the same; the host restarts the server in its next session")
        })
    }
}
