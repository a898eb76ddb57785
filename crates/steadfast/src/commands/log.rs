use clap::Args;
use clap::builder::PossibleValuesParser;
use steadfast_model::{Millis, PolicyName};
use steadfast_store::ledger::HistoryFilter;
use steadfast_store::read_log;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, put};
use crate::surroundings;
use follow::follow;
use line::{Columns, Line};
use steadfast_work::history::History;
use steadfast_work::when::Since;

mod follow;
mod line;

/// Shows what the policies said, the newest last: when, to which session, agent and event, which policy in which mode,
/// its verdict, and the text that was given.
///
/// In mode `observe` nothing is given, and in mode `advise` nothing is refused: the line says what would have been.
#[derive(Debug, Args)]
pub(super) struct Log {
    /// Only what this session was told; the beginning of its id is enough.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what this policy said.
    #[arg(long, value_name = "POLICY", value_parser = policy)]
    policy: Option<PolicyName>,
    /// Only this verdict. May be given several times.
    #[arg(long = "verdict", value_name = "VERDICT", value_parser = PossibleValuesParser::new(VERDICTS))]
    verdicts: Vec<String>,
    /// Only what is not older: `30m`, `2h`, `7d`, or a time as in `2026-07-28T09:30:00Z`.
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// The newest so many lines.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Go on, and show every new line as it comes, with its time in UTC.
    #[arg(long)]
    follow: bool,
    /// Also show what a hook could not do, in between. No other filter but `--since` and `--limit` holds for these.
    #[arg(long)]
    problems: bool,
    /// Print one JSON object per line, with stable keys: `{at, session, sequence, agent, event, policy, mode, verdict,
    /// reason, facts}`. `at` is in milliseconds since 1970; a line of `--problems` has the verdict `problem`, a reason,
    /// and null for the rest.
    #[arg(long)]
    json: bool,
}

/// A policy that lets something pass says nothing.
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
            since: self.since.map(|since| since.before(surroundings::now())),
            limit: self.limit,
        };
        if self.follow {
            return follow(history, filter, self.problems, self.json);
        }

        let mut lines: Vec<Line> = history.lines(&filter)?.into_iter().map(Line::Verdict).collect();
        if self.problems {
            lines.extend(problems(&history, filter.since));
        }
        let lines = newest(lines, self.limit);
        if lines.is_empty() {
            note!("no verdicts");
        }
        put(&Columns::fitting(&lines, surroundings::now()).show(&lines, self.json))?;
        Ok(())
    }
}

/// What the hooks could not do.
fn problems(history: &History, since: Option<Millis>) -> impl Iterator<Item = Line> {
    read_log(&history.repository.place).into_iter().filter_map(move |text| {
        let line = Line::problem(&text)?;
        since.is_none_or(|since| line.at() >= since).then_some(line)
    })
}

/// The newest so many, the newest last.
fn newest(mut lines: Vec<Line>, limit: u32) -> Vec<Line> {
    lines.sort_by(|a, b| a.order().cmp(&b.order()));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    lines.split_off(lines.len().saturating_sub(limit))
}
