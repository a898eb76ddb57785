//! The life of a run: created, taken over, resumed, abandoned.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_model::{
    Host, Limits, Millis, PlanId, Run, RunId, RunSettings, RunState, RunUnit, RunView, Status, Task, TaskId, UnitStatus,
};
use steadfast_work::task_list::RunTasks;
use steadfast_work::{Repository, TaskList};

use crate::agent::end_left_behind;
use crate::error::RunError;
use crate::experts::ReviewBrief;
use crate::launch::Launcher;
use crate::preflight::{self, Ready};
use crate::run::{Audience, Begin, RunOutcome, Until, is_alive, run, this_process};
use crate::worktrees::RunWorktrees;

/// The input for one stretch of a run, from its start or resume to the next pause.
#[derive(Debug)]
pub struct Leg<'a> {
    pub settings: &'a RunSettings,
    pub ready: &'a Ready,
    /// Set when a human stops the run; the run then pauses.
    pub stop: &'a Arc<AtomicBool>,
    /// The common part of a panel's prompts. `None`: no panels.
    pub panel_brief: Option<ReviewBrief>,
    pub until: Until,
}

/// Creates the row of a new run.
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

/// Fails if this worktree has an unfinished run.
pub fn refuse_if_unfinished(list: &TaskList) -> Result<(), RunError> {
    let other = list.ledger().unfinished_runs()?.into_iter().find(|run| run.worktree == list.worktree());
    match other {
        Some(other) => Err(RunError::NotOver { run: other.id, spec: other.spec }),
        None => Ok(()),
    }
}

/// Runs until every task is done or the run pauses.
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
        launcher: Launcher::of_run(repository, settings, row, ready)?,
        place: place.clone(),
        runner: this_process(),
        stop: Arc::clone(stop),
        panel_brief,
        until,
        run: row.clone(),
    };
    let ended = run(begin, audience);
    // Decisions of tasks that were blocked or returned since the last unit landed.
    tasks.render_decisions(&row.plan);
    ended.map_err(|source| RunError::Halted { run: row.id.clone(), source: Box::new(source) })
}

pub fn worktrees(repository: &Repository, row: &Run, ready: &Ready) -> RunWorktrees {
    RunWorktrees::of(&repository.place.root, &ready.worktrees.join(row.id.as_str()), row.id.as_str())
}

/// Makes this process the runner of a run, with this host and these limits.
pub fn take_over(repository: &Repository, row: &Run, host: Host, limits: Option<Limits>) -> Result<Run, RunError> {
    refuse_if_running(row)?;
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

pub fn refuse_if_running(row: &Run) -> Result<(), RunError> {
    match row.runner.filter(|runner| row.state == RunState::Running && is_alive(*runner)) {
        Some(runner) => Err(RunError::UnderWay { run: row.id.clone(), pid: runner.pid }),
        None => Ok(()),
    }
}

/// Ends a run for good. Its branch and its finished work stay.
pub fn give_up(repository: &Repository, row: &Run, settings: &RunSettings) -> Result<(), RunError> {
    refuse_if_running(row)?;
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
    ledger.set_run_state(&row.id, RunState::Stopped, Some("abandoned by a human"), now)?;
    Ok(())
}

/// Corrects a view whose runner is gone: its agents end too, so no unit is at work.
pub fn as_it_is(mut view: RunView) -> RunView {
    let runs = view.run.state == RunState::Running && view.run.runner.is_some_and(is_alive);
    for unit in view.units.iter_mut().filter(|unit| !runs && !unit.agent.is_some_and(is_alive)) {
        if matches!(unit.status, UnitStatus::Running | UnitStatus::Merging) {
            unit.status = UnitStatus::Waiting;
            unit.note = Some("interrupted: the process of the run ended".to_owned());
        }
    }
    view
}

/// Returns the blocked tasks that keep a run from going on: each unit that is left has one, or depends on one. Empty: some
/// unit can start. `tasks`: all tasks of the plan.
pub fn stuck<'a>(units: &[RunUnit], tasks: &'a [Task]) -> Vec<&'a TaskId> {
    let of_units: HashSet<&TaskId> = units.iter().flat_map(|unit| &unit.tasks).collect();
    let blocked: Vec<&TaskId> = tasks
        .iter()
        .filter(|task| task.status == Status::Blocked && of_units.contains(&task.id))
        .map(|task| &task.id)
        .collect();
    let open: Vec<&Task> = tasks.iter().filter(|task| task.status != Status::Done).collect();
    let mut held: HashSet<&TaskId> = blocked.iter().copied().collect();
    loop {
        let depends = |task: &&&Task| !held.contains(&task.id) && task.blocked_by.iter().any(|id| held.contains(id));
        let more: Vec<&TaskId> = open.iter().filter(depends).map(|task| &task.id).collect();
        if more.is_empty() {
            break;
        }
        held.extend(more);
    }
    let is_open: HashSet<&TaskId> = open.iter().map(|task| &task.id).collect();
    let is_left = |unit: &&RunUnit| unit.tasks.iter().any(|task| is_open.contains(task));
    let is_held = |unit: &RunUnit| unit.tasks.iter().any(|task| held.contains(task));
    if units.iter().filter(is_left).all(is_held) { blocked } else { Vec::new() }
}

/// Returns the named run, or the newest unfinished one of this worktree.
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

/// Returns the named run, or the newest one of this worktree, finished or not.
pub fn last(repository: &Repository, named: Option<&str>) -> Result<Option<Run>, RunError> {
    match named {
        Some(_) => find(repository, named),
        None => Ok(repository.ledger()?.runs_of(&repository.place.worktree())?.into_iter().next()),
    }
}

/// Returns `r-1a2b3c4d`, a hash of the time, this process and the spec.
fn new_id(source: &str, now: Millis) -> RunId {
    let (now, pid) = (now.0.to_le_bytes(), std::process::id().to_le_bytes());
    let hash = steadfast_model::fnv([now.as_slice(), &pid, source.as_bytes()]);
    RunId::new(format!("r-{:08x}", (hash ^ (hash >> 32)) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress;

    fn task(id: &str, status: Status, after: &[&str]) -> Task {
        progress::tests::task(id, id, status, after)
    }

    fn unit(tasks: &[&str]) -> RunUnit {
        let ids: Vec<TaskId> = tasks.iter().map(|id| TaskId::new(*id)).collect();
        RunUnit::new(ids[0].clone(), String::new(), ids, 1)
    }

    #[test]
    fn a_run_is_stuck_if_all_that_is_left_waits_for_a_blocked_task() {
        use Status::{Blocked, Done, Pending};
        let units = [unit(&["1.1", "1.1a"]), unit(&["1.2"]), unit(&["2.1"])];
        let tasks = |second: Status, third: &[&str]| {
            [
                task("1.1", Blocked, &[]),
                task("1.1a", Pending, &["1.1"]),
                task("1.2", second, &[]),
                task("2.0", Pending, &["1.1a"]),
                task("2.1", Pending, third),
            ]
        };
        let named = |tasks: &[Task]| stuck(&units, tasks).iter().map(|id| id.to_string()).collect::<Vec<_>>();
        assert_eq!(named(&tasks(Done, &["2.0"])), ["1.1"]);
        assert_eq!(named(&tasks(Pending, &["2.0"])), [""; 0], "1.2 can start");
        assert_eq!(named(&tasks(Done, &["1.2"])), [""; 0], "2.1 can start");
        assert_eq!(named(&[task("1.1", Done, &[])]), [""; 0], "nothing is blocked");
    }
}
