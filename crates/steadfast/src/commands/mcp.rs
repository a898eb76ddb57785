use std::io::{IsTerminal, stdin};

use clap::Args;
use rmcp::service::serve_directly;
use tokio::runtime::Builder;

use crate::error::CommandError;
use crate::output::note;

mod arguments;
mod line;
mod message;
mod server;
mod stdio;
mod tool;
mod tools;

use server::Server;
use stdio::Stdio;

/// How many calls are at work at once, beside the thread that writes. They share one ledger, and wait a quarter of a
/// second for each other: of 300 that all added a task at once, 135 did not get their turn in time.
const AT_WORK: usize = 16;

/// Serves the list of tasks to an agent, as an MCP server on standard input and output. A host starts it.
#[derive(Debug, Args)]
pub(super) struct Mcp {}

impl Mcp {
    /// Until the host closes the pipe, or does not listen any more. The ledger is open only during a call.
    pub(super) fn run(self) -> Result<(), CommandError> {
        if stdin().is_terminal() {
            note!("`steadfast mcp` speaks JSON-RPC, one message per line; `steadfast task` is for people");
        }
        let failed = |error: &dyn std::error::Error| {
            CommandError::failure(format!("the server failed: {error}"))
                .hint("`steadfast task` does the same; the host starts the server again with its next session")
        };
        // The only runtime there is: no other command waits for more than one thing at a time.
        let runtime = Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(AT_WORK + 1)
            .build()
            .map_err(|error| failed(&error))?;
        let served = runtime.block_on(async {
            let (stdio, written) = Stdio::open().map_err(|error| failed(&error))?;
            serve_directly(Server, stdio, None).waiting().await.map_err(|error| failed(&error))?;
            written.await.map_err(|error| failed(&error))
        });
        // A call that is still at work has nobody to answer to. What it wrote is whole: it could have been killed too.
        runtime.shutdown_background();
        served
    }
}
