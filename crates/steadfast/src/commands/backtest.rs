use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use steadfast_hosts::transcript::session_of;
use steadfast_text::count;
use steadfast_work::replay;

use super::replay::rules;
use super::transcript::sessions;
use crate::error::CommandError;
use crate::output::{note, tell};
use summary::Summary;

mod page;
mod progress;
mod summary;

/// Replay many past sessions, and count the verdicts.
///
/// Counts the turns that ended with an offer to go on while work was open, claims that tests pass in turns without a test
/// run, and calls that did what the human had forbidden; then the verdicts of each policy. Shows examples. Changes nothing. Uses the rules of this repository, or the default rules where Steadfast is not set up. The stop
/// gate has no verdicts here, because the tasks of a past session are not known. Counts a call once if several
/// transcripts contain it, as after a resume or a fork.
#[derive(Debug, Args)]
pub(super) struct Backtest {
    /// Transcripts, or folders of transcripts. [default: those of this repository]
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Number of examples to show for each policy and each kind of turn.
    #[arg(long, value_name = "N", default_value_t = 5)]
    examples: usize,
    /// Print JSON with stable keys: `{sessions, unread, actions, damaged, policies: [{policy, said, per_1000, verdicts,
    /// on, examples: [{file, session, at, tool, target, verdict, reason}]}], turns: [{kind, found, examples: [{file,
    /// session, at, turn, quoted, act}]}]}`; `kind` is stopped_early, untested_claim, forbidden or outside_scope.
    #[arg(long)]
    json: bool,
    /// Write the result to a self-contained HTML page as well.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Number of unreadable files to name.
const NAMED: usize = 5;

impl Backtest {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let files = without_subagents(sessions::find(&self.folders)?);
        let rules = rules()?;
        let watch = |done: &dyn Fn() -> usize, ended: &dyn Fn() -> bool| {
            progress::show("sessions", files.len(), done, ended);
        };
        let reports = replay::reports(&files, &rules, self.examples, watch).map_err(|error| {
            CommandError::failure(error)
                .hint("`steadfast replay FILE` shows its session; run the backtest on the other files")
        })?;
        let summary = Summary::of(reports, self.examples);
        summary.unread.iter().take(NAMED).for_each(|why| note!("{why}"));
        if summary.unread.len() > NAMED {
            note!("{} more not read", count(summary.unread.len() - NAMED, "file"));
        }
        if summary.sessions == 0 {
            return Err(sessions::none_read());
        }
        if let Some(path) = &self.html {
            fs::write(path, page::page(&summary)).map_err(|error| {
                CommandError::failure(format!("cannot write `{}`: {error}", path.display()))
                    .hint("give a file in an existing, writable folder: `--html FILE`")
            })?;
            note!("wrote {}", path.display());
        }
        if self.json {
            return tell!("{}", summary.to_json());
        }
        summary.lines().iter().try_for_each(|line| tell!("{line}"))
    }
}

/// Leaves out files of subagents whose session is among the files: that file includes their actions.
fn without_subagents(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let all: HashSet<PathBuf> = files.iter().cloned().collect();
    files.into_iter().filter(|file| session_of(file).is_none_or(|session| !all.contains(&session))).collect()
}
