//! What judges the work: experts in reviews, and the gate at the end of a loop. The same for a run's branch and for a
//! checkout that a session works in.

mod gate;
mod remedy;
mod scope;
mod session;
mod subject;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_hosts::price::Prices;
use steadfast_model::{Host, LoopSettings, PlanId, Review, RunId, Shape, Spent, StatedCheck, Waiver};
use steadfast_work::Repository;

use crate::experts::{Panel, ReviewBrief};
use crate::run::Launcher;

use crate::error::RunError;

pub use gate::{Against, GateLook, GateOutcome, still_objects};
pub use remedy::{add_remedies, add_remedy, changed_file, close_remedies, objected};
pub use scope::{CompletedReview, Look, ReviewScope, Stretch, line};
pub use session::SessionReview;
pub use subject::ReviewSubject;

/// What experts are asked with, and what they are asked about.
pub struct Reviewer<'a> {
    pub repository: &'a Repository,
    pub settings: &'a LoopSettings,
    pub launcher: Box<Launcher>,
    pub host: Host,
    pub prices: Prices,
    pub review_brief: ReviewBrief,
    pub plan: PlanId,
    /// What the human's own words say has to pass.
    pub stated: Vec<StatedCheck>,
    /// What a human took as it is.
    pub waived: Vec<Waiver>,
    /// What must not happen, and where the work may be.
    pub limits: Vec<String>,
    /// The file of the spec.
    pub spec: Option<String>,
    /// The run that pays. None: nobody's budget is known.
    pub run: Option<RunId>,
    pub subject: ReviewSubject,
    /// By which the processes of experts are found.
    pub mark: String,
    pub stop: &'a AtomicBool,
    /// Agents that spend of the same budget meanwhile.
    pub beside: u32,
}

impl fmt::Debug for Reviewer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviewer").field("plan", &self.plan).field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// What experts of a loop know.
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
    /// Looks at the final tree, and says what there is to object to.
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

    /// Asks with a share of what is left of the budget, and writes down what it took. `what` names it in the ledger.
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
                // What a report misses the end has.
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
        Panel {
            launcher: &*self.launcher,
            host: self.host,
            prices: &self.prices,
            directory,
            mark: &self.mark,
            folder,
            name,
            limit,
            share,
        }
    }

    /// Where what experts print is kept.
    fn folder(&self) -> Result<PathBuf, RunError> {
        let folder = self.repository.place.state.join("runs").join(&self.mark);
        std::fs::create_dir_all(&folder).map_err(|source| RunError::Folder { path: folder.clone(), source })?;
        Ok(folder)
    }
}
