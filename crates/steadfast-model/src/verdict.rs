use serde::{Deserialize, Serialize};

use crate::Direction;
use crate::sparse::sparse;

/// A policy's opinion of one event, independent of the host. Ordered: the strictest wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    #[default]
    Pass,
    Note(String),
    Context(String),
    /// The human decides.
    Ask {
        reason: String,
    },
    /// The human gets this question instead of the agent's.
    AskInstead(Question),
    /// The agent may not stop yet.
    Continue {
        reason: String,
    },
    /// Steadfast refuses the action.
    Deny {
        reason: String,
    },
}

impl Verdict {
    pub fn label(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Note(_) => "note",
            Self::Context(_) => "context",
            Self::Ask { .. } | Self::AskInstead(_) => "ask",
            Self::Continue { .. } => "continue",
            Self::Deny { .. } => "deny",
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Pass => "",
            Self::Note(text) | Self::Context(text) => text,
            Self::AskInstead(question) => &question.text,
            Self::Ask { reason } | Self::Continue { reason } | Self::Deny { reason } => reason,
        }
    }
}

/// A question to the human, in Steadfast's words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Question {
    pub heading: String,
    pub text: String,
    /// Each label with its meaning.
    pub options: Vec<(String, String)>,
    /// The hash of the draft that the question is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub draft: String,
    /// The text of the draft, for a host that can show it beside the options. Never stored.
    #[serde(skip)]
    pub preview: Option<String>,
}

sparse! {
    /// The combined answer of all policies: one ruling, with the texts for the agent and for the human.
    #[derive(Eq)]
    pub struct Answer {
        ruling: Ruling,
        context: Option<String>,
        note: Option<String>,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    #[default]
    Pass,
    Ask {
        reason: String,
        /// The fallback at a host that cannot ask.
        falls: Direction,
    },
    /// Only while the agent is about to ask the human. A host that cannot replace a question gets a refusal.
    AskInstead(Question),
    Continue {
        reason: String,
    },
    Deny {
        reason: String,
    },
}

impl Ruling {
    pub fn is_pass(&self) -> bool {
        *self == Self::Pass
    }
}

impl Answer {
    pub fn is_pass(&self) -> bool {
        self.ruling.is_pass() && self.context.is_none() && self.note.is_none()
    }

    /// Adds one policy's verdict. The strictest ruling wins; contexts and notes are joined.
    pub fn add(&mut self, verdict: Verdict, falls: Direction) {
        let ruling = match verdict {
            Verdict::Pass => return,
            Verdict::Note(text) => return join(&mut self.note, &text),
            Verdict::Context(text) => return join(&mut self.context, &text),
            Verdict::Ask { reason } => Ruling::Ask { reason, falls },
            Verdict::AskInstead(question) => Ruling::AskInstead(question),
            Verdict::Continue { reason } => Ruling::Continue { reason },
            Verdict::Deny { reason } => Ruling::Deny { reason },
        };
        // Of two equally strict rulings, the earlier policy's stays.
        if ruling.rank() > self.ruling.rank() {
            self.ruling = ruling;
        }
    }

    /// Returns the answer for the same event through another wiring, without the texts that the agent already received.
    pub fn repeated(&self) -> Self {
        Self { ruling: self.ruling.clone(), context: None, note: None }
    }
}

impl Ruling {
    fn rank(&self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Ask { .. } => 1,
            Self::AskInstead(_) => 2,
            Self::Continue { .. } => 3,
            Self::Deny { .. } => 4,
        }
    }
}

fn join(slot: &mut Option<String>, text: &str) {
    match slot {
        Some(present) => {
            present.push('\n');
            present.push_str(text);
        }
        None => *slot = Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_ordered_by_strictness() {
        let reason = || "r".to_owned();
        let strictest = [
            Verdict::Context(reason()),
            Verdict::Deny { reason: reason() },
            Verdict::Pass,
            Verdict::Continue { reason: reason() },
            Verdict::Note(reason()),
            Verdict::Ask { reason: reason() },
        ]
        .into_iter()
        .max();
        assert_eq!(strictest, Some(Verdict::Deny { reason: reason() }));
    }

    #[test]
    fn the_strictest_ruling_wins_and_contexts_are_joined() {
        let mut answer = Answer::default();
        answer.add(Verdict::Context("one".into()), Direction::Advice);
        answer.add(Verdict::Deny { reason: "first".into() }, Direction::Advice);
        answer.add(Verdict::Ask { reason: "weaker".into() }, Direction::Advice);
        answer.add(Verdict::Deny { reason: "second".into() }, Direction::Advice);
        answer.add(Verdict::Context("two".into()), Direction::Advice);
        assert_eq!(
            answer,
            Answer { ruling: Ruling::Deny { reason: "first".into() }, context: Some("one\ntwo".into()), note: None }
        );
    }
}
