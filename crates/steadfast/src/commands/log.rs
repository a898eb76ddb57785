use std::collections::BTreeSet;
use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValuesParser;
use steadfast_model::{Millis, PolicyName, SessionId};
use steadfast_store::ledger::{HistoryFilter, SessionRow};
use steadfast_store::read_log;
use steadfast_text::{parse_span, parse_time};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put, put_laid_out};
use follow::follow;
use line::{Columns, Format, Line};
use steadfast_work::history::{History, cut, short_length};
use steadfast_work::liveness::Liveness;

mod follow;
mod line;

/// Show the verdicts of the policies, newest last.
///
/// Each line has the time, session, agent, event, policy, mode, verdict and text. A terminal shows one line per event:
/// the columns that fit, and the mode where it is not `enforce`. In mode `observe` the agent sees no
/// text, and in mode `advise` nothing is refused; the line shows the verdict that `enforce` would give.
#[derive(Debug, Args)]
pub(super) struct Log {
    /// Session to show; the beginning of its id is enough. [default: all]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Policy to show. [default: all]
    #[arg(long, value_name = "POLICY", value_parser = policy)]
    policy: Option<PolicyName>,
    /// Verdict to show. May be given several times. [default: all]
    #[arg(long = "verdict", value_name = "VERDICT", value_parser = PossibleValuesParser::new(VERDICTS))]
    verdicts: Vec<String>,
    /// Oldest line to show: `30m`, `2h`, `7d`, or a time such as `2026-07-28T09:30:00Z`.
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// Number of lines to show, counted from the newest.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Keep running, and print each new line.
    #[arg(long)]
    follow: bool,
    /// Print the whole text of each line at a terminal. A pipe always gets it.
    #[arg(long, conflicts_with = "json")]
    full: bool,
    /// Show failures of hooks too. Of the filters, only `--since` and `--limit` apply to them.
    #[arg(long)]
    problems: bool,
    /// Print one JSON object per line, with stable keys: `{at, session, sequence, agent, event, policy, mode, verdict,
    /// reason, facts}`. `at` is in milliseconds since 1970. A line of `--problems` has the verdict `problem`, a reason,
    /// and null for the rest.
    #[arg(long)]
    json: bool,
}

/// Without `allow`: a policy that allows an event writes no line.
const VERDICTS: [&str; 5] = ["note", "context", "ask", "continue", "deny"];

fn policy(name: &str) -> Result<PolicyName, String> {
    serde_json::from_value(name.into()).map_err(|error| error.to_string())
}

impl Log {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let history = here::history()?;
        let filter = HistoryFilter {
            session: self.session.as_deref().map(|beginning| history.session(beginning)).transpose()?,
            policy: self.policy,
            verdicts: self.verdicts,
            after: None,
            since: self.since.map(|since| since.before(environment::now())),
            limit: self.limit,
        };
        let format = match (self.json, self.full) {
            (true, _) => Format::Json,
            (false, true) => Format::Full,
            (false, false) => Format::Short,
        };
        if self.follow {
            return follow(history, filter, self.problems, format);
        }

        let mut lines: Vec<Line> = history.lines(&filter)?.into_iter().map(Line::Verdict).collect();
        if self.problems {
            lines.extend(problems(&history, filter.since));
        }
        let lines = newest(lines, self.limit);
        if lines.is_empty() {
            note!("no verdicts");
        }
        let text = Columns::of(&lines, format).show(&lines);
        if self.json {
            return put(&text).map(|_| ());
        }
        put_laid_out(&text)?;
        say_killed(&history, &lines);
        Ok(())
    }
}

/// Names the sessions of these lines whose host is gone without having said so.
fn say_killed(history: &History, lines: &[Line]) {
    let sessions: BTreeSet<&SessionId> = lines.iter().filter_map(Line::session).collect();
    let short = short_length(sessions.iter().copied());
    let rows = history.ledger.as_ref().and_then(|ledger| ledger.sessions().ok()).unwrap_or_default();
    let place = &history.repository.place;
    let is_killed = |row: &&SessionRow| {
        sessions.contains(&row.id) && Liveness::of(place, row, &BTreeSet::new()) == Liveness::Killed
    };
    for row in rows.iter().filter(is_killed) {
        note!("session {} is gone: {}", cut(row.id.as_str(), short), Liveness::KILLED);
    }
}

/// Failures of hooks.
fn problems(history: &History, since: Option<Millis>) -> impl Iterator<Item = Line> {
    read_log(&history.repository.place).into_iter().filter_map(move |text| {
        let line = Line::problem(&text)?;
        since.is_none_or(|since| line.at() >= since).then_some(line)
    })
}

/// The newest `limit` lines, oldest first.
fn newest(mut lines: Vec<Line>, limit: u32) -> Vec<Line> {
    lines.sort_by(|a, b| a.order().cmp(&b.order()));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    lines.split_off(lines.len().saturating_sub(limit))
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `30m`, `2h`, `7d`, or a time as in `2026-07-28T09:30:00Z`")]
struct NotATime;

/// The start of the time span to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// Milliseconds before now.
    Ago(i64),
    At(Millis),
}

impl Since {
    fn before(self, now: Millis) -> Millis {
        match self {
            Self::Ago(span) => Millis(now.0.saturating_sub(span)),
            Self::At(at) => at,
        }
    }
}

impl FromStr for Since {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let ago = parse_span(text).and_then(|millis| i64::try_from(millis).ok());
        ago.map(Self::Ago).or_else(|| parse_time(text).map(|millis| Self::At(Millis(millis)))).ok_or(NotATime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_is_refused() {
        let wrong =
            ["", "2", "h", "-2h", "2x", "99999999999999999999d", "9999999999999999d", "yesterday", "2026-02-30"];
        for text in wrong {
            assert_eq!(text.parse::<Since>(), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn a_span_ends_now() {
        let since = |text: &str| text.parse::<Since>().unwrap().before(Millis(1_000_000_000));
        assert_eq!([since("30m"), since("2h"), since("7d")].map(|at| at.0), [998_200_000, 992_800_000, 395_200_000]);
        assert_eq!(since("1970-01-01T00:00:01Z"), Millis(1_000));
    }
}
