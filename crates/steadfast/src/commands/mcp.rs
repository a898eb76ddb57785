use std::io::{IsTerminal, Write, stdin, stdout};

use clap::Args;

use crate::error::CommandError;

mod arguments;
mod line;
mod message;
mod revision;
mod server;
mod tool;

use line::{LIMIT, Line, next_line};

/// Serves the list of tasks to an agent, as an MCP server on standard input and output. A host starts it.
#[derive(Debug, Args)]
pub(super) struct Mcp {}

impl Mcp {
    /// One message after the other, until the host closes the pipe. The ledger is open only during a call.
    pub(super) fn run(self) -> Result<(), CommandError> {
        if stdin().is_terminal() {
            eprintln!("`steadfast mcp` speaks JSON-RPC, one message per line; `steadfast task` is for people");
        }
        let (mut input, mut output) = (stdin().lock(), stdout().lock());
        loop {
            let line = next_line(&mut input)
                .map_err(|error| CommandError::failure(format!("cannot read standard input: {error}")))?;
            let answer = match line {
                Line::Whole(text) => message::answer(&text, server::serve),
                Line::TooLong => Some(message::refuse(format!("a message is at most {LIMIT} bytes long"))),
                Line::End => return Ok(()),
            };
            let Some(answer) = answer else { continue };
            if output.write_all(format!("{answer}\n").as_bytes()).and_then(|()| output.flush()).is_err() {
                // Nobody listens any more.
                return Ok(());
            }
        }
    }
}
