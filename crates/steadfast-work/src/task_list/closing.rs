//! Closes tasks: by a check, by other evidence, by the agent's claim, or by a human.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steadfast_check::definition::{Definition, DefinitionPart, PartState, define};
use steadfast_hosts::Sandbox;
use steadfast_model::{AddedBy, Check, CheckEnd, Evidence, EvidenceClass, Millis, PlanId, Status, Task, TaskId};
use steadfast_store::ledger::{Changed, Claiming, Recorded};

use super::checking::CheckAttempt;
use super::{TaskError, TaskList};
use crate::error::WorkError;

/// Time that `task done` and `task wait` wait for a check: less than the time limit that hosts give a command.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Interval at which a process that waits to the end checks for a request to stop.
pub const SLICE: Duration = Duration::from_secs(1);

/// Options for closing a task.
#[derive(Clone, Debug)]
pub struct CloseOptions {
    /// A picture that shows the result.
    pub artifact: Option<PathBuf>,
    /// A human closes the task whatever its check says.
    pub force: bool,
    /// A human accepts the current content of the check.
    pub accept_check: bool,
    pub patience: Duration,
    /// The sandbox for the check.
    pub sandbox: Option<Sandbox>,
}

impl Default for CloseOptions {
    fn default() -> Self {
        Self { artifact: None, force: false, accept_check: false, patience: PATIENCE, sandbox: None }
    }
}

/// The result of closing a task.
#[derive(Debug)]
pub enum CloseOutcome {
    Done {
        changed: Changed,
        evidence: Option<Evidence>,
    },
    /// The task stays open.
    Failed {
        task: Task,
        evidence: Evidence,
        same: u32,
    },
    Running {
        task: Task,
        since: Millis,
    },
}

impl TaskList {
    pub fn done(&mut self, id: &TaskId, asked: &CloseOptions) -> Result<CloseOutcome, WorkError> {
        let mut task = self.find(id)?;
        if let Some(checked) = self.repository.environment.check.clone() {
            return Err(TaskError::InsideCheck { task: id.clone(), checked }.into());
        }
        self.refuse_if_in_run(&task)?;
        if task.status == Status::Blocked && self.caller.is_agent() {
            return Err(TaskError::Blocked(id.clone()).into());
        }
        self.take(&task.plan, Claiming::UnlessHeld)?;
        if task.status == Status::Done {
            let evidence = self.ledger.evidence_of(&task.plan, id)?.pop();
            let is_claimed = evidence.as_ref().is_none_or(|evidence| evidence.class == EvidenceClass::Claimed);
            if asked.force && is_claimed {
                // The word of a human counts more than that of an agent.
                return self.force(task);
            }
            if self.stale()?.iter().any(|stale| stale.id == task.id) {
                return self.done_again(task, asked);
            }
            return Ok(CloseOutcome::Done { changed: Changed { from: Status::Done, task, earned: false }, evidence });
        }
        if asked.force {
            return self.force(task);
        }
        self.may_build(&task)?;
        self.refuse_if_waiting(&task)?;
        self.begin_unit(&task)?;
        if task.status == Status::Blocked {
            task = self.change(id, Status::InProgress, None)?.task;
        }
        let evidence = match task.verify.clone() {
            Some(Check::Command { command, .. }) => return self.check(task, &command, asked),
            None => self.claimed(&task)?,
            Some(Check::Changed | Check::Written) => self.changed(&task)?,
            Some(Check::Artifact { .. }) => self.shown(&task, asked.artifact.as_deref())?,
            Some(Check::Decision) => {
                // Writes a missing decisions file again from the ledger.
                self.render_decisions();
                self.decided(&task)?
            }
            Some(Check::Skills { names }) => self.used(&task, &names)?,
        };
        self.record(task, evidence)
    }

    /// Checks a done task with stale evidence again, and opens it if the check fails.
    fn done_again(&mut self, task: Task, asked: &CloseOptions) -> Result<CloseOutcome, WorkError> {
        let closing = match task.verify.clone() {
            Some(Check::Command { command, .. }) => self.check(task, &command, asked)?,
            _ => {
                let evidence = match self.looked_again(&task)? {
                    Some(evidence) => evidence,
                    None => self.shown(&task, asked.artifact.as_deref())?,
                };
                self.record(task, evidence)?
            }
        };
        self.reopen_failed(&closing)?;
        Ok(closing)
    }

