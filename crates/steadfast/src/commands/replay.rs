use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use steadfast_hosts::transcript::SessionEvents;
use steadfast_model::{EventKind, Opinion, ToolCall};

use super::transcript::timeline::target;
use super::transcript::{sessions, several};
use crate::error::CommandError;
use crate::history::one_line;
use crate::output::{note, tell};
pub(super) use fold::{Fold, Judged, rules};

mod fold;

/// Folds a session that was through the rules, and shows what they would have said.
///
/// Nothing is changed, and nothing is done. The rules are those of this repository, or the default ones. Tasks of a
/// session that was are not known: the stop gate has nothing to hold it by.
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The transcript.
    file: PathBuf,
    /// Print one JSON object per action, with stable keys: `{n, tool, target, reasons, verdict}`. `verdict` is the
    /// strictest: `pass`, `note`, `context`, `ask`, `continue` or `deny`, whatever the mode leaves of it.
    #[arg(long)]
    json: bool,
}

impl Replay {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut unread = sessions::Unread::default();
        let events = unread.open(&self.file).and_then(|transcript| SessionEvents::of(&self.file, transcript));
        let Some(events) = events else {
            return unread.end(1).and_then(|()| {
                Err(CommandError::failure(format!("nobody is known to write a file like `{}`", self.file.display()))
                    .hint("name a transcript of Claude Code or Codex"))
            });
        };
        let (mut actions, mut answered) = (0_u64, 0_u64);
        let mut fold = Fold::new(events, rules()?);
        for judged in &mut fold {
            actions += u64::from(judged.action().is_some());
            answered += u64::from(!judged.opinions().is_empty());
            match judged.action() {
                Some(call) if self.json => tell!("{}", to_json(actions, call, &judged))?,
                None if self.json => {}
                _ => judged.opinions().iter().try_for_each(|opinion| tell!("{}", line(&judged, opinion)))?,
            }
        }
        if fold.damaged() > 0 {
            note!("{} rows could not be read", fold.damaged());
        }
        if !self.json {
            note!("{}, {}", several(actions, "action"), several(answered, "verdict"));
        }
        Ok(())
    }
}

fn to_json(n: u64, call: &ToolCall, judged: &Judged) -> serde_json::Value {
    let reasons: Vec<&str> = judged.opinions().iter().map(|opinion| opinion.verdict.text()).collect();
    json!({
        "n": n,
        "tool": call.tool,
        "target": target(&call.action, "", &judged.event.cwd),
        "reasons": reasons,
        "verdict": judged.verdict(),
    })
}

fn line(judged: &Judged, opinion: &Opinion) -> String {
    let what = match &judged.event.kind {
        EventKind::PreTool(call) => format!("{} {}", call.tool, target(&call.action, "", &judged.event.cwd)),
        other => other.label().to_owned(),
    };
    let Opinion { policy, mode, verdict } = opinion;
    format!(
        "{}  {policy} ({mode})  {}  {}\n    {}",
        judged.event.at,
        verdict.label(),
        one_line(&what),
        one_line(verdict.text())
    )
}
