//! `codex exec --json`.

use serde_json::Value;
use steadfast_model::SessionId;

use super::{AgentEnd, AgentEvent, Spent, text, tokens};
use crate::price::Prices;

#[derive(Debug)]
pub(super) struct Codex {
    _prices: Prices,
}

impl Codex {
    pub(super) fn new(prices: &Prices) -> Self {
        Self { _prices: prices.clone() }
    }

    pub(super) fn row(&mut self, row: &Value) -> Vec<AgentEvent> {
        match text(row, "type") {
            "thread.started" => vec![AgentEvent::Started { session: SessionId::new(text(row, "thread_id")) }],
            "turn.completed" => {
                let usage = &row["usage"];
                let spent = Spent {
                    micro_usd: None,
                    input_tokens: tokens(usage, "input_tokens"),
                    cached_tokens: tokens(usage, "cached_input_tokens"),
                    output_tokens: tokens(usage, "output_tokens"),
                };
                vec![AgentEvent::Spent(spent), AgentEvent::Ended(AgentEnd::Finished)]
            }
            "turn.failed" => vec![AgentEvent::Ended(AgentEnd::Failed(text(&row["error"], "message").to_owned()))],
            _ => Vec::new(),
        }
    }
}
