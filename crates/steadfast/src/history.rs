//! What the policies said, as of now: from the ledger, and from the journals where they are not in it yet.
//!
//! An agent in a sandbox cannot write the ledger, and a damaged one cannot be read: both are moments in which somebody
//! wants to know why.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use steadfast_hook::drain;
use steadfast_model::{Entry, SessionId};
use steadfast_store::ledger::{HistoryFilter, HistoryLine, Ledger};
use steadfast_store::{Line, SessionFiles, read_lines};
use steadfast_work::Repository;

use crate::error::CommandError;
use crate::here;
use crate::output::note;

/// A session's name is not cut shorter than this.
const SHORT: usize = 8;

#[derive(Debug)]
pub(crate) struct History {
    pub(crate) repository: Repository,
    /// None: it cannot be read, and that was said.
    pub(crate) ledger: Option<Ledger>,
}

impl History {
    pub(crate) fn here() -> Result<Self, CommandError> {
        Ok(Self::at(here::repository()?))
    }

    pub(crate) fn at(repository: Repository) -> Self {
        let ledger = match repository.ledger() {
            Ok(ledger) => Some(ledger),
            Err(error) => {
                let error = error.to_string();
                let said = error.strip_prefix("error: ").unwrap_or(&error);
                note!("warning: only the journals are shown: {said}");
                None
            }
        };
        Self { repository, ledger }
    }

    /// Newest first.
    pub(crate) fn lines(&self, filter: &HistoryFilter) -> Result<Vec<HistoryLine>, CommandError> {
        let mut sessions = SessionFiles::all(&self.repository.place);
        sessions.retain(|files| filter.session.as_ref().is_none_or(|session| session == files.session()));
        self.of(&sessions, filter)
    }

    /// Brings a journal into the ledger. What cannot be is read from the journal.
    pub(crate) fn catch_up(&mut self, files: &SessionFiles) {
        if let Some(ledger) = &mut self.ledger {
            let _ = drain(files, ledger);
        }
    }

    /// What was said, with the journals of these sessions.
    pub(crate) fn of(
        &self,
        sessions: &[SessionFiles],
        filter: &HistoryFilter,
    ) -> Result<Vec<HistoryLine>, CommandError> {
        let mut lines = Vec::new();
        // Journals first: what another process drains meanwhile is then there twice, not missing.
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

    /// The last line of a session that [`Self::lines`] knows.
    pub(crate) fn end(&self, files: &SessionFiles) -> Result<u64, CommandError> {
        let (drained, lines) = self.behind_ledger(files)?;
        Ok(lines.last().map_or(drained, |line| line.sequence))
    }

    /// The session that is meant by its id or the beginning of it.
    pub(crate) fn session(&self, beginning: &str) -> Result<SessionId, CommandError> {
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
            (Some(one), Some(other)) => Err(CommandError::failure(format!(
                "more than one session begins with `{beginning}`: `{one}`, `{other}`{}",
                if fitting.next().is_some() { ", …" } else { "" }
            ))
            .hint("a few more letters tell them apart")),
            (None, _) => Err(CommandError::failure(format!("there is no session `{beginning}` in this repository"))
                .hint("`steadfast status` lists the sessions")),
        }
    }

    fn undrained(&self, files: &SessionFiles) -> Result<Vec<HistoryLine>, CommandError> {
        let (_, lines) = self.behind_ledger(files)?;
        Ok(lines
            .iter()
            .flat_map(|line| match &line.entry {
                Entry::Record(record) => HistoryLine::of(files.session(), line.sequence, record),
                Entry::Snapshot(_) => Vec::new(),
            })
            .collect())
    }

    /// How far a journal is drained, and its lines behind that.
    fn behind_ledger(&self, files: &SessionFiles) -> Result<(u64, Vec<Line>), CommandError> {
        let cursor = match &self.ledger {
            Some(ledger) => ledger.drained(files.session())?,
            None => None,
        };
        let (offset, sequence) = cursor.map_or((0, 0), |cursor| (cursor.offset, cursor.sequence));
        // A journal that cannot be read is the drain's to report.
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

/// How many characters of these sessions' names tell them apart.
pub(crate) fn short_length<'a>(sessions: impl IntoIterator<Item = &'a SessionId>) -> usize {
    let names: BTreeSet<&str> = sessions.into_iter().map(SessionId::as_str).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(SHORT);
    (SHORT..longest)
        .find(|length| names.iter().map(|name| cut(name, *length)).collect::<BTreeSet<_>>().len() == names.len())
        .unwrap_or(longest.max(SHORT))
}

/// The first characters of a name.
pub(crate) fn cut(name: &str, length: usize) -> &str {
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