    /// Continues to wait for a running check.
    pub fn wait(&mut self, id: &TaskId, patience: Duration) -> Result<CloseOutcome, WorkError> {
        let task = self.find(id)?;
        let closing = self.wait_for(task, patience)?;
        self.reopen_failed(&closing)?;
        Ok(closing)
    }

    /// A failed check opens a done task again.
    fn reopen_failed(&mut self, closing: &CloseOutcome) -> Result<(), WorkError> {
        match closing {
            CloseOutcome::Failed { task, evidence, .. }
                if task.status == Status::Done && !matches!(evidence.end, CheckEnd::Lost | CheckEnd::NotStarted) =>
            {
                self.reopen_here(task)
            }
            _ => Ok(()),
        }
    }

    fn wait_for(&mut self, task: Task, patience: Duration) -> Result<CloseOutcome, WorkError> {
        let id = &task.id;
        let running = self.ledger.running(&task.plan)?.into_iter().find(|running| running.task == *id);
        let Some(running) = running else {
            let evidence = self.ledger.evidence_of(&task.plan, id)?.pop();
            return match evidence {
                Some(evidence) if task.status == Status::Done || !evidence.passed => Ok(self.recorded(task, evidence)?),
                _ => Err(TaskError::NoCheckRuns(id.clone()).into()),
            };
        };
        let run = CheckAttempt { plan: task.plan.clone(), task: id.clone(), name: running.name, mark: None };
        self.await_end(task, &run, running.started_at, patience)
    }

    /// Waits for the end of a check, however long it takes. `stop` ends the waiting, but not the check.
    pub fn wait_to_the_end(&mut self, mut closing: CloseOutcome, stop: &AtomicBool) -> Result<CloseOutcome, WorkError> {
        while let CloseOutcome::Running { task, since } = closing {
            if stop.load(Ordering::Relaxed) {
                return Ok(CloseOutcome::Running { task, since });
            }
            closing = self.wait_for(task, SLICE)?;
        }
        Ok(closing)
    }

    /// Runs the check of a task of any plan on the files of this worktree. Returns `None` if the task has no command.
    pub fn check_again(
        &mut self,
        plan: &PlanId,
        id: &TaskId,
        stop: &AtomicBool,
    ) -> Result<Option<CloseOutcome>, WorkError> {
        let task = self.ledger.task(plan, id)?;
        let Some(command) = task.verify.as_ref().and_then(Check::as_command).map(str::to_owned) else {
            return Ok(None);
        };
        let closing = self.check(task, &command, &CloseOptions { patience: SLICE, ..CloseOptions::default() })?;
        self.wait_to_the_end(closing, stop).map(Some)
    }

    fn force(&mut self, task: Task) -> Result<CloseOutcome, WorkError> {
        if self.caller.is_agent() {
            return Err(TaskError::ForcedByAgent(task.id).into());
        }
        if task.status == Status::Blocked {
            self.change(&task.id, Status::InProgress, None)?;
        }
        let evidence = self.looked(EvidenceClass::Forced, true, "a human closed it".into());
        self.record(task, evidence)
    }

