//! Reads the output of `codex exec --json`, and the rollout that Codex writes meanwhile.
//!
//! The output names no model, and gives tokens only at the end of the turn, which is the end of the session. The
//! rollout has both with each answer.

use serde_json::Value;
use steadfast_model::{Millis, SessionId, Spent};

use super::failure::{failure, seconds_since_1970};
use super::{AgentEnd, AgentEvent, text, tokens};
use crate::price::{Prices, TokenPrice, Usage};

#[derive(Debug)]
pub(super) struct Codex {
    prices: Prices,
    price: Option<TokenPrice>,
    spent: Spent,
    /// Answers are counted from the rollout.
    counted: bool,
    limited_until: Option<Millis>,
}

impl Codex {
    pub(super) fn new(prices: &Prices) -> Self {
        Self { prices: prices.clone(), price: None, spent: Spent::default(), counted: false, limited_until: None }
    }

    pub(super) fn row(&mut self, row: &Value) -> Vec<AgentEvent> {
        match text(row, "type") {
            "thread.started" => vec![AgentEvent::Started { session: SessionId::new(text(row, "thread_id")) }],
            "item.started" => started(&row["item"]),
            "item.completed" => completed(&row["item"]),
            "turn.completed" => {
                let mut events = Vec::new();
                if !self.counted {
                    events.push(AgentEvent::Turn);
                }
                self.spend(&row["usage"]);
                events.extend([AgentEvent::Spent(self.spent), AgentEvent::Ended(AgentEnd::Finished)]);
                events
            }
            "turn.failed" => {
                let end = failure(text(&row["error"], "message"), None, self.limited_until);
                vec![AgentEvent::Ended(end)]
            }
            "error" if is_limit(text(row, "message")) => vec![AgentEvent::RateLimited { until: self.limited_until }],
            _ => Vec::new(),
        }
    }

    pub(super) fn rollout(&mut self, row: &Value) -> Vec<AgentEvent> {
        let payload = &row["payload"];
        match (text(row, "type"), text(payload, "type")) {
            ("turn_context", _) => {
                self.price = self.prices.of(text(payload, "model"));
                Vec::new()
            }
            // Comes with the answer; `token_count` comes after the tools that the answer called.
            ("token_usage_record", _) => self.answered(&payload["thread_token_usage"]),
            ("event_msg", "token_count") => {
                self.limited_until = reset(&payload["rate_limits"]);
                self.answered(&payload["info"]["total_token_usage"])
            }
            _ => Vec::new(),
        }
    }

    fn answered(&mut self, usage: &Value) -> Vec<AgentEvent> {
        let before = self.spent;
        if usage.is_object() {
            self.spend(usage);
        }
        // Most rows repeat known counts, or update the limits only.
        if before.tokens() == self.spent.tokens() {
            return Vec::new();
        }
        self.counted = true;
        vec![AgentEvent::Turn, AgentEvent::Spent(self.spent)]
    }

    /// Sets the usage of the whole session. Cached tokens are part of the input.
    fn spend(&mut self, usage: &Value) {
        let [input, cached, written, output] =
            ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"]
                .map(|name| tokens(usage, name));
        let counted = Usage { input: input.saturating_sub(cached + written), cached, written, output };
        self.spent = Spent {
            micro_usd: self.price.map(|price| price.micro_usd(counted)),
            input_tokens: input.saturating_sub(cached),
            cached_tokens: cached,
            output_tokens: output,
        };
    }
}

fn started(item: &Value) -> Vec<AgentEvent> {
    let tool = |name: &str, target: &str| AgentEvent::Tool {
        name: name.to_owned(),
        target: Some(target.to_owned()).filter(|target| !target.is_empty()),
    };
    match text(item, "type") {
        "command_execution" => vec![tool("Bash", without_shell(text(item, "command")))],
        "file_change" => {
            let changes = item["changes"].as_array().into_iter().flatten();
            changes.map(|change| tool("apply_patch", text(change, "path"))).collect()
        }
        "mcp_tool_call" => {
            let name = format!("mcp__{}__{}", text(item, "server"), text(item, "tool"));
            vec![tool(&name, text(&item["arguments"], "id"))]
        }
        "web_search" => vec![tool("web_search", text(item, "query"))],
        _ => Vec::new(),
    }
}

fn completed(item: &Value) -> Vec<AgentEvent> {
    match text(item, "type") {
        "agent_message" => vec![AgentEvent::Said { text: text(item, "text").to_owned() }],
        _ => Vec::new(),
    }
}

/// Codex reports a limit while it retries: `Reconnecting... 3/5 (unexpected status 429 …)`.
fn is_limit(message: &str) -> bool {
    message.starts_with("Reconnecting") && matches!(failure(message, None, None), AgentEnd::RateLimited { .. })
}

/// Returns the time at which the last exhausted window resets.
fn reset(limits: &Value) -> Option<Millis> {
    let windows = ["primary", "secondary"].map(|name| &limits[name]);
    let spent = windows.into_iter().filter(|window| window["used_percent"].as_f64().is_some_and(|used| used >= 100.0));
    spent.filter_map(|window| window["resets_at"].as_i64().and_then(seconds_since_1970)).max()
}

/// Removes the shell that Codex adds to a command: `/bin/bash -lc 'steadfast task done 1'`.
fn without_shell(command: &str) -> &str {
    let inner = command.split_once(" -lc ").or_else(|| command.split_once(" -c ")).map_or(command, |(_, inner)| inner);
    inner.trim_matches(['\'', '"'])
}
