//! Holds a panel before the second attempt: experts examine the failure, and their advice goes into the prompt.

use std::time::Duration;

use steadfast_hosts::stream::AgentEvent;
use steadfast_model::Spent;

use super::executor::{Dispatch, Job};
use super::message::Message;
use crate::agent::AgentUpdate;
use crate::error::RunError;
use crate::experts::{Advice, Diff, Expert, Failed, Panel, Purpose, advice_text, choose};
use crate::quote::end_of;

/// A longer panel delays the work more than it helps.
const LIMIT: Duration = Duration::from_secs(5 * 60);

/// The panel gets this fraction of an agent's share: a quarter.
const PART: u64 = 4;

impl Dispatch<'_> {
    /// Holds a panel if one is due. Returns its cost.
    pub(super) fn panel(&self, job: &mut Job) -> Result<Spent, RunError> {
        let none = Spent { micro_usd: Some(0), ..Spent::default() };
        let Some(review_brief) = &self.context.panel_brief else { return Ok(none) };
        let Some(failure) = job.before.failure.clone().filter(|_| job.unit.stuck == 1 && !job.bring_in) else {
            return Ok(none);
        };
        let worktrees = &self.context.worktrees;
        let head = self.commit()?;
        let change = Diff::parse(&worktrees.diff_from_branch(&head)?);
        let name = format!("panel-{}", self.unit);
        let directory = worktrees.read_only_worktree(&name, &head)?;
        let task = format!("{} ({})", failure.task, job.unit.title);
        let failed = Failed {
            task: &task,
            why: &failure.why,
            output: &failure.output,
            summary: job.before.summary.as_deref().map(|summary| end_of(summary, 1_000)),
        };
        let briefs: Vec<(Expert, String)> = choose(Purpose::Panel, change.paths())
            .into_iter()
            .map(|expert| (expert, review_brief.panel(expert, &failed, &change)))
            .collect();
        let mut taken = none;
        let panel = Panel {
            launcher: &self.context.launcher,
            directory: &directory,
            mark: &format!("{}/{}", self.context.run, self.unit),
            folder: &self.context.folder,
            name: &name,
            limit: LIMIT,
            share: job.share.map(|share| share / PART),
        };
        let statements = panel.ask(&briefs, self.stop, &mut |spent| {
            taken = spent;
            let _ = self.tell.send(Message::Heard(self.unit.clone(), AgentUpdate::Event(AgentEvent::Spent(spent))));
        });
        worktrees.remove_read_only(&name)?;
        let panel: Vec<(Expert, Advice)> = statements
            .iter()
            .filter_map(|statement| Some((statement.expert, Advice::read(statement.spoken.said.as_deref()?)?)))
            .collect();
        job.before.advice = advice_text(&panel);
        let _ = self.tell.send(Message::Advised(self.unit.clone(), job.before.advice.clone()));
        Ok(taken)
    }
}