    fn refuse_if_waiting(&self, task: &Task) -> Result<(), WorkError> {
        let mut open = Vec::new();
        for id in &task.blocked_by {
            if self.ledger.task(&task.plan, id)?.status != Status::Done {
                open.push(id.clone());
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        Err(TaskError::Waits { task: task.id.clone(), open }.into())
    }

    /// Runs the check of a task, or joins a run in progress.
    pub(super) fn check(&mut self, task: Task, command: &str, asked: &CloseOptions) -> Result<CloseOutcome, WorkError> {
        self.defined(&task, command, asked)?;
        let now = self.now();
        let run = CheckAttempt::new(&task.plan, &task.id, now, self.mark.clone());
        loop {
            match self.ledger.begin_check(&task.plan, &task.id, &run.name, now)? {
                Ok(()) => break,
                Err(other) => {
                    let other_run = CheckAttempt { name: other.name.clone(), ..run.clone() };
                    if !other_run.wait(&self.repository.place, Duration::ZERO) {
                        return self.await_end(task, &other_run, other.started_at, asked.patience);
                    }
                    // Its supervisor is gone; its result is in the ledger, or lost.
                    self.ledger.drop_check(&task.plan, &task.id, &other.name)?;
                }
            }
        }
        let began = Instant::now();
        match run.start(&self.repository.place, asked.sandbox.as_ref()) {
            Ok(started) => started.wait(asked.patience),
            Err(error) => {
                self.ledger.drop_check(&task.plan, &task.id, &run.name)?;
                return Err(error.into());
            }
        }
        self.await_end(task, &run, now, asked.patience.saturating_sub(began.elapsed()))
    }

    fn await_end(
        &mut self,
        task: Task,
        run: &CheckAttempt,
        since: Millis,
        patience: Duration,
    ) -> Result<CloseOutcome, WorkError> {
        if !run.wait(&self.repository.place, patience) {
            return Ok(CloseOutcome::Running { task, since });
        }
        let command = task.verify.as_ref().and_then(Check::as_command);
        let lost = Evidence {
            command: command.map(str::to_owned),
            end: CheckEnd::Lost,
            ..self.looked(EvidenceClass::Executed, false, "its supervisor is gone and left no result".into())
        };
        // Takes effect only if the supervisor recorded no result.
        self.ledger.record_run(&task.plan, &task.id, &run.name, &lost)?;
        let evidence = self.ledger.evidence_of(&task.plan, &task.id)?.pop().unwrap_or(lost);
        self.recorded(task, evidence)
    }

    /// The result in the ledger of a check that another process ran.
    fn recorded(&self, before: Task, evidence: Evidence) -> Result<CloseOutcome, WorkError> {
        let task = self.ledger.task(&before.plan, &before.id)?;
        if evidence.passed && task.status == Status::Done {
            let changed = Changed { from: before.status, task, earned: false };
            return Ok(CloseOutcome::Done { changed, evidence: Some(evidence) });
        }
        let same = self.ledger.same_failure(&task.plan, &task.id)?;
        Ok(CloseOutcome::Failed { task, evidence, same })
    }

    fn record(&mut self, task: Task, evidence: Evidence) -> Result<CloseOutcome, WorkError> {
        let Recorded { changed, same_failure } = self.ledger.record(&task.plan, &task.id, &evidence)?;
        if !evidence.passed {
            return Ok(CloseOutcome::Failed { task: changed.task, evidence, same: same_failure });
        }
        self.tell_owner(&changed)?;
        self.render_decisions();
        Ok(CloseOutcome::Done { changed, evidence: Some(evidence) })
    }

    /// Refuses a check that runs something else than it did when the plan was loaded.
    fn defined(&mut self, task: &Task, command: &str, asked: &CloseOptions) -> Result<(), WorkError> {
        let root = &self.repository.place.root;
        let now = define(root, root, command)
            .map_err(|source| TaskError::Undefined { command: command.to_owned(), source })?;
        let text = serde_json::to_string(&now).unwrap_or_default();
        let frozen = self.ledger.frozen(&task.plan, command)?;
        let before = frozen.as_deref().and_then(|text| serde_json::from_str::<Definition>(text).ok());
        let differences = match &before {
            Some(before) => {
                let [before, now] = [before, &now].map(|definition| without_work(definition, &task.files));
                before.difference(&now)
            }
            None => Vec::new(),
        };
        if before.is_some() && differences.is_empty() {
            return Ok(());
        }
        if before.is_none() || asked.accept_check {
            if asked.accept_check && self.caller.by == AddedBy::Agent {
                return Err(TaskError::AcceptedByAgent(task.id.clone()).into());
            }
            self.ledger.accept_definition(&task.plan, command, &text, self.now())?;
            return Ok(());
        }
        let evidence = Evidence {
            command: Some(command.to_owned()),
            end: CheckEnd::Redefined,
            ..self.looked(EvidenceClass::Executed, false, format!("check changed: {}", differences.join("; ")))
        };
        self.ledger.record(&task.plan, &task.id, &evidence)?;
        let (task, command) = (task.id.clone(), command.to_owned());
        Err(TaskError::CheckChanged { task, command, difference: differences.join("; ") }.into())
    }
}

/// Leaves out scripts that the task itself has to write: they are its work. The commands of a manifest stay.
fn without_work(definition: &Definition, files: &[String]) -> Definition {
    let is_work = |part: &DefinitionPart| {
        !matches!(part.state, PartState::Text(_)) && files.iter().any(|file| Path::new(&part.file).starts_with(file))
    };
    Definition { parts: definition.parts.iter().filter(|part| !is_work(part)).cloned().collect() }
}
