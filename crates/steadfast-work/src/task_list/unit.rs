//! The tasks of a run: loaded into the worktree of a unit, closed there by their checks, and checked again before the
//! merge.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use steadfast_model::{
    AddedBy, Check, CheckEnd, Evidence, EvidenceClass, EvidenceSubject, Fact, Millis, PlanId, RunId, RunUnit, Status,
    Task, TaskId, TaskKind,
};
use steadfast_observe::GitCommand;
use steadfast_store::Place;
use steadfast_store::ledger::{Baseline, Ledger, NewTask, UnitLoading};
use steadfast_text::count;

use super::decisions::PlanContext;
use super::{CloseOptions, CloseOutcome, DoneOn, SLICE, TaskError, TaskList, files, how};
use crate::disk;
use crate::error::{Cause, WorkError, chain};
use crate::{Environment, Repository};

/// The work that a unit has to do again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rework {
    /// A task whose check failed on the result of the merge.
    pub reopen: Option<TaskId>,
    /// Files with conflict markers. Resolving them becomes a task.
    pub conflict: Vec<String>,
}

/// The plan of a unit's worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedUnit {
    pub plan: PlanId,
    /// In the order in which they are closed.
    pub tasks: Vec<TaskId>,
    /// True if one of them is open.
    pub is_open: bool,
    pub context: PlanContext,
}

/// The result of closing a task of a unit.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitTaskOutcome {
    Done,
    Open {
        why: String,
        /// The end of the output of its check.
        output: String,
    },
    /// The agent, or its check, needs a human.
    NeedsHuman(String),
    /// The wait for its check was stopped.
    Stopped,
}

/// The result of running a check again.
#[derive(Clone, Debug, PartialEq)]
pub enum Recheck {
    /// The task has no command to run.
    Nothing,
    Passed {
        /// The tree on which it passed, if known.
        tree: Option<String>,
    },
    Failed(Evidence),
    /// The wait for the check was stopped.
    Stopped,
}

/// Limit of commands that are tried before any work. All checks of a large spec could take as long as the run.
const TRIED: usize = 32;

/// The tasks of a run, in all its worktrees.
#[derive(Debug)]
pub struct RunTasks {
    /// The folder of the state, which all worktrees share.
    state: PathBuf,
    /// The checkout in which the run was started.
    root: PathBuf,
    environment: Environment,
    /// The mark by which the processes of the run are found.
    mark: String,
    /// Ledgers that are not in use. They are kept open, because opening one takes longer than most uses of it.
    ledgers: Mutex<Vec<Ledger>>,
}

impl RunTasks {
    pub fn of(repository: &Repository, mark: String) -> Self {
        let Place { state, root } = repository.place.clone();
        Self { state, root, environment: repository.environment.clone(), mark, ledgers: Mutex::default() }
    }

    /// Loads the tasks of a unit as the plan of its worktree, with the work to do again.
    pub fn load(&self, run: &RunId, unit: &RunUnit, worktree: &Path, rework: &Rework) -> Result<LoadedUnit, WorkError> {
        self.at(worktree, |list| self.put(list, run, unit, rework))
    }

    /// Closes a task of the plan in this worktree, as `steadfast task done` does. `stop` ends the waiting. An error
    /// says nothing about the task: the ledger, the disk or git failed.
    pub fn close(&self, worktree: &Path, task: &TaskId, stop: &AtomicBool) -> Result<UnitTaskOutcome, WorkError> {
        self.at(worktree, |list| self.close_in(list, task, stop))
    }

    /// Runs the check of a task again on the files in `folder`, and records the result as evidence of the task.
    pub fn check_again(
        &self,
        folder: &Path,
        plan: &PlanId,
        task: &TaskId,
        stop: &AtomicBool,
    ) -> Result<Recheck, WorkError> {
        match self.at(folder, |list| list.check_again(plan, task, stop))? {
            None => Ok(Recheck::Nothing),
            Some(CloseOutcome::Done { evidence, .. }) => {
                Ok(Recheck::Passed { tree: evidence.and_then(|evidence| evidence.tree) })
            }
            Some(CloseOutcome::Failed { evidence, .. }) => {
                self.about_the_work(folder, task, evidence).map(Recheck::Failed)
            }
            Some(CloseOutcome::Running { .. }) => Ok(Recheck::Stopped),
        }
    }

