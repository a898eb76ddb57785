//! `steadfast why`: explains the last refusal of a session, the events since, and the next step.

mod explanation;
mod gate;
mod story;

use serde_json::Value;
use steadfast_model::{GateScope, SessionId};
use steadfast_store::Place;
use steadfast_store::ledger::{HistoryFilter, HistoryLine, LedgerError};

use crate::Environment;
use crate::history::History;
use crate::setup::missing_hooks;
use crate::task_list::ClosedGate;
use explanation::Explanation;
use gate::GateStory;

/// The explanation as text and as JSON.
#[derive(Debug)]
pub struct Explained {
    pub text: String,
    /// `null` if nothing was refused.
    pub json: Value,
}

/// Explains the last refusal of a session, or of all sessions.
pub fn explain(history: &History, session: Option<SessionId>) -> Result<Explained, LedgerError> {
    let environment = &history.repository.environment;
    let now = environment.now();
    let gate = GateStory::of(&history.repository.place, environment);
    let (text, json) = match last(history, session.clone())? {
        Some(line) => {
            let explanation = Explanation::of(history, line);
            let mut json = explanation.to_json(now);
            json["gate"] = gate.to_json();
            (explanation.story(environment), json)
        }
        None => (nothing(session.as_ref()), Value::Null),
    };
    let text = gate.text().map_or_else(|| text.clone(), |gate| format!("{text}\n\n{gate}"));
    Ok(Explained { text, json })
}

/// The last refusal, or the note on a stop that was allowed instead.
fn last(history: &History, session: Option<SessionId>) -> Result<Option<HistoryLine>, LedgerError> {
    /// More than the number of policies.
    const ONE_EVENT: u32 = 16;
    let verdicts = ["deny", "continue", "ask", "note"].map(str::to_owned).to_vec();
    let filter = HistoryFilter { session, verdicts, limit: ONE_EVENT, ..HistoryFilter::default() };
    let lines = history.lines(&filter)?;
    let Some(newest) = lines.first() else { return Ok(None) };
    let of_event = lines.iter().filter(|line| line.session == newest.session && line.sequence == newest.sequence);
    // Of one event, prefer a verdict that took effect to one that would have; then the strictest.
    Ok(of_event.max_by_key(|line| (line.mode == "enforce", strictness(&line.verdict))).cloned())
}

fn strictness(verdict: &str) -> u8 {
    match verdict {
        "deny" => 3,
        "continue" => 2,
        "ask" => 1,
        _ => 0,
    }
}

fn nothing(session: Option<&SessionId>) -> String {
    let place = session.map_or_else(|| "this repository".to_owned(), |session| format!("session {session}"));
    format!("Nothing was refused in {place}.\n\n`steadfast log` shows the messages to sessions.")
}

/// A closed gate in one line.
pub fn gate_line(place: &Place, standing: &ClosedGate, environment: &Environment) -> String {
    let ClosedGate { gate, unmarked, .. } = standing;
    let until =
        gate.expires_at.map(|at| format!(" until {} at the latest", environment.moment(at))).unwrap_or_default();
    let draft = gate.draft.iter().map(|draft| &draft.path).filter(|path| !gate.protected.contains(path));
    let protected: Vec<&str> = gate.protected.iter().chain(draft).map(String::as_str).collect();
    let protected = match protected.len() {
        0 => String::new(),
        // Without hooks nothing refuses a write.
        _ if missing_hooks(place, environment.homes.as_ref()).is_some() => {
            format!(": no hook protects {} now", protected.join(", "))
        }
        _ => format!(": {} cannot be written", protected.join(", ")),
    };
    let unmarked = if *unmarked { " (its marker was removed, but it stays closed)" } else { "" };
    let over = if standing.is_left(place) { ", which has ended," } else { "" };
    format!("the plan gate {}{over} is closed{until}{protected}{unmarked}", whose_gate(&gate.scope))
}

/// The scope of a gate, in words.
pub fn whose_gate(scope: &GateScope) -> String {
    match scope {
        GateScope::Session(session) => format!("of session {session}"),
        GateScope::Worktree(_) => "of this checkout".to_owned(),
    }
}
