//! Whoever judges what was done: experts in reviews, and the gate. The same for a run's branch and for a checkout that a
//! session works in.

mod gate;
mod review;
mod subject;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_hosts::price::Prices;
use steadfast_model::{Host, LoopSettings, PlanId, RunId, Shape, Spent};
use steadfast_runner::counsel::{Matter, Sitting};
use steadfast_runner::run::Launcher;

use crate::error::CommandError;
use crate::repository::Repository;
use crate::surroundings;

pub(in crate::commands) use review::{Held, Look, line};
pub(in crate::commands) use subject::{Subject, failed};

/// What experts are asked with, and what they are asked about.
pub(in crate::commands) struct Court<'a> {
    pub(in crate::commands) repository: &'a Repository,
    pub(in crate::commands) settings: &'a LoopSettings,
    pub(in crate::commands) launcher: Box<Launcher>,
    pub(in crate::commands) host: Host,
    pub(in crate::commands) prices: Prices,
    pub(in crate::commands) matter: Matter,
    pub(in crate::commands) plan: PlanId,
    /// The run that pays. None: nobody's budget is known.
    pub(in crate::commands) run: Option<RunId>,
    pub(in crate::commands) subject: Subject,
    /// By which the processes of experts are found.
    pub(in crate::commands) mark: String,
    pub(in crate::commands) stop: &'a AtomicBool,
}

/// What experts of a loop know.
pub(in crate::commands) fn matter(goal: &str, shape: Option<&Shape>) -> Matter {
    let shape = shape.cloned().unwrap_or_default();
    Matter { goal: goal.to_owned(), criteria: shape.criteria, must_nots: shape.must_nots }
}

impl Court<'_> {
    /// Asks with a share of what is left of the budget, and writes down what it took. `what` names it in the ledger.
    fn paid<T>(
        &self,
        what: &str,
        ask: impl FnOnce(&mut dyn FnMut(Spent), Option<u64>) -> T,
    ) -> Result<T, CommandError> {
        let Some(run) = &self.run else { return Ok(ask(&mut |_| {}, None)) };
        let mut ledger = self.repository.ledger_as_it_is()?;
        let row = ledger.run(run)?;
        let left =
            row.limits.micro_usd.map(|limit| limit.saturating_sub(ledger.sums(run).map_or(0, |sums| sums.micro_usd)));
        if left == Some(0) {
            return Err(CommandError::needs_human(format!(
                "the budget of run {run} is spent, and {what} is still to come"
            ))
            .hint("`steadfast resume --budget USD` allows it more"));
        }
        let number = ledger.begin_aside(run, what, self.host, surroundings::now())?;
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
        ledger.end_dispatch(run, number, &end, surroundings::now())?;
        Ok(said)
    }

    fn sitting<'s>(
        &'s self,
        name: &'s str,
        directory: &'s std::path::Path,
        folder: &'s std::path::Path,
        share: Option<u64>,
    ) -> Sitting<'s> {
        let limit = self.settings.expert_time.value.limit().map_or(Duration::from_secs(86_400), Duration::from_millis);
        Sitting {
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
    fn folder(&self) -> Result<PathBuf, CommandError> {
        let folder = self.repository.place.state.join("runs").join(&self.mark);
        std::fs::create_dir_all(&folder).map_err(|error| {
            CommandError::failure(format!("`{}` cannot be made: {error}", folder.display()))
                .hint("make room there, or see to its permissions")
        })?;
        Ok(folder)
    }
}
