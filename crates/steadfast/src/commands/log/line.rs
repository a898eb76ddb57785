use serde_json::{Value, json};
use steadfast_model::{Millis, SessionId};
use steadfast_store::ledger::HistoryLine;
use steadfast_text::{HANG, parse_time, printable, wrap};
use steadfast_work::history::{cut, short_length};

use crate::terminal::{self, Column, Table};

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    Verdict(HistoryLine),
    /// A failure of a hook.
    Problem {
        at: Millis,
        text: String,
    },
}

impl Line {
    /// Parses a line of `hook.log`; `None` if it is incomplete.
    pub(super) fn problem(line: &str) -> Option<Self> {
        let (at, text) = line.split_once(' ')?;
        Some(Self::Problem { at: Millis(parse_time(at)?), text: text.to_owned() })
    }

    pub(super) fn at(&self) -> Millis {
        match self {
            Self::Verdict(line) => line.at,
            Self::Problem { at, .. } => *at,
        }
    }

    /// The sort key: time, then the order within a session, for lines of the same millisecond.
    pub(super) fn order(&self) -> impl Ord + use<'_> {
        let (session, sequence) = match self {
            Self::Verdict(line) => (line.session.as_str(), line.sequence),
            Self::Problem { .. } => ("", 0),
        };
        (self.at(), sequence, session)
    }

    fn text(&self) -> &str {
        match self {
            Self::Verdict(line) => &line.reason,
            Self::Problem { text, .. } => text,
        }
    }

    pub(super) fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Verdict(line) => Some(&line.session),
            Self::Problem { .. } => None,
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Verdict(line) => json!(line),
            Self::Problem { at, text } => json!({
                "at": at,
                "session": null,
                "sequence": null,
                "agent": null,
                "event": null,
                "policy": null,
                "mode": null,
                "verdict": "problem",
                "reason": text,
                "facts": null,
            }),
        }
    }
}

/// The columns of the log. A pipe gets all of them with the whole text; a terminal gets one line per event.
#[derive(Debug)]
pub(super) struct Columns {
    table: Table,
    format: Format,
    session: usize,
    /// The day of the last line.
    day: String,
    is_begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// One line per event.
    Short,
    /// With the whole text below each line.
    Full,
    Json,
}

impl Columns {
    pub(super) fn of(lines: &[Line], format: Format) -> Self {
        let table = Table::new(&[
            Column::whole("TIME", 9),
            Column::whole("SESSION", 4),
            Column::whole("AGENT", 2),
            Column::whole("EVENT", 3),
            Column::whole("POLICY", 5),
            Column::whole("MODE", 1),
            Column::whole("VERDICT", 8),
            Column::text("TEXT", 7, 30),
        ]);
        let session = short_length(lines.iter().filter_map(Line::session));
        Self { table, format, session, day: String::new(), is_begun: false }
    }

    /// The next lines as text.
    pub(super) fn show(&mut self, lines: &[Line]) -> String {
        if self.format == Format::Json {
            return lines.iter().map(|line| line.to_json().to_string() + "\n").collect();
        }
        let width = terminal::width();
        // The widths of the columns are those of all lines, so the rows come before the first of them is printed.
        for line in lines {
            let row = self.row(line, width.is_some());
            self.table.row(row);
        }
        let mut rows = self.table.lines(width).into_iter();
        let header = width.and_then(|_| rows.next()).filter(|_| !std::mem::replace(&mut self.is_begun, true));
        let mut text: String = header.into_iter().map(|line| line + "\n").collect();
        for (line, row) in lines.iter().zip(rows) {
            let day = terminal::day(line.at());
            if width.is_some() && day != self.day {
                text += &format!("{}\n", terminal::faint(&terminal::day_line(line.at())));
                self.day = day;
            }
            text += &format!("{row}\n");
            if let (Format::Full, Some(width)) = (self.format, width) {
                let whole = format!("    {HANG}{}", terminal::quoted(&printable(line.text())));
                text += &format!("{}\n\n", wrap(&whole, width));
            }
        }
        self.table.clear();
        text
    }

    fn row(&self, line: &Line, is_terminal: bool) -> [String; 8] {
        let time = if is_terminal { terminal::clock(line.at()) } else { terminal::stamp(line.at()) };
        let Line::Verdict(verdict) = line else {
            let mut cells = [if is_terminal { "" } else { "-" }; 8].map(str::to_owned);
            cells[0] = time;
            cells[6] = terminal::bad("problem");
            cells[7] = printable(line.text());
            return cells;
        };
        let session = cut(verdict.session.as_str(), self.session);
        let agent = verdict.agent.as_ref().map(|agent| cut(agent.as_str(), self.session));
        // What is usual says nothing.
        let usual =
            |word: &str, usual: &str| if is_terminal && word == usual { String::new() } else { word.to_owned() };
        let paint = match verdict.verdict.as_str() {
            "deny" | "continue" | "ask" => terminal::warning,
            _ => terminal::faint,
        };
        let text = match (is_terminal, self.format) {
            (true, Format::Full) => String::new(),
            _ => printable(&verdict.reason),
        };
        [
            time,
            session.to_owned(),
            usual(agent.unwrap_or("-"), "-"),
            verdict.event.clone(),
            verdict.policy.clone(),
            usual(&verdict.mode, "enforce"),
            paint(&verdict.verdict),
            text,
        ]
        .map(|word| printable(&word))
    }
}
