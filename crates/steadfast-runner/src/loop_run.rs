//! Drives a loop without a human present: from a request or a spec, through its stages, to a reviewed and gated
//! result. The ledger holds the outcome of each stage before the next one starts, so a loop can stop and resume at any
//! point.

mod decompose;
mod execute;
mod judge;
mod light_review;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_model::{
    Autonomy, Host, Limits, Loop, LoopEnd, LoopId, LoopSettings, Millis, Run, RunSettings, Scores, Settings, Shape,
    Spent, Stage,
};
use steadfast_store::ledger::Ledger;
use steadfast_store::lock_loop;
use steadfast_work::loops::{Loops, Request, how, question, stated_checks};
use steadfast_work::{Repository, WorkError, spec_file};

use crate::error::RunError;
use crate::experts::ReviewBrief;
use crate::launch::Launcher;
use crate::lifecycle;
use crate::preflight::{Ready, agent_and_folder, preflight};
use crate::review::{GateOutcome, ReviewSubject, Reviewer, review_brief};
use crate::run::{Audience, RunOutcome, Until, is_alive};
use crate::worktrees::RunWorktrees;

pub use execute::summary;
pub use judge::ROUNDS;

/// The human's side of a loop.
pub trait Console {
    /// Prints one line of progress.
    fn say(&self, line: &str);

    /// Asks the human. `None`: no human is present, or the answer is empty.
    fn ask(&self, question: &str) -> Option<String>;

    /// Displays a run while it works, and first announces its automatic pauses.
    fn watch(&self, run: &Run, until: Until) -> Box<dyn Watch + '_>;
}

/// The display of a run.
pub trait Watch: Audience {
    /// Clears the display, so that a line can be printed.
    fn clear(&mut self);

    /// Shows the outcome.
    fn finish(&mut self, ledger: &Ledger, outcome: &RunOutcome);
}

/// The user's options for a loop.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The agent to use. `None`: the one from the settings, or the installed one.
    pub host: Option<Host>,
    pub limits: Limits,
    /// Archive an unfinished loop first.
    pub fresh: bool,
    /// Start although the request is unclear, with the reason.
    pub overridden: Option<String>,
    /// Start at the last commit although files have uncommitted changes.
    pub from_head: bool,
}

#[derive(Clone, Debug)]
pub struct Passed {
    pub looped: Loop,
    /// The findings of the gate.
    pub judged: GateOutcome,
}

struct LoopRun<'a> {
    repository: &'a Repository,
    settings: RunSettings,
    how: LoopSettings,
    ready: Ready,
    limits: Limits,
    console: &'a dyn Console,
    id: LoopId,
    stop: Arc<AtomicBool>,
    /// A human must approve a draft first.
    approval_required: bool,
    /// The cost of writing the spec, until there is a run to charge.
    owed: Cell<Spent>,
}

