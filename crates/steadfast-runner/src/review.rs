//! Judges the work: experts review it, and a gate ends the loop. Works the same for a run's branch and for a checkout
//! that a session works in.

mod gate;
mod remedy;
mod scope;
mod session;
mod subject;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_model::{Host, LoopSettings, PlanId, Review, RunId, Shape, Spent, StatedCheck, Waiver};
use steadfast_work::Repository;

use crate::experts::{Panel, ReviewBrief};
use crate::launch::Launcher;

use crate::error::RunError;

pub use gate::{Against, GateLook, GateOutcome, still_objects};
pub use remedy::{add_remedies, add_remedy, changed_file, close_remedies, objected};
pub use scope::{CompletedReview, Look, ReviewScope, Stretch, line};
pub use session::SessionReview;
pub use subject::ReviewSubject;

/// The input for experts: settings, and the subject of the review.
pub struct Reviewer<'a> {
    pub repository: &'a Repository,
    pub settings: &'a LoopSettings,
    pub launcher: Launcher,
    pub host: Host,
    pub review_brief: ReviewBrief,
    pub plan: PlanId,
    /// The commands that the human's own words require to pass.
    pub stated: Vec<StatedCheck>,
    /// The objections that a human accepted.
    pub waived: Vec<Waiver>,
    /// The must-nots and the allowed places.
    pub limits: Vec<String>,
    pub spec: Option<String>,
    /// The run that pays. `None`: there is no known budget.
    pub run: Option<RunId>,
    pub subject: ReviewSubject,
    /// The environment value that marks the processes of experts.
    pub mark: String,
    pub stop: &'a AtomicBool,
    /// The number of agents that spend from the same budget meanwhile.
    pub beside: u32,
}

impl fmt::Debug for Reviewer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviewer").field("plan", &self.plan).field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// Returns the common part of the prompts for a loop's experts.
pub fn review_brief(goal: &str, shape: Option<&Shape>) -> ReviewBrief {
    let shape = shape.cloned().unwrap_or_default();
    let checks = shape.checks.into_iter().map(|check| format!("`{}`", check.command)).collect();
    ReviewBrief {
        goal: goal.to_owned(),
        criteria: shape.criteria,
        must_nots: shape.must_nots,
        scope: shape.scope,
        checks,
        not_executed: shape.not_executed,
    }
}

impl Reviewer<'_> {
    /// Checks the final tree, and returns the objections to it.
    pub fn gate(&self, reviews: &[Review]) -> Result<GateOutcome, RunError> {
        let look = GateLook {
            repository: self.repository,
            plan: &self.plan,
            subject: &self.subject,
            must_nots: &self.limits,
            stated: &self.stated,
            waived: &self.waived,
            spec: self.spec.as_deref(),
            mark: &self.mark,
            stop: self.stop,
        };
        look.objections(reviews)
    }

    /// Calls `ask` with a share of the remaining budget, and records the cost in the ledger under the name `what`.
    fn paid<T>(&self, what: &str, ask: impl FnOnce(&mut dyn FnMut(Spent), Option<u64>) -> T) -> Result<T, RunError> {
        let Some(run) = &self.run else { return Ok(ask(&mut |_| {}, None)) };
        let mut ledger = self.repository.ledger_as_it_is()?;
        let row = ledger.run(run)?;
        let left =
            row.limits.micro_usd.map(|limit| limit.saturating_sub(ledger.sums(run).map_or(0, |sums| sums.micro_usd)));
        if left == Some(0) {
            return Err(RunError::BudgetSpent { run: run.clone(), what: what.to_owned() });
        }
        let left = left.map(|left| left / (u64::from(self.beside) + 1));
        let number = ledger.begin_aside(run, what, self.host, self.repository.environment.now())?;
        let mut last = Spent::default();
        let said = ask(
            &mut |spent| {
                last = spent;
                // If a report cannot be saved, the final one below still counts.
                let _ = ledger.spend(run, number, spent, 0);
            },
            left,
        );
        let end =
            steadfast_store::ledger::DispatchEnd { ending: "finished".to_owned(), spent: last, ..Default::default() };
        ledger.end_dispatch(run, number, &end, self.repository.environment.now())?;
        Ok(said)
    }

    fn panel<'s>(
        &'s self,
        name: &'s str,
        directory: &'s std::path::Path,
        folder: &'s std::path::Path,
        share: Option<u64>,
    ) -> Panel<'s> {
        let limit = self.settings.expert_time.value.limit().map_or(Duration::from_secs(86_400), Duration::from_millis);
        Panel { launcher: &self.launcher, directory, mark: &self.mark, folder, name, limit, share }
    }

    /// Returns the folder for the output of experts.
    fn folder(&self) -> Result<PathBuf, RunError> {
        let folder = self.repository.place.state.join("runs").join(&self.mark);
        std::fs::create_dir_all(&folder).map_err(|source| RunError::Folder { path: folder.clone(), source })?;
        Ok(folder)
    }
}
