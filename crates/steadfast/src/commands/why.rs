use clap::Args;
use steadfast_model::ToolUseId;
use steadfast_work::Repository;
use steadfast_work::why::{Explained, explain};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::put;

/// Explains the last refusal: one line, then the longer story and what to do next.
///
/// Where a session was let go since, as capped, as all blocked, or because the tasks could not be read, that is
/// explained. Inside an agent's session it is about that session.
#[derive(Debug, Args)]
pub(super) struct Why {
    /// Of this session; the beginning of its id is enough. [default: of any, inside an agent of the agent's own]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON with stable keys: `{at, session, sequence, agent, event, policy, mode, verdict, reason, facts,
    /// summary, what, told: {agent, human}, budget: {refusal, limit}, since: {closed: [{id, title, status, at}],
    /// prompts, tool_calls, released, ended}, next: [..], gate: {state, put_back: [..], kept: [path]}}`, or `null` if nothing was refused. Times are in milliseconds
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
        let text = if self.json { json.to_string() } else { text };
        put(&format!("{text}\n"))?;
        Ok(())
    }
}

/// For a tool call over MCP: of its session, and of any where no hook told whose call it is.
pub(super) fn of_tool_call(call: Option<&ToolUseId>, tool: &str) -> Result<Explained, CommandError> {
    let (repository, claim) = Repository::of_tool_call(environment::current(), call, tool)?;
    Ok(explain(&here::history_of(repository), claim.map(|claim| claim.session))?)
}
