//! The verdicts of the policies, up to date: from the ledger, and from journals that are not in the ledger yet.
//!
//! An agent in a sandbox cannot write the ledger, and a damaged ledger cannot be read. Journals answer in both cases.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use steadfast_hook::drain;
use steadfast_model::{Entry, SessionId};
use steadfast_store::ledger::{HistoryFilter, HistoryLine, Ledger, LedgerError};
use steadfast_store::{Line, SessionFiles, read_lines};

use crate::Repository;

/// A shortened session id has at least this many characters.
const SHORT: usize = 8;

#[derive(Debug)]
pub struct History {
    pub repository: Repository,
    /// `None` if the ledger cannot be read.
    pub ledger: Option<Ledger>,
    /// The error that reading the ledger gave.
    pub unread: Option<LedgerError>,
}

/// The reason why a session cannot be looked up.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("more than one session starts with `{beginning}`: `{one}`, `{other}`{}", if *are_more { ", …" } else { "" })]
    Ambiguous { beginning: String, one: SessionId, other: SessionId, are_more: bool },
    #[error("this repository has no session `{0}`")]
    NoSession(String),
}

impl History {
    pub fn at(repository: Repository) -> Self {
        let (ledger, unread) = match repository.ledger() {
            Ok(ledger) => (Some(ledger), None),
            Err(error) => (None, Some(error)),
        };
        Self { repository, ledger, unread }
    }

    /// The matching lines of all sessions, newest first.
    pub fn lines(&self, filter: &HistoryFilter) -> Result<Vec<HistoryLine>, LedgerError> {
        let mut sessions = SessionFiles::all(&self.repository.place);
        sessions.retain(|files| filter.session.as_ref().is_none_or(|session| session == files.session()));
        self.of(&sessions, filter)
    }

    /// Drains a journal into the ledger. If that fails, its lines are read from the journal.
    pub fn catch_up(&mut self, files: &SessionFiles) {
        if let Some(ledger) = &mut self.ledger {
            let _ = drain(files, ledger);
        }
    }

    /// The matching lines of these sessions.
    pub fn of(&self, sessions: &[SessionFiles], filter: &HistoryFilter) -> Result<Vec<HistoryLine>, LedgerError> {
        let mut lines = Vec::new();
        // Journals first: a line that another process drains meanwhile is then found twice, and not missed.
        for files in sessions {
            lines.extend(self.undrained(files)?.into_iter().filter(|line| filter.takes(line)));
        }
        if let Some(ledger) = &self.ledger {
            lines.extend(ledger.history(filter)?);
        }
        lines.sort_by(|a, b| newest_first(a).cmp(&newest_first(b)));
        lines.dedup_by(|a, b| newest_first(a) == newest_first(b));
        lines.truncate(usize::try_from(filter.limit).unwrap_or(usize::MAX));
        Ok(lines)
    }

    /// The number of the last line of a session that [`Self::lines`] knows.
    pub fn end(&self, files: &SessionFiles) -> Result<u64, LedgerError> {
        let (drained, lines) = self.behind_ledger(files)?;
        Ok(lines.last().map_or(drained, |line| line.sequence))
    }

    /// The session with this id, or the only one whose id starts with it.
    pub fn session(&self, beginning: &str) -> Result<SessionId, HistoryError> {
        let mut known: BTreeSet<SessionId> = match &self.ledger {
            Some(ledger) => ledger.sessions()?.into_iter().map(|row| row.id).collect(),
            None => BTreeSet::new(),
        };
        known.extend(SessionFiles::all(&self.repository.place).iter().map(|files| files.session().clone()));
        let exact = SessionId::new(beginning);
        if known.contains(&exact) {
            return Ok(exact);
        }
        let mut fitting = known.into_iter().filter(|id| !beginning.is_empty() && id.as_str().starts_with(beginning));
        match (fitting.next(), fitting.next()) {
            (Some(session), None) => Ok(session),
            (Some(one), Some(other)) => Err(HistoryError::Ambiguous {
                beginning: beginning.to_owned(),
                one,
                other,
                are_more: fitting.next().is_some(),
            }),
            (None, _) => Err(HistoryError::NoSession(beginning.to_owned())),
        }
    }

    fn undrained(&self, files: &SessionFiles) -> Result<Vec<HistoryLine>, LedgerError> {
        let (_, lines) = self.behind_ledger(files)?;
        Ok(lines
            .iter()
            .flat_map(|line| match &line.entry {
                Entry::Record(record) => HistoryLine::of(files.session(), line.sequence, record),
                Entry::Snapshot(_) => Vec::new(),
            })
            .collect())
    }

    /// The last drained line number of a journal, and the lines after it.
    fn behind_ledger(&self, files: &SessionFiles) -> Result<(u64, Vec<Line>), LedgerError> {
        let cursor = match &self.ledger {
            Some(ledger) => ledger.drained(files.session())?,
            None => None,
        };
        let (offset, sequence) = cursor.map_or((0, 0), |cursor| (cursor.offset, cursor.sequence));
        // `drain` reports a journal that cannot be read.
        let (first, mut lines) = read_lines(files.dir(), offset).unwrap_or_default();
        if cursor.is_some_and(|cursor| cursor.file_start != first) {
            (_, lines) = read_lines(files.dir(), 0).unwrap_or_default();
        }
        lines.retain(|line| line.sequence > sequence);
        Ok((sequence, lines))
    }
}

fn newest_first(line: &HistoryLine) -> impl Ord + use<'_> {
    (Reverse(line.at), Reverse(line.sequence), &line.session, &line.policy)
}

/// The number of leading characters that tell these session ids apart.
pub fn short_length<'a>(sessions: impl IntoIterator<Item = &'a SessionId>) -> usize {
    let names: BTreeSet<&str> = sessions.into_iter().map(SessionId::as_str).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(SHORT);
    (SHORT..longest)
        .find(|length| names.iter().map(|name| cut(name, *length)).collect::<BTreeSet<_>>().len() == names.len())
        .unwrap_or(longest.max(SHORT))
}

/// The first characters of a session id.
pub fn cut(name: &str, length: usize) -> &str {
    name.char_indices().nth(length).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_long_enough_to_tell_sessions_apart() {
        let length = |names: &[&str]| short_length(&names.iter().map(|name| SessionId::new(*name)).collect::<Vec<_>>());
        assert_eq!(length(&["0198f3a2-aaaa", "7f000000-bbbb"]), 8);
        assert_eq!(length(&["0198f3a2-aaaa", "0198f3a2-aabb"]), 12);
        assert_eq!(length(&["s-1", "s-10"]), 8);
        assert_eq!((cut("äöüä", 2), cut("ab", 8)), ("äö", "ab"));
    }
}
