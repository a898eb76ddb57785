//! Reads the output of `claude -p --output-format stream-json --verbose`.
//!
//! Only the last row has the total cost. Until then it is estimated from the usage of each answer. Every block of an
//! answer repeats its usage, so answers are recognised by id.

use std::collections::VecDeque;

use serde_json::Value;
use steadfast_model::{Millis, SessionId, Spent};

use super::failure::{failure, seconds_since_1970};
use super::{AgentEnd, AgentEvent, micro_usd, text, tokens};
use crate::price::{Prices, Usage};

/// Answers of subagents come in between, so remembering only the last answer is not enough.
const REMEMBERED: usize = 64;

#[derive(Debug)]
pub(super) struct Claude {
    prices: Prices,
    session: String,
    /// The total that the host reported, and the estimate since then.
    reported: Spent,
    estimated: Spent,
    answers: VecDeque<Answer>,
    limited_until: Option<Millis>,
}

#[derive(Debug)]
struct Answer {
    id: String,
    spent: Spent,
}

impl Claude {
    pub(super) fn new(prices: &Prices) -> Self {
        Self {
            prices: prices.clone(),
            session: String::new(),
            reported: Spent { micro_usd: Some(0), ..Spent::default() },
            estimated: Spent { micro_usd: Some(0), ..Spent::default() },
            answers: VecDeque::new(),
            limited_until: None,
        }
    }

    pub(super) fn row(&mut self, row: &Value) -> Vec<AgentEvent> {
        match (text(row, "type"), text(row, "subtype")) {
            ("system", "init") => self.started(text(row, "session_id")),
            ("system", "api_retry") if row["error_status"] == 429 => {
                vec![AgentEvent::RateLimited { until: self.limited_until }]
            }
            ("rate_limit_event", _) => self.limited(&row["rate_limit_info"]),
            ("assistant", _) => self.answered(row),
            ("result", subtype) => self.ended(row, subtype),
            _ => Vec::new(),
        }
    }

    /// Reads the `init` row. It comes again when a session continues after its result.
    fn started(&mut self, session: &str) -> Vec<AgentEvent> {
        if session.is_empty() || session == self.session {
            return Vec::new();
        }
        session.clone_into(&mut self.session);
        vec![AgentEvent::Started { session: SessionId::new(session) }]
    }

    fn limited(&mut self, info: &Value) -> Vec<AgentEvent> {
        if text(info, "status") != "rejected" {
            return Vec::new();
        }
        self.limited_until = info["resetsAt"].as_i64().and_then(seconds_since_1970);
        vec![AgentEvent::RateLimited { until: self.limited_until }]
    }

    fn answered(&mut self, row: &Value) -> Vec<AgentEvent> {
        let message = &row["message"];
        let main = row["parent_tool_use_id"].is_null();
        let model = text(message, "model");
        let mut events = Vec::new();
        // Text that the host itself puts in the model's place costs nothing and is not an answer.
        if model != "<synthetic>" {
            let spent = self.spent_on(model, &message["usage"]);
            if self.count(text(message, "id"), spent) && main {
                events.push(AgentEvent::Turn);
            }
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match text(block, "type") {
                "text" if main => events.push(AgentEvent::Said { text: text(block, "text").to_owned() }),
                "tool_use" => {
                    let target = ["command", "file_path", "path", "pattern", "url", "description", "id"];
                    let target = target.into_iter().find_map(|name| block["input"][name].as_str());
                    let (name, target) = (text(block, "name").to_owned(), target.map(str::to_owned));
                    events.push(AgentEvent::Tool { name, target });
                }
                _ => {}
            }
        }
        if model != "<synthetic>" {
            events.push(AgentEvent::Spent(self.reported.plus(self.estimated)));
        }
        events
    }

    fn spent_on(&self, model: &str, usage: &Value) -> Spent {
        let (read, written) = (tokens(usage, "cache_read_input_tokens"), tokens(usage, "cache_creation_input_tokens"));
        let usage = Usage {
            input: tokens(usage, "input_tokens"),
            cached: read,
            written,
            output: tokens(usage, "output_tokens"),
        };
        Spent {
            micro_usd: self.prices.of(model).map(|price| price.micro_usd(usage)),
            input_tokens: usage.input + written,
            cached_tokens: read,
            output_tokens: usage.output,
        }
    }

    /// Counts an answer; a known one replaces its earlier count. Returns true if it is new.
    fn count(&mut self, id: &str, spent: Spent) -> bool {
        let known = self.answers.iter_mut().find(|answer| answer.id == id);
        match known {
            Some(answer) => {
                self.estimated = self.estimated.minus(answer.spent).plus(spent);
                answer.spent = spent;
                false
            }
            None => {
                self.estimated = self.estimated.plus(spent);
                self.answers.truncate(REMEMBERED - 1);
                self.answers.push_front(Answer { id: id.to_owned(), spent });
                true
            }
        }
    }

    fn ended(&mut self, row: &Value, subtype: &str) -> Vec<AgentEvent> {
        if let Some(reported) = reported(row) {
            self.reported = reported;
            self.estimated = Spent { micro_usd: Some(0), ..Spent::default() };
            self.answers.clear();
        }
        let end = match subtype {
            "error_max_turns" => AgentEnd::TurnLimit,
            "error_max_budget_usd" => AgentEnd::BudgetSpent,
            "success" if row["is_error"] != true => AgentEnd::Finished,
            _ => self.failure(row),
        };
        vec![AgentEvent::Spent(self.reported.plus(self.estimated)), AgentEvent::Ended(end)]
    }

    fn failure(&self, row: &Value) -> AgentEnd {
        if matches!(text(row, "terminal_reason"), "prompt_too_long" | "blocking_limit" | "rapid_refill_breaker") {
            return AgentEnd::ContextFull;
        }
        let errors = row["errors"].as_array().and_then(|errors| errors.first()).and_then(Value::as_str);
        let message = row["result"].as_str().filter(|message| !message.is_empty()).or(errors).unwrap_or_default();
        failure(message, row["api_error_status"].as_u64(), self.limited_until)
    }
}

/// Reads the total of the session with its subagents. The row's own `usage` covers the main thread of the last prompt
/// only.
fn reported(row: &Value) -> Option<Spent> {
    let mut spent = Spent { micro_usd: Some(micro_usd(&row["total_cost_usd"])?), ..Spent::default() };
    for model in row["modelUsage"].as_object().into_iter().flat_map(serde_json::Map::values) {
        let (read, written) = (tokens(model, "cacheReadInputTokens"), tokens(model, "cacheCreationInputTokens"));
        spent.input_tokens += tokens(model, "inputTokens") + written;
        spent.cached_tokens += read;
        spent.output_tokens += tokens(model, "outputTokens");
    }
    Some(spent)
}
