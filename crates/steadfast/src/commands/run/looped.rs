//! A loop without a human at hand: from a request or a spec, by its stages, to a result that was reviewed and gated. What
//! each stage came to is in the ledger before the next begins, so it can be left anywhere and taken up again.

mod decompose;
mod execute;
mod judge;

pub(in crate::commands) use execute::said;
pub(in crate::commands) use judge::ROUNDS;

use std::cell::Cell;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_model::{
    Autonomy, Loop, LoopEnd, LoopId, LoopSettings, Run as RunRow, RunSettings, Scores, Settings, Spent, Stage,
};
use steadfast_runner::counsel::Matter;
use steadfast_runner::grounds::Grounds;
use steadfast_runner::run::is_alive;
use steadfast_store::ledger::Ledger;
use steadfast_store::lock_loop;

use super::court::{Court, Subject, matter};
use super::preflight::{Ready, agent_and_folder, preflight};
use super::{Flags, launcher, prices, under_way, watch_signals};
use crate::commands::looped::start::not_clear;
use crate::error::CommandError;
use crate::looped::{Loops, Request, how};
use crate::output::{note, tell};
use crate::repository::Repository;
use crate::spec_file;
use crate::surroundings;

/// A loop on its way.
pub(super) struct Drive<'a> {
    pub(super) repository: &'a Repository,
    pub(super) settings: RunSettings,
    pub(super) how: LoopSettings,
    pub(super) ready: Ready,
    pub(super) flags: &'a Flags,
    pub(super) id: LoopId,
    pub(super) stop: Arc<AtomicBool>,
    /// A draft that nobody approved is shown to a human first.
    pub(super) approval_required: bool,
    /// What writing the spec took, until there is a run that pays for it.
    pub(super) owed: Cell<Spent>,
}

impl Drive<'_> {
    /// From the stage it is in to its end, or to where a human is needed.
    pub(super) fn go(&self) -> Result<(), CommandError> {
        loop {
            let looped = self.written()?;
            match looped.stage {
                Stage::Intent => drop(Loops::of(self.repository)?.advance(&looped, Stage::Shape)?),
                Stage::Shape => {
                    let mut loops = Loops::of(self.repository)?;
                    let looped = loops.shape(&looped, &Request::of_loop(&looped, &self.repository.place.root)?)?;
                    loops.advance(&looped, Stage::Decompose)?;
                }
                Stage::Decompose => self.decompose(&looped)?,
                Stage::Executing => self.execute(&looped)?,
                Stage::Review => {
                    if let Some(card) = self.judge(&looped)? {
                        return card.tell();
                    }
                }
                Stage::Complete => return Ok(()),
            }
        }
    }

    fn ledger(&self) -> Result<Ledger, CommandError> {
        self.repository.ledger_as_it_is()
    }

    /// As it is now, its pages written anew.
    fn written(&self) -> Result<Loop, CommandError> {
        Loops::of(self.repository)?.written(&self.id)
    }

    /// Somebody else who moved it is found out by the next look.
    fn advance(&self, from: Stage, to: Stage) -> Result<(), CommandError> {
        self.ledger()?.advance_loop(&self.id, from, to, surroundings::now())?;
        note!("loop {}: {}", self.id, to.as_str());
        Ok(())
    }

    fn run_of(&self, looped: &Loop) -> Result<RunRow, CommandError> {
        let id = looped.run.as_ref().ok_or_else(|| {
            CommandError::failure(format!("loop {} has no run", looped.id))
                .hint("it is worked on in a session; `steadfast loop next` says what is to be done there")
        })?;
        Ok(self.ledger()?.run(id)?)
    }

    fn grounds(&self, row: &RunRow) -> Grounds {
        let place = &self.repository.place;
        Grounds::of(&place.root, &self.ready.worktrees.join(row.id.as_str()), row.id.as_str())
    }

    fn matter(looped: &Loop) -> Matter {
        matter(&looped.request, looped.shape.as_ref())
    }

    fn court(&self, looped: &Loop, row: &RunRow) -> Court<'_> {
        Court {
            repository: self.repository,
            settings: &self.how,
            launcher: launcher(&self.settings, row.host, &self.ready),
            host: row.host,
            prices: prices(&self.settings),
            matter: Self::matter(looped),
            plan: row.plan.clone(),
            run: Some(row.id.clone()),
            subject: Subject::Branch { grounds: self.grounds(row), base: row.base.clone() },
            mark: row.id.to_string(),
            stop: &self.stop,
        }
    }
}

