//! The outcome of the session: what the agent claimed, what is done, and what Steadfast refused.

use std::io;

use anstyle::Style;
use steadfast_model::Counts;
use steadfast_store::ledger::Ledger;
use steadfast_text::count;

use super::host::Performance;
use super::journal::Journal;
use super::sandbox::Sandbox;
use super::script;
use super::timeline::Timeline;
use crate::error::CommandError;

#[derive(Debug)]
pub(super) struct Outcome {
    journal: Journal,
    /// What the agent said at its first stop, and the tasks at that time.
    said: String,
    first: Counts,
    /// The tasks at the end.
    pub(super) end: Counts,
    refusals: Vec<String>,
}

impl Outcome {
    pub(super) fn of(journal: Journal, sandbox: &Sandbox, host: &Performance) -> Result<Self, CommandError> {
        let Some(first) = journal.attempts.first().filter(|attempt| attempt.refusal.is_some()) else {
            return Err(host.failure("the host ended without a stop event"));
        };
        let (said, first) = (first.message.clone(), first.counts);
        let refusals: Vec<String> = journal.attempts.iter().filter_map(|attempt| attempt.refusal.clone()).collect();
        if !refusals.iter().all(|reason| host.passed_on(reason)) {
            return Err(host.failure("the host did not pass a refusal on to its model"));
        }
        let ledger = Ledger::open(&sandbox.place.state)?;
        let end = ledger.plan_view(&sandbox.place.worktree())?.map(|view| view.counts).unwrap_or_default();
        Ok(Self { journal, said, first, end, refusals })
    }

    /// Fails if the session is not one that the demo may show.
    pub(super) fn verify(&self, sandbox: &Sandbox, host: &Performance) -> Result<(), CommandError> {
        if sandbox.repository.join(script::PLAN).exists() {
            return Err(host.failure("a plan was written without approval"));
        }
        if self.journal.forbidden == 0 || self.journal.corrected == 0 {
            return Err(host.failure("Steadfast did not keep the agent on scope"));
        }
        if self.end.open() > 0 {
            return Err(host.failure("the host ended with open tasks"));
        }
        Ok(())
    }

    pub(super) fn without(&self) -> String {
        let Counts { done, .. } = self.first;
        format!("{done} of {} tasks done, and the words \"{}\"", self.first.all(), self.said)
    }

    pub(super) fn with(&self) -> String {
        let Journal { forbidden, denied, .. } = &self.journal;
        let refused =
            [count(self.refusals.len(), "early stop"), count(*forbidden, "forbidden commit"), count(*denied, "write")];
        let [stops, commits, writes] = refused;
        format!(
            "{} of {} tasks done, each by its check. Refused: {stops}, {commits}, {writes} of an unapproved plan.",
            self.end.done,
            self.end.all()
        )
    }

    /// The summary of the whole session.
    pub(super) fn print(&self, timeline: &mut Timeline) -> io::Result<()> {
        let bold = Style::new().bold();
        let Journal { denied, forbidden, corrected, restored, .. } = &self.journal;
        timeline.paragraph(Style::new(), &format!("Without Steadfast: {}", self.without()))?;
        timeline.paragraph(
            bold,
            &format!(
                "With Steadfast: {} of {} tasks done, each by its check, after {}.",
                self.end.done,
                self.end.all(),
                count(self.refusals.len(), "refusal")
            ),
        )?;
        timeline.paragraph(
            bold,
            &format!(
                "And it stayed on scope: Steadfast told it {} that styles are off task, and it came back; {} that the \
                 human forbade did not happen.",
                count(*corrected, "time"),
                count(*forbidden, "commit")
            ),
        )?;
        let again = if *restored == 1 { "1 more was removed again" } else { "the rest were removed again" };
        timeline.paragraph(
            bold,
            &format!(
                "And nothing was built without approval: {} of {} did not happen, {again}. A human would read the draft \
                 with `steadfast plan show --draft` and approve it with `steadfast plan approve`.",
                count(*denied, "write"),
                script::PLAN
            ),
        )?;
        timeline.blank()?;
        timeline.paragraph(
            Style::new(),
            "Next: run `steadfast init` in your repository. It shows its changes before it writes them.",
        )
    }
}
