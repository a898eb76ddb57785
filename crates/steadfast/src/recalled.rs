//! Memories for people and agents: one line each, with the reason why it is shown.

use serde_json::{Value, json};
use steadfast_model::Millis;
use steadfast_store::ledger::{Recalled, RecalledItem, StepRow};
use steadfast_text::{ago, printable, truncate};

/// Maximum length of a memory, in characters.
const LONGEST: usize = 200;

pub(crate) fn line(recalled: &Recalled, now: Millis) -> String {
    let when = ago(now.since(recalled.memory.at()));
    let reason = recalled.reason.as_str();
    match &recalled.memory {
        RecalledItem::Learning(learning) => {
            let (kind, status) = (learning.kind.as_str(), learning.status.as_str());
            let why = if learning.why.is_empty() { String::new() } else { format!(": {}", learning.why) };
            format!("learned: {} ({kind}, {status}; {reason})", short(&format!("{}{why}", learning.text)))
        }
        RecalledItem::Step(step) => {
            let answered = match step.correction_given {
                Some(_) => format!(", answered with {}", step.level),
                None => String::new(),
            };
            format!("done: {}, {when}{answered} ({reason})", short(&action(step)))
        }
        RecalledItem::Decision(decision) => {
            format!("decided: {}, {when} ({reason})", short(&format!("{}: {}", decision.what, decision.why)))
        }
    }
}

pub(crate) fn to_json(recalled: &Recalled) -> Value {
    let (reason, at) = (recalled.reason.as_str(), recalled.memory.at());
    match &recalled.memory {
        RecalledItem::Learning(learning) => json!({
            "what": "learning", "reason": reason, "text": learning.text, "why": learning.why, "files": learning.files,
            "at": at, "session": learning.session, "id": learning.id, "kind": learning.kind.as_str(),
            "status": learning.status.as_str(), "confidence": learning.confidence, "score": null,
        }),
        RecalledItem::Step(step) => json!({
            "what": "step", "reason": reason, "text": action(step), "why": step.reasoning, "files": step.files,
            "at": at, "session": step.session, "id": step.id, "kind": step.action_type,
            "status": null, "confidence": null, "score": step.drift_score,
        }),
        RecalledItem::Decision(decision) => json!({
            "what": "decision", "reason": reason, "text": decision.what, "why": decision.why, "files": [],
            "at": at, "session": null, "id": null, "kind": null, "status": null, "confidence": null, "score": null,
        }),
    }
}

/// The action of a step.
fn action(step: &StepRow) -> String {
    match (&step.command, &step.files[..]) {
        (Some(command), _) => format!("{} `{}`", step.action_type, printable(command)),
        (None, files) => format!("{} {}", step.action_type, files.join(", ")),
    }
}

fn short(text: &str) -> String {
    truncate(&printable(text), LONGEST).into_owned()
}
