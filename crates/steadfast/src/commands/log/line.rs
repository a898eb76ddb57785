use serde_json::{Value, json};
use steadfast_model::{Millis, SessionId};
use steadfast_store::ledger::HistoryLine;
use steadfast_text::{ago, parse_time, printable};

use steadfast_work::history::{cut, short_length};

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

    fn session(&self) -> Option<&SessionId> {
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

/// The format of times.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// Relative to this moment.
    Before(Millis),
    /// As a date: on a screen that keeps running, `just now` is soon wrong.
    Exact,
}

/// The widths of the columns.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    clock: Clock,
    session: usize,
    widths: [usize; WORDS],
}

/// The number of columns without the text.
const WORDS: usize = 7;

impl Columns {
    pub(super) fn fitting(lines: &[Line], now: Millis) -> Self {
        Self::new(Clock::Before(now), lines)
    }

    /// For output that continues.
    pub(super) fn growing(lines: &[Line]) -> Self {
        Self::new(Clock::Exact, lines)
    }

    fn new(clock: Clock, lines: &[Line]) -> Self {
        let session = short_length(lines.iter().filter_map(Line::session));
        let mut columns = Self { clock, session, widths: [0; WORDS] };
        columns.fit(lines);
        columns
    }

    pub(super) fn fit(&mut self, lines: &[Line]) {
        for line in lines {
            let Line::Verdict(line) = line else { continue };
            let words = self.words(line);
            for (width, word) in self.widths.iter_mut().zip(words) {
                *width = (*width).max(word.chars().count());
            }
        }
    }

    pub(super) fn show(&self, lines: &[Line], json: bool) -> String {
        let show = |line| if json { Line::to_json(line).to_string() } else { self.text(line) };
        lines.iter().map(|line| show(line) + "\n").collect()
    }

    fn text(&self, line: &Line) -> String {
        match line {
            Line::Verdict(line) => {
                let words = self.words(line);
                let mut text = String::new();
                for (word, width) in words.iter().zip(self.widths) {
                    text += &format!("{word:<width$}  ");
                }
                text + &printable(&line.reason)
            }
            Line::Problem { at, text } => {
                format!("{:<width$}  problem: {}", self.time(*at), printable(text), width = self.widths[0])
            }
        }
    }

    fn words(&self, line: &HistoryLine) -> [String; WORDS] {
        [
            self.time(line.at),
            cut(line.session.as_str(), self.session).to_owned(),
            line.agent.as_ref().map_or("-", |agent| cut(agent.as_str(), self.session)).to_owned(),
            line.event.clone(),
            line.policy.clone(),
            line.mode.clone(),
            line.verdict.clone(),
        ]
        .map(|word| printable(&word))
    }

    fn time(&self, at: Millis) -> String {
        match self.clock {
            Clock::Before(now) => ago(now.since(at)),
            Clock::Exact => at.to_string(),
        }
    }
}
