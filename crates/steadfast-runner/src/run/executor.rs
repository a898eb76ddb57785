//! One dispatch of one unit: its worktree, its agent, its checks. The executor owns the process and the folder, and
//! reports to the dispatcher, which owns the state.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use steadfast_hosts::stream::AgentEvent;
use steadfast_model::{RunId, RunUnit, Spent, TaskId};
use steadfast_work::chain;
use steadfast_work::task_list::{LoadedUnit, Rework, RunTasks, UnitTaskOutcome};

use super::message::{Message, Open, Worked};
use super::prompt::{Before, Prompt};
use crate::agent::{AgentUpdate, Departed, Departure};
use crate::error::RunError;
use crate::experts::ReviewBrief;
use crate::launch::{Launcher, Post, Role, Start};
use crate::worktrees::RunWorktrees;

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) unit: RunUnit,
    pub(crate) before: Before,
    /// Landed work must be merged in first.
    pub(crate) bring_in: bool,
    pub(crate) share: Option<u64>,
    pub(crate) spent: PathBuf,
    pub(crate) log: PathBuf,
}

/// The settings that all dispatches of a run share.
pub(crate) struct RunContext {
    pub(crate) run: RunId,
    pub(crate) plan_title: String,
    pub(crate) worktrees: RunWorktrees,
    pub(crate) tasks: Arc<RunTasks>,
    pub(crate) launcher: Launcher,
    pub(crate) silence: Duration,
    pub(crate) unit_time: Duration,
    /// The folder for logs and marks.
    pub(crate) folder: PathBuf,
    /// The common part of a panel's prompts. `None`: no panels.
    pub(crate) panel_brief: Option<ReviewBrief>,
}

/// Runs a dispatch to its end, and reports how it went.
pub(crate) fn work(context: &RunContext, job: Job, stop: &AtomicBool, tell: &Sender<Message>) {
    let unit = job.unit.unit.clone();
    let worked = Dispatch { context, stop, tell, unit: &unit }.run(job);
    let worked = worked.unwrap_or_else(|error| Worked::trouble(chain(&error)));
    let _ = tell.send(Message::Worked(unit, Box::new(worked)));
}

pub(super) struct Dispatch<'a> {
    pub(super) context: &'a RunContext,
    pub(super) stop: &'a AtomicBool,
    pub(super) tell: &'a Sender<Message>,
    pub(super) unit: &'a TaskId,
}

impl Dispatch<'_> {
    fn run(&self, mut job: Job) -> Result<Worked, RunError> {
        let worktrees = &self.context.worktrees;
        let folder = worktrees.prepare(self.unit.as_str())?;
        // Left by an attempt whose runner died.
        let _ = fs::remove_file(&job.spent);
        if job.bring_in {
            // An unresolved merge of an earlier attempt must not be committed.
            if !worktrees.is_bringing_in(self.unit.as_str()) {
                self.save()?;
            }
            job.before.conflict = worktrees.bring_in(self.unit.as_str())?;
        }
        let reopen = job.before.failure.as_ref().map(|failure| failure.task.clone());
        let rework = Rework { reopen: reopen.filter(|_| job.bring_in), conflict: job.before.conflict.clone() };
        let loaded = self.context.tasks.load(&self.context.run, &job.unit, &folder, &rework)?;
        let _ = self.tell.send(Message::Loaded(self.unit.clone(), loaded.plan.clone()));
        // There is nothing for an agent to do: the landed work merged cleanly, or the runner died when all tasks were
        // done.
        let settled = rework == Rework::default() && !loaded.is_open;
        let departure = if settled {
            None
        } else {
            let taken = self.panel(&mut job)?;
            Some(self.agent(&job, &loaded, &folder, taken))
        };
        let _ = fs::remove_file(&job.spent);
        if matches!(&departure, Some(Departure { how: Departed::Stopped | Departed::NotStarted(_), .. })) {
            return Ok(Worked { departure, ..Worked::default() });
        }
        let _ = self.tell.send(Message::Checking(self.unit.clone()));
        self.check(departure, &loaded, &folder)
    }

    /// `taken` is the cost of this dispatch so far.
    fn agent(&self, job: &Job, loaded: &LoadedUnit, folder: &Path, taken: Spent) -> Departure {
        let LoadedUnit { tasks, context, .. } = loaded;
        let prompt = Prompt { plan: &self.context.plan_title, tasks, context, before: &job.before }.text();
        let mark = format!("{}/{}", self.context.run, self.unit);
        let share = job.share.map(|share| share.saturating_sub(taken.micro_usd.unwrap_or(0)));
        let start = Start { prompt: &prompt, share, spent: &job.spent, role: Role::Worker };
        let post = Post {
            directory: folder.to_owned(),
            mark,
            log: job.log.clone(),
            silence: self.context.silence,
            limit: self.context.unit_time,
        };
        self.context.launcher.attend(&start, post, self.stop, &mut |heard| {
            let heard = match heard {
                AgentUpdate::Event(AgentEvent::Spent(spent)) => {
                    AgentUpdate::Event(AgentEvent::Spent(taken.plus(spent)))
                }
                other => other,
            };
            let _ = self.tell.send(Message::Heard(self.unit.clone(), heard));
        })
    }

    /// Commits the work and closes each task by its check, whatever the agent reported.
    fn check(&self, departure: Option<Departure>, loaded: &LoadedUnit, folder: &Path) -> Result<Worked, RunError> {
        let mut worked = Worked { departure, ..Worked::default() };
        if let (Some(task), Some(why)) = (loaded.tasks.first(), self.changed_submodule()?) {
            worked.open = Some(Open { task: task.clone(), why, output: String::new() });
            return Ok(worked);
        }
        self.save()?;
        for task in &loaded.tasks {
            match self.context.tasks.close(folder, task, self.stop)? {
                UnitTaskOutcome::Done => worked.closed += 1,
                UnitTaskOutcome::Open { why, output } => {
                    worked.open = Some(Open { task: task.clone(), why, output });
                    return Ok(worked);
                }
                UnitTaskOutcome::NeedsHuman(why) => {
                    worked.needs_human = Some((task.clone(), why));
                    return Ok(worked);
                }
                UnitTaskOutcome::Stopped => {
                    worked.stopped = true;
                    return Ok(worked);
                }
            }
        }
        // Changes that a check made belong to the commit that it checked.
        worked.head = Some(self.commit()?);
        Ok(worked)
    }

    /// Returns the problem with changed submodules: the run's branch would lack what was checked.
    fn changed_submodule(&self) -> Result<Option<String>, RunError> {
        let changed = self.context.worktrees.changed_submodules(self.unit.as_str())?;
        Ok((!changed.is_empty()).then(|| {
            let names = changed.join(", ");
            format!("a run cannot change submodules, and this unit changed {names}: restore its commit and its files")
        }))
    }

    fn save(&self) -> Result<(), RunError> {
        Ok(self.context.worktrees.save(self.unit.as_str(), &self.message())?)
    }

    pub(super) fn commit(&self) -> Result<String, RunError> {
        Ok(self.context.worktrees.commit(self.unit.as_str(), &self.message())?)
    }

    fn message(&self) -> String {
        format!("Work on {}", self.unit)
    }
}