    /// Checks the done tasks of a plan on the files in `folder`. Changes no task.
    pub fn done_on(&self, folder: &Path, plan: &PlanId, stop: &AtomicBool) -> Result<DoneOn, WorkError> {
        self.at(folder, |list| list.hold_here(plan, stop))
    }

    /// Reports the open tasks of a plan whose check passes on the files in `folder` before any work.
    pub fn passing_already(
        &self,
        folder: &Path,
        plan: &PlanId,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Vec<TaskId>),
    ) -> Result<(), WorkError> {
        self.at(folder, |list| list.passing_already(plan, TRIED, stop, tell))
    }

    /// The done tasks of a run's plan that another run did on a branch which is not merged into `checkout`.
    pub fn done_elsewhere(&self, checkout: &Path, plan: &PlanId, run: &RunId) -> Result<Vec<TaskId>, WorkError> {
        self.at(checkout, |list| {
            let elsewhere = list.unmerged_tasks_but(plan, Some(run))?;
            let tasks = list.ledger().tasks(plan)?.into_iter();
            let is_there = |task: &Task| task.status == Status::Done && elsewhere.tasks.contains(&task.id);
            Ok(tasks.filter(|task| is_there(task) && task.kind != TaskKind::Decision).map(|task| task.id).collect())
        })
    }

    /// Returns true if the done tasks of a plan may fail on a tree, because the evidence of one is about another tree.
    pub fn is_about_other_tree(&self, checkout: &Path, plan: &PlanId, tree: &str) -> Result<bool, WorkError> {
        self.at(checkout, |list| {
            let done: BTreeSet<TaskId> = {
                let tasks = list.ledger().tasks(plan)?.into_iter();
                tasks.filter(|task| task.status == Status::Done).map(|task| task.id).collect()
            };
            let evidence = list.ledger().evidence(plan)?;
            let is_other = |last: &Evidence| {
                !last.passed || last.subject() != EvidenceSubject::Nothing && last.tree.as_deref() != Some(tree)
            };
            Ok(evidence.iter().any(|(task, last)| done.contains(task) && is_other(last)))
        })
    }

    /// Closes the decision task of a phase without an agent, with the decisions so far. Returns a few words about them.
    pub fn write_decisions(&self, plan: &PlanId, task: &TaskId) -> Result<String, WorkError> {
        self.at(&self.root, |list| {
            // Decisions in the file count as much as those in the ledger.
            list.render_decisions_of(plan);
            let phase = list.ledger().task(plan, task)?.phase;
            let decisions = list.ledger().decisions(plan)?;
            let summary = match decisions.iter().filter(|decision| decision.phase == phase).count() {
                0 => "nothing decided".to_owned(),
                decided => count(decided, "decision"),
            };
            let evidence = Evidence::without_run(EvidenceClass::Observed, true, summary.clone(), self.now());
            list.ledger_mut().record(plan, task, &evidence)?;
            list.render_decisions_of(plan);
            Ok(summary)
        })
    }

    /// Updates the decisions file in the checkout of the run. Ignores errors, because the ledger has all decisions.
    pub fn render_decisions(&self, plan: &PlanId) {
        let _ = self.at(&self.root, |list| {
            list.render_decisions_of(plan);
            Ok(())
        });
    }

    /// Removes the data kept for a worktree that is about to be removed.
    pub fn leave(&self, worktree: &Path) {
        files::forget_tree(worktree, &self.state);
    }

    pub fn now(&self) -> Millis {
        self.environment.now()
    }

    /// A moment as the human reads it.
    pub fn moment(&self, at: Millis) -> String {
        self.environment.moment(at)
    }

    pub fn clock(&self) -> fn() -> Millis {
        self.environment.clock
    }

    pub(super) fn state(&self) -> &Path {
        &self.state
    }

    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Calls `work` with the tasks of a worktree.
    fn at<T>(&self, worktree: &Path, work: impl FnOnce(&mut TaskList) -> Result<T, WorkError>) -> Result<T, WorkError> {
        let place = Place { state: self.state.clone(), root: worktree.to_owned() };
        let free = self.ledgers().pop();
        let mut list = TaskList::of_run(place, self.environment.clone(), &self.mark, free)?;
        let worked = work(&mut list);
        self.ledgers().push(list.into_ledger());
        worked
    }

    fn ledgers(&self) -> MutexGuard<'_, Vec<Ledger>> {
        self.ledgers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, list: &mut TaskList, run: &RunId, unit: &RunUnit, rework: &Rework) -> Result<LoadedUnit, WorkError> {
        let now = self.now();
        let whole = list.ledger().run(run)?.plan;
        let (mut paths, mut needs_tree) = (Vec::new(), false);
        for task in &unit.tasks {
            let Task { files, verify, .. } = list.ledger().task(&whole, task)?;
            needs_tree |= files.is_empty() && verify.is_none();
            paths.extend(files);
        }
        let files = match files::ids(&list.place().root, &paths, files::ONE_TASK) {
            Fact::Known(ids) => ids,
            // With an empty list, every file would count as changed.
            Fact::Unknown(why) => return Err(TaskError::NotSeen { task: unit.unit.clone(), why }.into()),
            Fact::NotAsked => files::Ids::new(),
        };
        let tree = match needs_tree.then(|| files::tree(&list.place().root, &self.state)) {
            Some(Fact::Unknown(why)) => return Err(TaskError::NotSeen { task: unit.unit.clone(), why }.into()),
            Some(Fact::Known(tree)) => Some(tree),
            Some(Fact::NotAsked) | None => None,
        };
        let baseline = Baseline { files, tree };
        let worktree = list.worktree().to_owned();
        let loading = UnitLoading {
            run,
            unit: &unit.unit,
            tasks: &unit.tasks,
            worktree: &worktree,
            title: &unit.title,
            stuck: unit.stuck,
            baseline: &baseline,
            now,
        };
        let plan = list.ledger_mut().load_unit(&loading)?;
        if let Some(task) = &rework.reopen {
            list.reopen(&plan, task)?;
        }
        let settle = settling(unit, &rework.conflict);
        // The task may be there already, if the agent that had to resolve the conflict was stopped.
        let asked = |task: &Task| task.status != Status::Done && task.title == settle.title;
        if !rework.conflict.is_empty() && !list.ledger().tasks(&plan)?.iter().any(asked) {
            list.ledger_mut().add_task(&plan, settle, now)?;
        }
        let mut tasks: Vec<Task> = list.ledger().tasks(&plan)?;
        let is_open = tasks.iter().any(|task| task.status != Status::Done);
        // The conflict comes first, because other checks prove nothing before it is resolved.
        tasks.sort_by_key(|task| {
            let place = unit.tasks.iter().position(|id| *id == task.id);
            place.map_or(0, |place| place + 1)
        });
        let context = PlanContext::of(list, &whole, &plan)?;
        list.render_decisions_of(&plan);
        Ok(LoadedUnit { plan, tasks: tasks.into_iter().map(|task| task.id).collect(), is_open, context })
    }

    fn close_in(&self, list: &mut TaskList, id: &TaskId, stop: &AtomicBool) -> Result<UnitTaskOutcome, WorkError> {
        let task = list.find(id)?;
        if task.status == Status::Blocked {
            let why =
                list.blocked()?.into_iter().find(|blocked| blocked.task == *id).and_then(|blocked| blocked.reason);
            return Ok(UnitTaskOutcome::NeedsHuman(why.unwrap_or_else(|| "the agent set it aside".to_owned())));
        }
        if task.status == Status::Done {
            if self.is_fresh(list, &task) {
                return Ok(UnitTaskOutcome::Done);
            }
            let again = list.check_again(&task.plan, id, stop);
            if let Ok(Some(CloseOutcome::Failed { task, .. })) = &again {
                // The next agent finds it open.
                list.reopen(&task.plan, id)?;
            }
            return self.closed(list, id, again);
        }
        if task.verify.is_none() {
            // Only the agent can claim that it is done, and it did not.
            let why = format!("it has no check, and the agent did not close it with `steadfast task done {id}`");
            return Ok(UnitTaskOutcome::Open { why, output: String::new() });
        }
        let asked = CloseOptions { patience: SLICE, ..CloseOptions::default() };
        let closing = list.done(id, &asked).and_then(|closing| list.wait_to_the_end(closing, stop));
        self.closed(list, id, closing.map(Some))
    }

    fn closed(
        &self,
        list: &TaskList,
        id: &TaskId,
        closing: Result<Option<CloseOutcome>, WorkError>,
    ) -> Result<UnitTaskOutcome, WorkError> {
        match closing {
            Ok(None | Some(CloseOutcome::Done { .. })) => Ok(UnitTaskOutcome::Done),
            Ok(Some(CloseOutcome::Running { .. })) => Ok(UnitTaskOutcome::Stopped),
            Ok(Some(CloseOutcome::Failed { evidence, .. })) => {
                let evidence = self.about_the_work(&list.place().root, id, evidence)?;
                let output = evidence.output_tail.clone().unwrap_or_default();
                // The task's number means nothing to a reader of the run's plan.
                let added = list.find(id).ok().filter(|task| task.kind == TaskKind::Remediation);
                let why = match added {
                    Some(task) => format!("\"{}\": {}", task.title, how(&evidence)),
                    None => how(&evidence),
                };
                Ok(UnitTaskOutcome::Open { why, output })
            }
            Err(error) => match error.cause() {
                Cause::Infrastructure => Err(error),
                Cause::NeedsHuman => Ok(UnitTaskOutcome::NeedsHuman(chain(&error))),
                Cause::Refused | Cause::NotFound | Cause::State | Cause::Input => {
                    Ok(UnitTaskOutcome::Open { why: chain(&error), output: String::new() })
                }
            },
        }
    }

    /// Returns evidence of a failed check, or an error if the failure says nothing about the work: the supervisor died,
    /// the check could not be started, git did not answer, or the disk is full.
    fn about_the_work(&self, folder: &Path, task: &TaskId, evidence: Evidence) -> Result<Evidence, WorkError> {
        match evidence.end {
            CheckEnd::Lost | CheckEnd::NotStarted => {
                return Err(TaskError::CheckLost { task: task.clone(), how: how(&evidence) }.into());
            }
            CheckEnd::Looked => {
                if let Fact::Unknown(why) = files::tree(folder, &self.state) {
                    return Err(TaskError::NotSeen { task: task.clone(), why }.into());
                }
            }
            _ => {}
        }
        for folder in [folder, &self.state] {
            if let Ok(disk::Room::NearlyFull) = disk::room(folder) {
                return Err(TaskError::DiskFull { task: task.clone(), folder: folder.to_owned() }.into());
            }
        }
        Ok(evidence)
    }

    /// Returns true if the evidence is about the current files.
    fn is_fresh(&self, list: &TaskList, task: &Task) -> bool {
        if !matches!(task.verify, Some(Check::Command { .. })) {
            return true;
        }
        let evidence = list.ledger().evidence_of(&task.plan, &task.id).ok().and_then(|mut all| all.pop());
        let Some(Evidence { passed: true, tree: Some(tree), .. }) = evidence else { return false };
        if committed(&list.place().root).as_ref() == Some(&tree) {
            return true;
        }
        matches!(files::tree(&list.place().root, &self.state), Fact::Known(now) if now == tree)
    }
}

/// The tree of the last commit, if the worktree is clean. Faster than computing the tree of the files.
fn committed(root: &Path) -> Option<String> {
    let status = GitCommand::at(root).call("status").args(["--porcelain", "--untracked-files=normal"]);
    let is_clean = status.answer(files::ONE_TASK).ok()?.is_empty();
    let tree = || GitCommand::at(root).call("rev-parse").args(["HEAD^{tree}"]).answer(files::ONE_TASK).ok();
    if is_clean { tree() } else { None }
}

/// The beginning of the check of a conflict; the files follow.
pub const MARKERS: &str = "! grep -nE '^(<<<<<<<|>>>>>>>) ' -- ";

/// A task to resolve a conflict, done when no marker is left.
fn settling(unit: &RunUnit, files: &[String]) -> NewTask {
    let quoted: Vec<String> = files.iter().map(|file| format!("'{}'", file.replace('\'', "'\\''"))).collect();
    let command = format!("{MARKERS}{}", quoted.join(" "));
    let title = format!("Settle the conflict of {} with what landed meanwhile", unit.unit);
    NewTask {
        kind: TaskKind::Remediation,
        files: files.to_vec(),
        verify: Some(Check::command(command)),
        ..NewTask::new(title, AddedBy::Human)
    }
}