/// Begins a loop from a spec, or from a request in words.
pub(super) fn begin(
    repository: &Repository,
    settings: &Settings,
    run: &super::Run,
    what: &Path,
    words: Option<&str>,
) -> Result<(), CommandError> {
    let root = &repository.place.root;
    let request = match words {
        Some(words) => Request::read(words, root)?,
        None => {
            // What does not compile is no spec, whatever it is worth.
            spec_file::compile(what)?;
            Request::of_file(what, root)?
        }
    };
    let host = run.flags.host.or(settings.run.host.value);
    let of_spec = request.spec.clone().unwrap_or_default();
    let ready = preflight(&repository.place, &settings.run, host, &of_spec, run.from_head)?;
    let mut loops = Loops::of(repository)?;
    let worktree = repository.place.worktree();
    if let Some(other) = loops.ledger().unfinished_runs()?.into_iter().find(|other| other.worktree == worktree) {
        return Err(under_way(&other));
    }
    if let Some(other) = loops.unfinished()?.filter(|other| !other.is_unclear()) {
        if !run.fresh {
            return Err(CommandError::needs_human(format!(
                "loop {} is not finished: {} ({})",
                other.id,
                other.request,
                other.stage.as_str()
            ))
            .hint("`steadfast resume` goes on with it; `steadfast loop status` shows how it stands")
            .hint("`--fresh` puts it away, with what was done kept, and begins this one"));
        }
        loops.archive(&other)?;
        note!("loop {} is put away; its plan and what was done stay", other.id);
    }
    let mut begun = loops.begin(&request)?;
    let Scores { spec, fit, autonomy } = begun.judged.scores;
    note!("loop {}: {}", begun.looped.id, begun.looped.request);
    note!("spec score {spec} of 10, fit {fit} of 75: {}", how(autonomy));
    for line in &begun.looped.recall_surfaced {
        note!("remembered: {line}");
    }
    if begun.looped.is_unclear() {
        let Some(why) = &run.overridden else { return Err(not_clear(&begun, std::io::stdin().is_terminal())) };
        begun.looped = loops.take_as_it_is(&begun.looped, why)?;
    }
    drop(loops);
    drive(repository, settings, &run.flags, begun.looped.id, ready)
}

/// Goes on with a loop where it is.
pub(in crate::commands) fn go_on(repository: &Repository, looped: Loop, flags: &Flags) -> Result<(), CommandError> {
    let settings = repository.config.load()?;
    let run = looped.run.as_ref().map(|run| repository.ledger()?.run(run).map_err(CommandError::from)).transpose()?;
    // Also while it is reviewed, when its run is over.
    if let Some(runner) = run.as_ref().and_then(|run| run.runner).filter(|runner| is_alive(*runner)) {
        return Err(gone_on_with(&looped.id, &format!(", by process {}", runner.pid)));
    }
    let host = flags.host.or(run.as_ref().map(|run| run.host)).or(settings.run.host.value);
    let base = looped.base.clone().unwrap_or_default();
    let ready = agent_and_folder(&repository.place, &settings.run, host, &base)?;
    if let Some(row) = run.filter(|run| !run.state.is_over()) {
        super::take_over(repository, &row, flags, ready.host)?;
    }
    note!("loop {}: goes on in the stage {}", looped.id, looped.stage.as_str());
    drive(repository, &settings, flags, looped.id, ready)
}

/// Whether it is worked on without a session: it has a run, or is not so far that it would have a plan.
pub(in crate::commands) fn is_headless(looped: &Loop) -> bool {
    looped.run.is_some() || looped.plan.is_none()
}

/// Ends it as it is, and its run.
pub(in crate::commands) fn give_up(repository: &Repository, looped: &Loop) -> Result<(), CommandError> {
    if let Some(run) = &looped.run {
        let row = repository.ledger()?.run(run)?;
        if !row.state.is_over() {
            super::give_up(repository, &row)?;
        }
    }
    repository.ledger()?.end_loop(&looped.id, LoopEnd::Archived, surroundings::now())?;
    tell!("loop {} is over", looped.id)
}

fn drive(
    repository: &Repository,
    settings: &Settings,
    flags: &Flags,
    id: LoopId,
    ready: Ready,
) -> Result<(), CommandError> {
    let _turn = lock_loop(&repository.place, &id)
        .map_err(|error| CommandError::failure(format!("loop {id} cannot be locked: {error}")))?
        .ok_or_else(|| gone_on_with(&id, ""))?;
    let stop = Arc::new(AtomicBool::new(false));
    watch_signals(&stop)?;
    let (how, approval_required) = (settings.looped.clone(), settings.approval_required.value);
    let (settings, owed) = (settings.run.clone(), Cell::new(Spent::default()));
    Drive { repository, settings, how, ready, flags, id, stop, approval_required, owed }.go()
}

fn gone_on_with(id: &LoopId, by: &str) -> CommandError {
    CommandError::failure(format!("loop {id} is under way{by}"))
        .hint("`steadfast loop status` shows how it stands; Ctrl-C in its terminal pauses it")
}

/// How far a loop goes between two pauses.
fn pauses(autonomy: Option<Autonomy>) -> Pauses {
    match autonomy {
        Some(Autonomy::Tool) => Pauses::Never,
        Some(Autonomy::ToolReview) => Pauses::EachWave,
        Some(Autonomy::Colleague | Autonomy::Blocked) | None => Pauses::EachUnit,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pauses {
    Never,
    EachWave,
    EachUnit,
}
