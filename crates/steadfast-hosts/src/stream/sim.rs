//! Reads the output of `steadfast sim`: `{"moment": …}`.

use serde_json::Value;
use steadfast_model::{SessionId, Spent};

use super::failure::failure;
use super::{AgentEnd, AgentEvent, micro_usd, text};

#[derive(Debug, Default)]
pub(super) struct Sim;

impl Sim {
    pub(super) fn row(&self, row: &Value) -> Vec<AgentEvent> {
        let main = matches!(text(row, "who"), "" | "main");
        match text(row, "moment") {
            "session_started" => match row["session"].as_str() {
                Some(session) => vec![AgentEvent::Started { session: SessionId::new(session) }],
                None => Vec::new(),
            },
            "turn" => vec![AgentEvent::Turn],
            "said" if main => vec![AgentEvent::Said { text: text(row, "text").to_owned() }],
            "tool_starting" => {
                let target = row["target"].as_str().filter(|target| !target.is_empty()).map(str::to_owned);
                vec![AgentEvent::Tool { name: text(row, "tool").to_owned(), target }]
            }
            "spent" => vec![AgentEvent::Spent(Spent { micro_usd: micro_usd(&row["usd"]), ..Spent::default() })],
            "ended" => vec![AgentEvent::Ended(end(row))],
            _ => Vec::new(),
        }
    }
}

fn end(row: &Value) -> AgentEnd {
    match text(row, "ending") {
        "stopped" | "overridden" => AgentEnd::Finished,
        "turn_limit" => AgentEnd::TurnLimit,
        "budget_spent" => AgentEnd::BudgetSpent,
        "model_failed" => {
            let status = row["status"].as_u64();
            failure(&format!("the model failed with status {}", status.unwrap_or_default()), status, None)
        }
        other => {
            let reason = row["reason"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default();
            AgentEnd::Failed(format!("{other}{reason}"))
        }
    }
}
