//! `claude -p --output-format stream-json --verbose`.

use serde_json::Value;
use steadfast_model::SessionId;

use super::{AgentEnd, AgentEvent, Spent, micro_usd, text, tokens};
use crate::price::Prices;

#[derive(Debug)]
pub(super) struct Claude {
    _prices: Prices,
    spent: Spent,
}

impl Claude {
    pub(super) fn new(prices: &Prices) -> Self {
        Self { _prices: prices.clone(), spent: Spent::default() }
    }

    pub(super) fn row(&mut self, row: &Value) -> Vec<AgentEvent> {
        match (text(row, "type"), text(row, "subtype")) {
            ("system", "init") => vec![AgentEvent::Started { session: SessionId::new(text(row, "session_id")) }],
            ("result", subtype) => {
                self.spent.micro_usd = micro_usd(&row["total_cost_usd"]);
                self.spent.output_tokens = tokens(&row["usage"], "output_tokens");
                vec![AgentEvent::Spent(self.spent), AgentEvent::Ended(end(row, subtype))]
            }
            _ => Vec::new(),
        }
    }
}

fn end(row: &Value, subtype: &str) -> AgentEnd {
    match subtype {
        "error_max_turns" => AgentEnd::TurnLimit,
        "error_max_budget_usd" => AgentEnd::BudgetSpent,
        "success" if row["is_error"] != true => AgentEnd::Finished,
        _ => AgentEnd::Failed(text(row, "result").to_owned()),
    }
}
