//! Reads the output of a headless agent, line by line, as events for its caller.
//!
//! An [`AgentStream`] takes one line at a time and never fails: unknown and truncated lines are skipped.

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
    /// Text from the assistant.
    Said {
        text: String,
    },
    /// The total of this session so far; never add these up.
    Spent(Spent),
    /// The host waits and retries by itself.
    RateLimited {
        until: Option<Millis>,
    },
    Ended(AgentEnd),
}

/// The end of a session, as the host reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    Finished,
    TurnLimit,
    BudgetSpent,
    ContextFull,
    RateLimited {
        until: Option<Millis>,
    },
    /// No account, no login or no credit: retrying does not help.
    NoAccess(String),
    Failed(String),
}

/// The parser of one agent's output.
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

    /// Reads a line; empty if it is truncated or unknown.
    pub fn line(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        let Ok(row) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
        match &mut self.0 {
            Reader::Claude(claude) => claude.row(&row),
            Reader::Codex(codex) => codex.row(&row),
            Reader::Sim(sim) => sim.row(&row),
        }
    }

    /// Returns true for a line that only reports a running tool. Claude Code writes one every 30 s, for ever if the
    /// tool hangs.
    pub fn is_heartbeat(&self, line: &[u8]) -> bool {
        const MARK: &[u8] = b"\"heartbeat\":true";
        matches!(self.0, Reader::Claude(_))
            && line.windows(MARK.len()).any(|part| part == MARK)
            && serde_json::from_slice::<Value>(line)
                .is_ok_and(|row| row["type"] == "tool_progress" && row["heartbeat"] == true)
    }

    /// Reads a line of the session's record, which the host writes in addition to its output. Only Codex's record adds
    /// anything.
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

/// The limit of plausible token counts. Larger numbers count as 0, so that sums cannot overflow.
const MOST_TOKENS: u64 = 1 << 48;

fn tokens(usage: &Value, name: &str) -> u64 {
    usage[name].as_u64().filter(|tokens| *tokens < MOST_TOKENS).unwrap_or_default()
}

/// Converts dollars to millionths of a dollar.
fn micro_usd(value: &Value) -> Option<u64> {
    let usd = value.as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0)?;
    Some((usd * 1e6).round() as u64)
}
