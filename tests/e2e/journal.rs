//! What Steadfast wrote down of a session.

use std::fs;
use std::path::Path;

use steadfast_model::{Entry, EventKind, Outcome, Record, Ruling};

/// How a stop was answered.
pub(crate) const REFUSED: bool = true;
pub(crate) const LET_GO: bool = false;

/// Length of a line's head: length, sequence, checksum.
const HEAD: usize = 35;

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

    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("journal")).unwrap_or_default();
        // A line that is being written just now has no end yet.
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let record = |line: &str| match serde_json::from_str(&line[HEAD..]).unwrap() {
            Entry::Record(record) => *record,
            Entry::Snapshot(_) => panic!("a journal this short is not begun anew"),
        };
        Self { records: lines.map(record).collect() }
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
