use clap::Args;
use serde_json::Value;
use steadfast_model::{SessionId, ToolUseId};
use steadfast_store::ledger::{HistoryFilter, HistoryLine};
use steadfast_work::Caller;
use steadfast_work::Repository;

use crate::error::CommandError;
use crate::history::History;
use crate::output::put;
use crate::surroundings;
use explanation::Explanation;
use gate::GateStory;

mod explanation;
mod gate;
mod story;

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
        let history = History::here()?;
        let session = match self.session {
            Some(beginning) => Some(history.session(&beginning)?),
            None => surroundings::session().or_else(|| {
                Caller::of(Some(&history.repository.place), &history.repository.environment, "why").session
            }),
        };
        let Explained { text, json } = explain(&history, session)?;
        let text = if self.json { json.to_string() } else { text };
        put(&format!("{text}\n"))?;
        Ok(())
    }
}

/// What is said of the last refusal, to people and to programs.
#[derive(Debug)]
pub(super) struct Explained {
    pub(super) text: String,
    /// `null` if nothing was refused.
    pub(super) json: Value,
}

/// For a tool call over MCP: of its session, and of any where no hook told whose call it is.
pub(super) fn of_tool_call(call: Option<&ToolUseId>, tool: &str) -> Result<Explained, CommandError> {
    let (repository, claim) = Repository::of_tool_call(surroundings::environment(), call, tool)?;
    explain(&History::at(repository), claim.map(|claim| claim.session))
}

fn explain(history: &History, session: Option<SessionId>) -> Result<Explained, CommandError> {
    let now = surroundings::now();
    let gate = GateStory::of(&history.repository.place);
    let (text, json) = match last(history, session.clone())? {
        Some(line) => {
            let explanation = Explanation::of(history, line);
            let mut json = explanation.to_json(now);
            json["gate"] = gate.to_json();
            (explanation.story(now), json)
        }
        None => (nothing(session.as_ref()), Value::Null),
    };
    let text = gate.text().map_or_else(|| text.clone(), |gate| format!("{text}\n\n{gate}"));
    Ok(Explained { text, json })
}

/// The last refusal, or the note that explains why there was none.
fn last(history: &History, session: Option<SessionId>) -> Result<Option<HistoryLine>, CommandError> {
    /// More than there are policies.
    const ONE_EVENT: u32 = 16;
    let verdicts = ["deny", "continue", "ask", "note"].map(str::to_owned).to_vec();
    let filter = HistoryFilter { session, verdicts, limit: ONE_EVENT, ..HistoryFilter::default() };
    let lines = history.lines(&filter)?;
    let Some(newest) = lines.first() else { return Ok(None) };
    let of_event = lines.iter().filter(|line| line.session == newest.session && line.sequence == newest.sequence);
    // Of one event, what had an effect explains more than what only would have had one; then, the strictest.
    Ok(of_event.max_by_key(|line| (line.mode == "enforce", strictness(&line.verdict))).cloned())
}

fn strictness(verdict: &str) -> u8 {
    match verdict {
        "deny" => 3,
        "continue" => 2,
        "ask" => 1,
        _ => 0,
    }
}

fn nothing(session: Option<&SessionId>) -> String {
    let place = session.map_or_else(|| "this repository".to_owned(), |session| format!("session {session}"));
    format!("Nothing was refused in {place}.\n\n`steadfast log` shows what sessions were told.")
}
