//! A run from its first row in the ledger to its end: created, taken over, gone on with, given up.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_model::{Host, Limits, Millis, PlanId, Run, RunId, RunSettings, RunState, RunView, UnitStatus};
use steadfast_work::task_list::RunTasks;
use steadfast_work::{Repository, TaskList};

use crate::agent::end_left_behind;
use crate::error::RunError;
use crate::experts::ReviewBrief;
use crate::launch::{launcher, prices};
use crate::preflight::{self, Ready};
use crate::run::{Audience, Begin, RunOutcome, Until, is_alive, run, this_process};
use crate::worktrees::RunWorktrees;

/// A run, or a part of one.
#[derive(Debug)]
pub struct Leg<'a> {
    pub settings: &'a RunSettings,
    pub ready: &'a Ready,
    /// A human wants it to end: it is paused then.
    pub stop: &'a Arc<AtomicBool>,
    /// What a panel is told. None: none is held.
    pub panel_brief: Option<ReviewBrief>,
    pub until: Until,
}

/// A run that begins now.
pub fn new_run(list: &TaskList, plan: &PlanId, spec: String, ready: &Ready, limits: Limits) -> Run {
    let now = list.now();
    let id = new_id(&spec, now);
    Run {
        branch: format!("steadfast/{id}"),
        id,
        plan: plan.clone(),
        worktree: list.worktree().to_owned(),
        spec,
        host: ready.host,
        base: ready.base.clone(),
        state: RunState::Running,
        reason: None,
        limits,
        started_at: now,
        updated_at: now,
        ended_at: None,
        runner: Some(this_process()),
    }
}

/// Refuses where a run of this worktree is not over.
pub fn nothing_under_way(list: &TaskList) -> Result<(), RunError> {
    let other = list.ledger().unfinished_runs()?.into_iter().find(|run| run.worktree == list.worktree());
    match other {
        Some(other) => Err(RunError::NotOver { run: other.id, spec: other.spec }),
        None => Ok(()),
    }
}

/// Works a run off until it is complete or paused.
pub fn go(
    repository: &Repository,
    row: &Run,
    leg: Leg<'_>,
    audience: &mut dyn Audience,
) -> Result<RunOutcome, RunError> {
    let Leg { settings, ready, stop, panel_brief, until } = leg;
    let place = &repository.place;
    let ledger = repository.ledger()?;
    let tasks = Arc::new(RunTasks::of(repository, row.id.to_string()));
    let begin = Begin {
        plan_title: ledger.title_of(&row.plan)?,
        ledger,
        worktrees: worktrees(repository, row, ready),
        tasks: Arc::clone(&tasks),
        launcher: launcher(repository, settings, row.host, ready),
        prices: prices(settings),
        place: place.clone(),
        runner: this_process(),
        stop: Arc::clone(stop),
        panel_brief,
        until,
        run: row.clone(),
    };
    let ended = run(begin, audience);
    // What was blocked or given back since the last unit landed.
    tasks.render_decisions(&row.plan);
    ended.map_err(|source| RunError::Halted { run: row.id.clone(), source: Box::new(source) })
}

/// The branches and worktrees of a run.
pub fn worktrees(repository: &Repository, row: &Run, ready: &Ready) -> RunWorktrees {
    RunWorktrees::of(&repository.place.root, &ready.worktrees.join(row.id.as_str()), row.id.as_str())
}

/// From now on it is this process that runs it, with this host and these limits.
pub fn take_over(repository: &Repository, row: &Run, host: Host, limits: Option<Limits>) -> Result<Run, RunError> {
    nobody_runs(row)?;
    let mut ledger = repository.ledger()?;
    let now = repository.environment.now();
    if !ledger.take_run(&row.id, row.runner, this_process(), now)? {
        return Err(RunError::Contested(row.id.clone()));
    }
    let mut row = ledger.run(&row.id)?;
    row.host = host;
    if let Some(limits) = limits {
        row.limits = limits;
        ledger.set_limits(&row.id, limits, now)?;
    }
    Ok(row)
}

pub fn nobody_runs(row: &Run) -> Result<(), RunError> {
    match row.runner.filter(|runner| row.state == RunState::Running && is_alive(*runner)) {
        Some(runner) => Err(RunError::UnderWay { run: row.id.clone(), pid: runner.pid }),
        None => Ok(()),
    }
}

/// Ends a run as it is: its branch and what was done stay.
pub fn give_up(repository: &Repository, row: &Run, settings: &RunSettings) -> Result<(), RunError> {
    nobody_runs(row)?;
    let folder = preflight::worktrees(repository, settings)?.join(row.id.as_str());
    let mut ledger = repository.ledger()?;
    let (units, now) = (ledger.units(&row.id)?, repository.environment.now());
    for unit in &units {
        end_left_behind(&format!("{}/{}", row.id, unit.unit), unit.agent);
    }
    end_left_behind(row.id.as_str(), None);
    let worktrees = RunWorktrees::of(&repository.place.root, &folder, row.id.as_str());
    worktrees
        .unlock()
        .and_then(|()| worktrees.clear())
        .map_err(|error| RunError::Halted { run: row.id.clone(), source: Box::new(error.into()) })?;
    for plan in units.iter().filter_map(|unit| unit.plan.as_ref()) {
        ledger.drop_unit(plan, now)?;
    }
    ledger.set_run_state(&row.id, RunState::Stopped, Some("a human gave it up"), now)?;
    Ok(())
}

/// As it really is: where the process of a run is gone, its agents end too, and no unit is at work.
pub fn as_it_is(mut view: RunView) -> RunView {
    let runs = view.run.state == RunState::Running && view.run.runner.is_some_and(is_alive);
    for unit in view.units.iter_mut().filter(|unit| !runs && !unit.agent.is_some_and(is_alive)) {
        if matches!(unit.status, UnitStatus::Running | UnitStatus::Merging) {
            unit.status = UnitStatus::Waiting;
            unit.note = Some("interrupted: the process of the run is gone".to_owned());
        }
    }
    view
}

/// The named run, or the newest of this worktree that is not over.
pub fn find(repository: &Repository, named: Option<&str>) -> Result<Option<Run>, RunError> {
    let ledger = repository.ledger()?;
    match named {
        Some(id) => Ok(Some(ledger.run(&RunId::new(id))?)),
        None => {
            let worktree = repository.place.worktree();
            Ok(ledger.unfinished_runs()?.into_iter().find(|run| run.worktree == worktree))
        }
    }
}

/// The named run, or the newest of this worktree, over or not.
pub fn last(repository: &Repository, named: Option<&str>) -> Result<Option<Run>, RunError> {
    match named {
        Some(_) => find(repository, named),
        None => Ok(repository.ledger()?.runs_of(&repository.place.worktree())?.into_iter().next()),
    }
}

/// `r-1a2b3c4d`: of the moment, this process and the spec.
fn new_id(source: &str, now: Millis) -> RunId {
    let (now, pid) = (now.0.to_le_bytes(), std::process::id().to_le_bytes());
    let hash = steadfast_model::fnv([now.as_slice(), &pid, source.as_bytes()]);
    RunId::new(format!("r-{:08x}", (hash ^ (hash >> 32)) as u32))
}
