use std::collections::VecDeque;

use serde_json::{Value, json};
use steadfast_hosts::transcript::target;
use steadfast_model::{EventKind, Level, Score, ToolUseId};

use super::ReplayedEvent;

/// An action with all remarks on it, from before and after the call.
#[derive(Debug)]
pub struct ReplayedAction {
    id: Option<ToolUseId>,
    n: u64,
    tool: String,
    target: String,
    pub score: Score,
    level: Level,
    reasons: Vec<String>,
    verdict: &'static str,
    /// The call has returned, or will not return.
    closed: bool,
    /// It was a step. A read-only action has no score of its own.
    pub is_step: bool,
}

/// Actions in their order. Parallel calls return in any order, so the first open one holds back those behind it.
#[derive(Debug, Default)]
pub struct ReplayedActions {
    open: VecDeque<ReplayedAction>,
    pub count: u64,
}

impl ReplayedActions {
    pub fn add(&mut self, judged: &ReplayedEvent) {
        let Some(call) = judged.call() else { return };
        if judged.action().is_some() {
            self.count += 1;
            self.open.push_back(ReplayedAction {
                id: call.id.clone(),
                n: self.count,
                tool: call.tool.clone(),
                target: target(&call.action, "", &judged.event.cwd),
                score: Score::BEST,
                level: Level::None,
                reasons: Vec::new(),
                verdict: "pass",
                closed: false,
                is_step: false,
            });
        }
        let Some(action) = self.open.iter_mut().rev().find(|action| action.id == call.id) else { return };
        if let Some(step) = judged.step() {
            (action.score, action.level, action.is_step) = (step.score, step.level, true);
            action.reasons.extend(step.reasons.iter().cloned());
        }
        action.reasons.extend(judged.opinions().iter().map(|opinion| opinion.verdict.text().to_owned()));
        action.verdict = strictest(action.verdict, judged.verdict());
        action.closed |= matches!(judged.event.kind, EventKind::PostTool(_));
    }

    /// The next finished action.
    pub fn pop(&mut self) -> Option<ReplayedAction> {
        self.open.pop_front_if(|action| action.closed)
    }

    /// The actions that never returned.
    pub fn rest(self) -> impl Iterator<Item = ReplayedAction> {
        self.open.into_iter()
    }
}

impl ReplayedAction {
    pub fn to_json(&self) -> Value {
        json!({
            "n": self.n,
            "tool": self.tool,
            "target": self.target,
            "score": self.score,
            "level": self.level,
            "type": self.score.severity(),
            "reasons": self.reasons,
            "verdict": self.verdict,
        })
    }
}

/// The stricter of two verdict labels.
fn strictest(one: &'static str, other: &'static str) -> &'static str {
    const ORDER: [&str; 6] = ["pass", "note", "context", "ask", "continue", "deny"];
    let rank = |label: &str| ORDER.iter().position(|known| *known == label);
    if rank(other) > rank(one) { other } else { one }
}