impl LoopRun<'_> {
    /// Goes from the current stage to the end, or to the point where a human is needed.
    fn go(&self) -> Result<Option<Passed>, RunError> {
        loop {
            let looped = self.written()?;
            match looped.stage {
                Stage::Intent => drop(Loops::of(self.repository)?.advance(&looped, Stage::Shape)?),
                Stage::Shape => {
                    let mut loops = Loops::of(self.repository)?;
                    let looped = loops.shape(&looped, &Request::of_loop(&looped, self.repository)?)?;
                    loops.advance(&looped, Stage::Decompose)?;
                }
                Stage::Decompose => self.decompose(&looped)?,
                Stage::Executing => self.execute(&looped)?,
                Stage::Review => {
                    if let Some(passed) = self.judge(&looped)? {
                        return Ok(Some(passed));
                    }
                }
                Stage::Complete => return Ok(None),
            }
        }
    }

    fn ledger(&self) -> Result<Ledger, RunError> {
        Ok(self.repository.ledger_as_it_is()?)
    }

    /// Returns the loop as the ledger has it, and rewrites its pages.
    fn written(&self) -> Result<Loop, RunError> {
        Ok(Loops::of(self.repository)?.written(&self.id)?)
    }

    /// If another process moved the loop, the next read of the stage shows it.
    fn advance(&self, from: Stage, to: Stage) -> Result<(), RunError> {
        self.ledger()?.advance_loop(&self.id, from, to, self.now())?;
        self.say(&format!("loop {}: {}", self.id, to.as_str()));
        Ok(())
    }

    fn now(&self) -> Millis {
        self.repository.environment.now()
    }

    fn say(&self, line: &str) {
        self.console.say(line);
    }

    fn run_of(&self, looped: &Loop) -> Result<Run, RunError> {
        let id = looped.run.as_ref().ok_or_else(|| RunError::NoRun(looped.id.clone()))?;
        Ok(self.ledger()?.run(id)?)
    }

    fn worktrees(&self, row: &Run) -> RunWorktrees {
        lifecycle::worktrees(self.repository, row, &self.ready)
    }

    fn review_brief(looped: &Loop) -> ReviewBrief {
        review_brief(&looped.request, looped.shape.as_ref())
    }

    fn reviewer(&self, looped: &Loop, row: &Run) -> Result<Reviewer<'_>, RunError> {
        Ok(Reviewer {
            repository: self.repository,
            settings: &self.how,
            launcher: Launcher::of_run(self.repository, &self.settings, row, &self.ready)?,
            host: row.host,
            review_brief: Self::review_brief(looped),
            plan: row.plan.clone(),
            stated: stated_checks(&self.ledger()?, looped)?,
            waived: looped.waived.clone(),
            limits: looped.shape.as_ref().map(Shape::limits).unwrap_or_default(),
            spec: looped.spec.clone(),
            run: Some(row.id.clone()),
            subject: ReviewSubject::Branch { worktrees: self.worktrees(row), base: row.base.clone() },
            mark: row.id.to_string(),
            stop: &self.stop,
            beside: 0,
        })
    }
}

/// Starts a loop from a spec, or from a request in words.
pub fn begin(
    repository: &Repository,
    settings: &Settings,
    what: &Path,
    words: Option<&str>,
    wishes: &Wishes,
    stop: &Arc<AtomicBool>,
    console: &dyn Console,
) -> Result<Option<Passed>, RunError> {
    let root = &repository.place.root;
    let request = match words {
        Some(words) => Request::read(words, root, &repository.environment)?,
        None => {
            // Fails early if the spec does not compile, whatever its score would be.
            spec_file::compile(&repository.environment, what)?;
            Request::of_file(what, root, &repository.environment)?
        }
    };
    let host = wishes.host.or(settings.run.host.value);
    let of_spec = request.spec.clone().unwrap_or_default();
    let ready = preflight(repository, &settings.run, host, &of_spec, wishes.from_head)?;
    let mut loops = Loops::of(repository)?;
    let worktree = repository.place.worktree();
    if let Some(other) = loops.ledger().unfinished_runs()?.into_iter().find(|other| other.worktree == worktree) {
        return Err(RunError::NotOver { run: other.id, spec: other.spec });
    }
    if let Some(other) = loops.unfinished()?.filter(|other| !other.is_unclear()) {
        if !wishes.fresh {
            return Err(RunError::LoopNotFinished(Box::new(other)));
        }
        loops.archive(&other)?;
        console.say(&format!("loop {} is archived; its plan and its work are kept", other.id));
    }
    let request = match wishes.overridden {
        Some(_) => request,
        None => request.clarified(|dimension| console.ask(&question(dimension))),
    };
    let mut begun = loops.begin(&request)?;
    let Scores { spec, fit, autonomy } = begun.judged.scores;
    console.say(&format!("loop {}: {}", begun.looped.id, begun.looped.request));
    for check in &begun.looped.asked.checks {
        console.say(&format!("has to pass at the end: `{}`", check.command));
    }
    console.say(&format!("spec score {spec} of 10, fit to run alone {fit} of 75: {}", how(autonomy)));
    for line in &begun.looped.recall_surfaced {
        console.say(&format!("remembered: {line}"));
    }
    if begun.looped.is_unclear() {
        let Some(why) = &wishes.overridden else { return Err(RunError::NotClear(Box::new(begun))) };
        begun.looped = loops.override_unclear(&begun.looped, why)?;
    }
    drop(loops);
    drive(repository, settings, wishes.limits, begun.looped.id, ready, stop, console)
}

