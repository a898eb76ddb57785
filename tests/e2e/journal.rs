//! What Steadfast wrote down of a session.

use std::fs;
use std::path::Path;

use steadfast_hook::replay_journal;
use steadfast_model::{EventKind, Outcome, Record, Ruling};
use steadfast_store::read_lines;

/// How a stop was answered.
pub(crate) const REFUSED: bool = true;
pub(crate) const LET_GO: bool = false;

#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) records: Vec<Record>,
}

impl Journal {
    /// Empty where Steadfast never saw the session.
    pub(crate) fn of(state: &Path, session: &str) -> Self {
        Self::read(&state.join("sessions").join(session))
    }

    /// Of all sessions, the oldest first.
    pub(crate) fn all(state: &Path) -> Vec<Self> {
        let folders = fs::read_dir(state.join("sessions")).into_iter().flatten();
        let mut journals: Vec<_> = folders.map(|folder| Self::read(&folder.unwrap().path())).collect();
        journals.retain(|journal| !journal.records.is_empty());
        journals.sort_by_key(|journal| journal.records[0].event.at);
        journals
    }

    /// The journal is replayed with its facts: the rules must decide again as they did.
    fn read(folder: &Path) -> Self {
        let (_, lines) = read_lines(folder, 0).unwrap_or_default();
        let whole = lines.len();
        let replayed = replay_journal(lines).inspect(|replayed| {
            assert!(replayed.is_same(), "{} decides otherwise in a replay: {replayed:#?}", folder.display());
        });
        let records: Vec<Record> = replayed.map(|replayed| replayed.recorded).collect();
        assert_eq!(records.len(), whole, "a journal this short is not begun anew");
        Self { records }
    }

    pub(crate) fn session(&self) -> &str {
        self.records[0].event.session.as_str()
    }

    /// The events of the main thread that arrived, in order, as the hosts name them.
    pub(crate) fn events(&self) -> Vec<&'static str> {
        self.records.iter().filter(|record| record.event.agent.is_none()).map(name).collect()
    }

    /// The events of its subagents.
    pub(crate) fn subagent_events(&self) -> Vec<&'static str> {
        self.records.iter().filter(|record| record.event.agent.is_some()).map(name).collect()
    }

    /// How each stop of the main thread was answered, in order.
    pub(crate) fn stops(&self) -> Vec<bool> {
        self.answers_to_stops().map(|reason| if reason.is_some() { REFUSED } else { LET_GO }).collect()
    }

    /// The texts of all refusals to stop.
    pub(crate) fn refusals(&self) -> Vec<&str> {
        self.answers_to_stops().flatten().collect()
    }

    /// What the agent was told beside that, and at which event.
    pub(crate) fn contexts(&self) -> Vec<(&'static str, &str)> {
        self.records.iter().filter_map(|record| Some((name(record), record.answer.context.as_deref()?))).collect()
    }

    fn answers_to_stops(&self) -> impl Iterator<Item = Option<&str>> {
        let stops = self.records.iter().filter(|record| matches!(record.event.kind, EventKind::Stop(_)));
        stops.map(|record| match &record.answer.ruling {
            Ruling::Continue { reason } => Some(reason.as_str()),
            Ruling::Pass | Ruling::Ask { .. } | Ruling::AskInstead(_) | Ruling::Deny { .. } => None,
        })
    }
}

pub(crate) fn name(record: &Record) -> &'static str {
    match &record.event.kind {
        EventKind::PostTool(result) if result.outcome != Outcome::Ok => "PostToolUseFailure",
        kind => kind.label(),
    }
}
