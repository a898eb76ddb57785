//! A loop without a human at hand: from a request or a spec, by its stages, to a result that was reviewed and gated. What
//! each stage came to is in the ledger before the next begins, so it can be left anywhere and taken up again.

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
use crate::launch::{launcher, prices};
use crate::lifecycle;
use crate::preflight::{Ready, agent_and_folder, preflight};
use crate::review::{GateOutcome, ReviewSubject, Reviewer, review_brief};
use crate::run::{Audience, RunOutcome, Until, is_alive};
use crate::worktrees::RunWorktrees;

pub use execute::said;
pub use judge::ROUNDS;

/// The human's side of a loop.
pub trait Console {
    /// One line about what happens.
    fn say(&self, line: &str);

    /// Asks a human who is there. None: nobody is, or nothing was answered.
    fn ask(&self, question: &str) -> Option<String>;

    /// Shows a run while it goes on, and says first when it will pause by itself.
    fn watch(&self, run: &Run, until: Until) -> Box<dyn Watch + '_>;
}

/// What a human sees of a run.
pub trait Watch: Audience {
    /// Makes room for a line.
    fn clear(&mut self);

    /// After the run.
    fn finish(&mut self, ledger: &Ledger, outcome: &RunOutcome);
}

/// What a human wants of a loop.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Which agent works. None: as the settings say, or the one that is installed.
    pub host: Option<Host>,
    /// What a run may use up.
    pub limits: Limits,
    /// To put a loop away that is not finished.
    pub fresh: bool,
    /// To begin although the request is not clear enough, and why.
    pub overridden: Option<String>,
    /// To begin at the last commit although files were changed since.
    pub from_head: bool,
}

/// A loop that passed its gate.
#[derive(Clone, Debug)]
pub struct Passed {
    pub looped: Loop,
    /// What the gate saw.
    pub judged: GateOutcome,
}

/// A loop on its way.
struct LoopRun<'a> {
    repository: &'a Repository,
    settings: RunSettings,
    how: LoopSettings,
    ready: Ready,
    limits: Limits,
    console: &'a dyn Console,
    id: LoopId,
    stop: Arc<AtomicBool>,
    /// A draft that nobody approved is shown to a human first.
    approval_required: bool,
    /// What writing the spec took, until there is a run that pays for it.
    owed: Cell<Spent>,
}

impl LoopRun<'_> {
    /// From the stage it is in to its end, or to where a human is needed.
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

    /// As it is now, its pages written anew.
    fn written(&self) -> Result<Loop, RunError> {
        Ok(Loops::of(self.repository)?.written(&self.id)?)
    }

    /// Somebody else who moved it is found out by the next look.
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
            launcher: launcher(self.repository, &self.settings, row.host, &self.ready),
            host: row.host,
            prices: prices(&self.settings),
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

/// Begins a loop from a spec, or from a request in words.
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
            // What does not compile is no spec, whatever it is worth.
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
        console.say(&format!("loop {} is put away; its plan and what was done stay", other.id));
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
    console.say(&format!("spec score {spec} of 10, fit {fit} of 75: {}", how(autonomy)));
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

/// Goes on with a loop where it is. `limits`: what its run may use up, if that changes.
pub fn go_on(
    repository: &Repository,
    looped: Loop,
    host: Option<Host>,
    limits: impl Fn(Limits) -> Option<Limits>,
    stop: &Arc<AtomicBool>,
    console: &dyn Console,
) -> Result<Option<Passed>, RunError> {
    let settings = repository.config.load().map_err(WorkError::from)?;
    let run = looped.run.as_ref().map(|run| repository.ledger()?.run(run)).transpose()?;
    // Also while it is reviewed, when its run is over.
    if let Some(runner) = run.as_ref().and_then(|run| run.runner).filter(|runner| is_alive(*runner)) {
        return Err(RunError::LoopUnderWay { id: looped.id, pid: Some(runner.pid) });
    }
    let host = host.or(run.as_ref().map(|run| run.host)).or(settings.run.host.value);
    let base = looped.base.clone().unwrap_or_default();
    let ready = agent_and_folder(repository, &settings.run, host, &base)?;
    if let Some(row) = run.filter(|run| !run.state.is_over()) {
        lifecycle::take_over(repository, &row, ready.host, limits(row.limits))?;
    }
    console.say(&format!("loop {}: goes on in the stage {}", looped.id, looped.stage.as_str()));
    let of_settings = settings.run.limits();
    let limits = limits(of_settings).unwrap_or(of_settings);
    drive(repository, &settings, limits, looped.id, ready, stop, console)
}

/// Whether it is worked on without a session: it has a run, or no session was bound to it and it has no plan yet.
pub fn is_headless(looped: &Loop) -> bool {
    looped.run.is_some() || (looped.plan.is_none() && looped.session.is_none())
}

/// Ends it as it is, and its run, which comes back if it was not over.
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
    let (how, approval_required) = (settings.loops.clone(), settings.approval.required.value);
    let (settings, owed, stop) = (settings.run.clone(), Cell::new(Spent::default()), Arc::clone(stop));
    LoopRun { repository, settings, how, ready, limits, console, id, stop, approval_required, owed }.go()
}

/// How far a loop goes between two pauses.
fn until(autonomy: Option<Autonomy>) -> Until {
    match autonomy {
        Some(Autonomy::Tool) => Until::Gate,
        Some(Autonomy::ToolReview) => Until::Wave,
        Some(Autonomy::Colleague | Autonomy::Blocked) | None => Until::Unit,
    }
}