/// Resumes a loop at its current stage. `limits` changes the limits of its run, if it returns some.
pub fn go_on(
    repository: &Repository,
    looped: Loop,
    host: Option<Host>,
    limits: impl Fn(Limits) -> Option<Limits>,
    stop: &Arc<AtomicBool>,
    console: &dyn Console,
) -> Result<Option<Passed>, RunError> {
    let mut settings = repository.config.load().map_err(WorkError::from)?;
    let run = looped.run.as_ref().map(|run| repository.ledger()?.run(run)).transpose()?;
    // A runner may also be alive while the loop is in review and its run is over.
    if let Some(runner) = run.as_ref().and_then(|run| run.runner).filter(|runner| is_alive(*runner)) {
        return Err(RunError::LoopUnderWay { id: looped.id, pid: Some(runner.pid) });
    }
    let host = host.or(run.as_ref().map(|run| run.host)).or(settings.run.host.value);
    let before = run.as_ref().map_or(settings.run.limits(), |run| run.limits);
    settings.run.proxy.value = limits(before).unwrap_or(before).behind_proxy;
    let base = looped.base.clone().unwrap_or_default();
    let ready = agent_and_folder(repository, &settings.run, host, &base)?;
    if let Some(row) = run.filter(|run| !run.state.is_over()) {
        lifecycle::take_over(repository, &row, ready.host, limits(row.limits))?;
    }
    console.say(&format!("loop {}: continues in stage {}", looped.id, looped.stage.as_str()));
    let of_settings = settings.run.limits();
    let limits = limits(of_settings).unwrap_or(of_settings);
    drive(repository, &settings, limits, looped.id, ready, stop, console)
}

/// Returns whether the loop works without a session: it has a run, or it has neither a session nor a plan.
pub fn is_headless(looped: &Loop) -> bool {
    looped.run.is_some() || (looped.plan.is_none() && looped.session.is_none())
}

/// Archives the loop and abandons its run. Returns the run if it was unfinished.
pub fn give_up(repository: &Repository, looped: &Loop) -> Result<Option<Run>, RunError> {
    let run = looped.run.as_ref().map(|run| repository.ledger()?.run(run)).transpose()?;
    let run = run.filter(|run| !run.state.is_over());
    if let Some(run) = &run {
        let settings = repository.config.load().map_err(WorkError::from)?.run;
        lifecycle::give_up(repository, run, &settings)?;
    }
    repository.ledger()?.end_loop(&looped.id, LoopEnd::Archived, repository.environment.now())?;
    Ok(run)
}

fn drive(
    repository: &Repository,
    settings: &Settings,
    limits: Limits,
    id: LoopId,
    ready: Ready,
    stop: &Arc<AtomicBool>,
    console: &dyn Console,
) -> Result<Option<Passed>, RunError> {
    let _turn = lock_loop(&repository.place, &id)
        .map_err(|source| RunError::LoopLock { id: id.clone(), source })?
        .ok_or_else(|| RunError::LoopUnderWay { id: id.clone(), pid: None })?;
    if let Some(text) = ready.first_party_note(repository) {
        console.say(text);
    }
    let (how, approval_required) = (settings.loops.clone(), settings.approval.required.value);
    let (settings, owed, stop) = (settings.run.clone(), Cell::new(Spent::default()), Arc::clone(stop));
    LoopRun { repository, settings, how, ready, limits, console, id, stop, approval_required, owed }.go()
}

/// Returns how far a loop goes between two pauses.
fn until(autonomy: Option<Autonomy>) -> Until {
    match autonomy {
        Some(Autonomy::Tool) => Until::Gate,
        Some(Autonomy::ToolReview) => Until::Wave,
        Some(Autonomy::Colleague | Autonomy::Blocked) | None => Until::Unit,
    }
}
