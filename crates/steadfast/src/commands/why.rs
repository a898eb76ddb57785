use clap::Args;
use steadfast_model::ToolUseId;
use steadfast_work::Repository;
use steadfast_work::why::{Explained, explain};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::put;
use crate::{pager, terminal};

/// Explain the last refusal, and suggest the next step.
///
/// If the session was allowed to stop since then, explains that instead. The reasons are the limit of refusals, only
/// blocked tasks, and tasks that could not be read. Inside an agent's session, explains refusals of that session only.
#[derive(Debug, Args)]
pub(super) struct Why {
    /// Session to explain; the beginning of its id is enough. [default: any session; inside an agent, its own]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON with stable keys: `{at, session, sequence, agent, event, policy, mode, verdict, reason, facts,
    /// summary, what, told: {agent, human}, budget: {refusal, limit}, since: {closed: [{id, title, status, at}],
    /// prompts, tool_calls, released, ended, opened}, next: [..], gate: {state, put_back: [..], kept: [path]}}`, or `null` if nothing was refused. Times are in milliseconds
    /// since 1970.
    #[arg(long)]
    json: bool,
}

impl Why {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let history = here::history()?;
        let session = match self.session {
            Some(beginning) => Some(history.session(&beginning)?),
            None => environment::session().or_else(|| here::caller(&history.repository, "why").session),
        };
        let Explained { text, json } = explain(&history, session)?;
        if self.json { put(&format!("{json}\n")).map(|_| ()) } else { pager::show_long(&text) }
    }
}

/// For a tool call over MCP. Explains its session, or any session if no hook reported the caller.
pub(super) fn of_tool_call(call: Option<&ToolUseId>, tool: &str) -> Result<Explained, CommandError> {
    let (repository, claim) = Repository::of_tool_call(environment::current(), call, tool)?;
    let Explained { text, json } = explain(&here::history_of(repository), claim.map(|claim| claim.session))?;
    Ok(Explained { text: terminal::bare(&text), json })
}
