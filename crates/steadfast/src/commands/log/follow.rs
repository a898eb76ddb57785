use std::collections::HashMap;
use std::time::Duration;

use steadfast_model::SessionId;
use steadfast_store::ledger::HistoryFilter;
use steadfast_store::{SessionFiles, read_log};

use super::line::{Columns, Format, Line};
use super::{newest, problems};
use crate::error::CommandError;
use crate::output::{Reader, put, put_laid_out, wait};
use steadfast_work::history::History;

const POLL: Duration = Duration::from_millis(300);

/// Prints the present lines, then new ones, until the reader closes the pipe.
pub(super) fn follow(
    history: History,
    filter: HistoryFilter,
    with_problems: bool,
    format: Format,
) -> Result<(), CommandError> {
    let mut follower = Follower { history, filter, shown: HashMap::new(), problem: None };
    let mut lines = follower.begin()?;
    if with_problems {
        follower.problem = read_log(&follower.history.repository.place).pop();
        lines.extend(problems(&follower.history, follower.filter.since));
    }
    let lines = newest(lines, follower.filter.limit);
    let mut columns = Columns::of(&lines, format);
    let show = |text: &str| if format == Format::Json { put(text) } else { put_laid_out(text) };
    let mut reader = show(&columns.show(&lines))?;
    while reader == Reader::Here {
        reader = wait(POLL);
        if reader == Reader::Gone {
            break;
        }
        let mut lines = follower.news()?;
        if with_problems {
            lines.extend(follower.new_problems());
        }
        if !lines.is_empty() {
            let lines = newest(lines, u32::MAX);
            reader = show(&columns.show(&lines))?;
        }
    }
    Ok(())
}

struct Follower {
    history: History,
    filter: HistoryFilter,
    shown: HashMap<SessionId, Shown>,
    /// The last line of `hook.log` that was seen.
    problem: Option<String>,
}

/// The part of a journal that was shown.
#[derive(Clone, Copy, Default)]
struct Shown {
    sequence: u64,
    /// Length of the journal then. Journals of the same length are not read again.
    bytes: u64,
}

impl Follower {
    /// Returns the lines up to now. Reads the end of each journal first, so that later lines count as new.
    fn begin(&mut self) -> Result<Vec<Line>, CommandError> {
        for files in self.sessions() {
            let sequence = self.history.end(&files)?;
            self.shown.insert(files.session().clone(), Shown { sequence, bytes: 0 });
        }
        let mut lines = self.history.lines(&self.filter)?;
        lines.retain(|line| self.shown.get(&line.session).is_none_or(|shown| line.sequence <= shown.sequence));
        Ok(lines.into_iter().map(Line::Verdict).collect())
    }

    fn news(&mut self) -> Result<Vec<Line>, CommandError> {
        let mut lines = Vec::new();
        for files in self.sessions() {
            let shown = self.shown.get(files.session()).copied().unwrap_or_default();
            let bytes = files.journal_bytes();
            if bytes == shown.bytes {
                continue;
            }
            let session = Some(files.session().clone());
            let filter = HistoryFilter { session, after: Some(shown.sequence), limit: u32::MAX, ..self.filter.clone() };
            self.history.catch_up(&files);
            let sequence = self.history.end(&files)?;
            let mut new = self.history.of(std::slice::from_ref(&files), &filter)?;
            new.retain(|line| line.sequence <= sequence);
            lines.extend(new.into_iter().map(Line::Verdict));
            self.shown.insert(files.session().clone(), Shown { sequence, bytes });
        }
        Ok(lines)
    }

    fn sessions(&self) -> Vec<SessionFiles> {
        let mut sessions = SessionFiles::all(&self.history.repository.place);
        sessions.retain(|files| self.filter.session.as_ref().is_none_or(|session| session == files.session()));
        sessions
    }

    fn new_problems(&mut self) -> Vec<Line> {
        let lines = read_log(&self.history.repository.place);
        let seen = self.problem.as_ref().and_then(|last| lines.iter().rposition(|line| line == last));
        let new = &lines[seen.map_or(0, |seen| seen + 1)..];
        self.problem = lines.last().cloned().or(self.problem.take());
        new.iter().filter_map(|line| Line::problem(line)).collect()
    }
}
