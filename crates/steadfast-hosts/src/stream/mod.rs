//! What a headless agent prints, line by line, as what it means for whoever runs it.
//!
//! An [`AgentStream`] is fed one line at a time and never fails: what it does not know is left out, and so is a line
//! that was torn.

mod claude;
mod codex;
mod failure;
mod sim;
#[cfg(test)]
mod tests;

use serde_json::Value;
use steadfast_model::{Host, Millis, SessionId, Spent};

use crate::price::Prices;
use claude::Claude;
use codex::Codex;
use sim::Sim;

/// What a running agent says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEvent {
    Started {
        session: SessionId,
    },
    /// One answer of the model.
    Turn,
    Tool {
        name: String,
        target: Option<String>,
    },
    /// What the assistant says.
    Said {
        text: String,
    },
    /// All that this session spent until now: never to be added up.
    Spent(Spent),
    /// It waits by itself.
    RateLimited {
        until: Option<Millis>,
    },
    Ended(AgentEnd),
}

/// How a session ended, as the host says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    Finished,
    TurnLimit,
    BudgetSpent,
    ContextFull,
    RateLimited {
        until: Option<Millis>,
    },
    /// No account, no login, no credit: nothing that trying again mends.
    NoAccess(String),
    Failed(String),
}

/// What one agent prints, read as it comes.
#[derive(Debug)]
pub struct AgentStream(Reader);

#[derive(Debug)]
enum Reader {
    Claude(Box<Claude>),
    Codex(Box<Codex>),
    Sim(Sim),
}

impl AgentStream {
    pub fn of(host: Host, prices: &Prices) -> Self {
        Self(match host {
            Host::Claude => Reader::Claude(Box::new(Claude::new(prices))),
            Host::Codex => Reader::Codex(Box::new(Codex::new(prices))),
            Host::Sim => Reader::Sim(Sim),
        })
    }

    /// What a line means; nothing where it is torn, or means nothing to us.
    pub fn line(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        let Ok(row) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
        match &mut self.0 {
            Reader::Claude(claude) => claude.row(&row),
            Reader::Codex(codex) => codex.row(&row),
            Reader::Sim(sim) => sim.row(&row),
        }
    }

    /// Whether a line only says that a tool still runs, as Claude Code's does every thirty seconds: a tool that hangs says so
    /// for ever.
    pub fn is_heartbeat(&self, line: &[u8]) -> bool {
        const MARK: &[u8] = b"\"heartbeat\":true";
        matches!(self.0, Reader::Claude(_))
            && line.windows(MARK.len()).any(|part| part == MARK)
            && serde_json::from_slice::<Value>(line)
                .is_ok_and(|row| row["type"] == "tool_progress" && row["heartbeat"] == true)
    }

    /// What a line of the session's record means that the host writes beside what it prints; only Codex's says more.
    pub fn record(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        match &mut self.0 {
            Reader::Codex(codex) => serde_json::from_slice(line).map_or_else(|_| Vec::new(), |row| codex.rollout(&row)),
            Reader::Claude(_) | Reader::Sim(_) => Vec::new(),
        }
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// No session has so many: a number beyond that is none, and sums stay sums.
const MOST_TOKENS: u64 = 1 << 48;

fn tokens(usage: &Value, name: &str) -> u64 {
    usage[name].as_u64().filter(|tokens| *tokens < MOST_TOKENS).unwrap_or_default()
}

/// Dollars, as millionths of one.
fn micro_usd(value: &Value) -> Option<u64> {
    let usd = value.as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0)?;
    Some((usd * 1e6).round() as u64)
}
