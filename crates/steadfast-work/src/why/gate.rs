//! The plan gate and its seal, for the explanation of a refusal.

use serde_json::{Value, json};
use steadfast_store::{Place, kept_aside, read_log};
use steadfast_text::count_of;

use super::gate_line;
use crate::Environment;
use crate::task_list::ClosedGate;

/// Limit of restored files that are listed, the newest last.
const SHOWN: usize = 5;

#[derive(Debug)]
pub(super) struct GateStory {
    closed: Vec<String>,
    /// Lines of the hook log about restored files.
    put_back: Vec<String>,
    kept: Vec<String>,
}

impl GateStory {
    pub(super) fn of(place: &Place, environment: &Environment) -> Self {
        let closed =
            ClosedGate::all(place, environment).iter().map(|standing| gate(place, standing, environment)).collect();
        let mut put_back: Vec<String> = read_log(place).into_iter().filter(|line| is_seals(line)).collect();
        put_back.drain(..put_back.len().saturating_sub(SHOWN));
        let kept = kept_aside(place).iter().map(|path| path.display().to_string()).collect();
        Self { closed, put_back, kept }
    }

    /// `None` if no gate is closed and no file was restored.
    pub(super) fn text(&self) -> Option<String> {
        let mut lines = self.closed.clone();
        lines.extend(self.put_back.iter().cloned());
        if let (true, Some(newest)) = (self.put_back.is_empty(), self.kept.last()) {
            lines.push(format!(
                "{} set aside; the newest is {newest}",
                count_of(self.kept.len(), "file is", "files are")
            ));
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
        (!lines.is_empty()).then(|| format!("The plan gate:\n{}", lines.join("\n")))
    }

    pub(super) fn to_json(&self) -> Value {
        let state = if self.closed.is_empty() { "open" } else { "locked" };
        json!({"state": state, "put_back": self.put_back, "kept": self.kept})
    }
}

fn gate(place: &Place, standing: &ClosedGate, environment: &Environment) -> String {
    let draft = standing.draft().map(|draft| format!("; plan {} waits for approval: {}", draft.short(), draft.title));
    format!("{}{}", gate_line(place, standing, environment), draft.unwrap_or_default())
}

/// Recognizes lines that `restore` writes.
fn is_seals(line: &str) -> bool {
    ["was put back as sealed", "was not there when the gate closed", "is not as sealed"]
        .iter()
        .any(|said| line.contains(said))
}
