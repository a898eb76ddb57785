//! Closing a task: by its check, by what can be looked at, by the agent's word, or by a human's.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steadfast_check::artifact::{self, Artifact};
use steadfast_check::definition::{Definition, Part, State, define};
use steadfast_hosts::Sandbox;
use steadfast_model::{AddedBy, Check, CheckEnd, Evidence, EvidenceClass, Fact, Millis, PlanId, Status, Task, TaskId};
use steadfast_store::ledger::{Changed, Claiming, Recorded};

use super::checking::Run;
use super::{TaskError, TaskList, decisions, files, skills};
use crate::error::WorkError;

/// How long `task done` and `task wait` wait for a check: less than the hosts give a command.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// How often somebody who waits to the end looks whether the waiting is to be ended.
pub const SLICE: Duration = Duration::from_secs(1);

/// How a task is to be closed.
#[derive(Clone, Debug)]
pub struct Asked {
    /// A picture that shows it.
    pub artifact: Option<PathBuf>,
    /// A human takes it for done whatever its check says.
    pub force: bool,
    /// A human says yes to what the check runs by now.
    pub accept_check: bool,
    pub patience: Duration,
    /// Its check runs in there.
    pub sandbox: Option<Sandbox>,
}

impl Default for Asked {
    fn default() -> Self {
        Self { artifact: None, force: false, accept_check: false, patience: PATIENCE, sandbox: None }
    }
}

/// How that went.
#[derive(Debug)]
pub enum Closing {
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
    pub fn done(&mut self, id: &TaskId, asked: &Asked) -> Result<Closing, WorkError> {
        let mut task = self.find(id)?;
        if let Some(checked) = self.repository.environment.check.clone() {
            return Err(TaskError::InsideCheck { task: id.clone(), checked }.into());
        }
        self.is_nobodys(&task)?;
        if task.status == Status::Blocked && self.caller.is_agent() {
            return Err(TaskError::Blocked(id.clone()).into());
        }
        self.take(&task.plan, Claiming::UnlessHeld)?;
        if task.status == Status::Done {
            let evidence = self.ledger.evidence_of(&task.plan, id)?.pop();
            return Ok(Closing::Done { changed: Changed { from: Status::Done, task, earned: false }, evidence });
        }
        if asked.force {
            return self.force(task);
        }
        self.may_build(id)?;
        self.waits_for_nothing(&task)?;
        if task.status == Status::Blocked {
            task = self.change(id, Status::InProgress, None)?.task;
        }
        match task.verify.clone() {
            Some(Check::Command { command, .. }) => self.check(task, &command, asked),
            check => {
                // A file that is gone is there again, with what the ledger knows.
                if check == Some(Check::Decision) {
                    self.render_decisions();
                }
                let evidence = self.look_at(&task, check.as_ref(), asked)?;
                self.record(task, evidence)
            }
        }
    }

    /// Goes on waiting for a check that runs.
    pub fn wait(&mut self, id: &TaskId, patience: Duration) -> Result<Closing, WorkError> {
        let task = self.find(id)?;
        self.wait_for(task, patience)
    }

    fn wait_for(&mut self, task: Task, patience: Duration) -> Result<Closing, WorkError> {
        let id = &task.id;
        let running = self.ledger.running(&task.plan)?.into_iter().find(|running| running.task == *id);
        let Some(running) = running else {
            let evidence = self.ledger.evidence_of(&task.plan, id)?.pop();
            return match evidence {
                Some(evidence) if task.status == Status::Done || !evidence.passed => Ok(self.told(task, evidence)?),
                _ => Err(TaskError::NoCheckRuns(id.clone()).into()),
            };
        };
        let run = Run { plan: task.plan.clone(), task: id.clone(), name: running.name, mark: None };
        self.await_end(task, &run, running.started_at, patience)
    }

    /// Waits for the end of a check, however long it takes; `stop` ends the waiting, not the check.
    pub fn wait_to_the_end(&mut self, mut closing: Closing, stop: &AtomicBool) -> Result<Closing, WorkError> {
        while let Closing::Running { task, since } = closing {
            if stop.load(Ordering::Relaxed) {
                return Ok(Closing::Running { task, since });
            }
            closing = self.wait_for(task, SLICE)?;
        }
        Ok(closing)
    }

    /// Runs the check of a task of any plan on the files of this worktree. None: nothing is run for it.
    pub fn check_again(&mut self, plan: &PlanId, id: &TaskId, stop: &AtomicBool) -> Result<Option<Closing>, WorkError> {
        let task = self.ledger.task(plan, id)?;
        let Some(command) = task.verify.as_ref().and_then(Check::as_command).map(str::to_owned) else {
            return Ok(None);
        };
        let closing = self.check(task, &command, &Asked { patience: SLICE, ..Asked::default() })?;
        self.wait_to_the_end(closing, stop).map(Some)
    }

    /// Evidence for which nothing ran.
    fn looked(&self, class: EvidenceClass, passed: bool, note: String) -> Evidence {
        looked(self.now(), class, passed, note)
    }

    fn force(&mut self, task: Task) -> Result<Closing, WorkError> {
        if self.caller.is_agent() {
            return Err(TaskError::ForcedByAgent(task.id).into());
        }
        if task.status == Status::Blocked {
            self.change(&task.id, Status::InProgress, None)?;
        }
        let evidence = self.looked(EvidenceClass::Forced, true, "a human closed it".into());
        self.record(task, evidence)
    }

    fn waits_for_nothing(&self, task: &Task) -> Result<(), WorkError> {
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

    /// Runs the check of a task, or joins the run that is under way.
    fn check(&mut self, task: Task, command: &str, asked: &Asked) -> Result<Closing, WorkError> {
        self.defined(&task, command, asked)?;
        let now = self.now();
        let run = Run::new(&task.plan, &task.id, now, self.mark.clone());
        loop {
            match self.ledger.begin_check(&task.plan, &task.id, &run.name, now)? {
                Ok(()) => break,
                Err(other) => {
                    let other_run = Run { name: other.name.clone(), ..run.clone() };
                    if !other_run.wait(&self.repository.place, Duration::ZERO) {
                        return self.await_end(task, &other_run, other.started_at, asked.patience);
                    }
                    // Its supervisor is gone; whatever it had to say is in the ledger, or lost.
                    self.ledger.drop_check(&task.plan, &task.id, &other.name)?;
                }
            }
        }
        let began = Instant::now();
        match run.start(&self.repository.place, asked.sandbox.as_ref()) {
            Ok(begun) => begun.wait(asked.patience),
            Err(error) => {
                self.ledger.drop_check(&task.plan, &task.id, &run.name)?;
                return Err(error.into());
            }
        }
        self.await_end(task, &run, now, asked.patience.saturating_sub(began.elapsed()))
    }

    fn await_end(&mut self, task: Task, run: &Run, since: Millis, patience: Duration) -> Result<Closing, WorkError> {
        if !run.wait(&self.repository.place, patience) {
            return Ok(Closing::Running { task, since });
        }
        let command = task.verify.as_ref().and_then(Check::as_command);
        let lost = Evidence {
            command: command.map(str::to_owned),
            end: CheckEnd::Lost,
            ..self.looked(EvidenceClass::Executed, false, "whoever ran it is gone, and said nothing".into())
        };
        // Only if the supervisor did not get to it.
        self.ledger.record_run(&task.plan, &task.id, &run.name, &lost)?;
        let evidence = self.ledger.evidence_of(&task.plan, &task.id)?.pop().unwrap_or(lost);
        self.told(task, evidence)
    }

    /// What the ledger says after a check that another process ran.
    fn told(&self, before: Task, evidence: Evidence) -> Result<Closing, WorkError> {
        let task = self.ledger.task(&before.plan, &before.id)?;
        if evidence.passed && task.status == Status::Done {
            let changed = Changed { from: before.status, task, earned: false };
            return Ok(Closing::Done { changed, evidence: Some(evidence) });
        }
        let same = self.ledger.same_failure(&task.plan, &task.id)?;
        Ok(Closing::Failed { task, evidence, same })
    }

    fn record(&mut self, task: Task, evidence: Evidence) -> Result<Closing, WorkError> {
        let Recorded { changed, same_failure } = self.ledger.record(&task.plan, &task.id, &evidence)?;
        if !evidence.passed {
            return Ok(Closing::Failed { task: changed.task, evidence, same: same_failure });
        }
        self.tell_owner(&changed)?;
        self.render_decisions();
        Ok(Closing::Done { changed, evidence: Some(evidence) })
    }

    /// Refuses a check that runs something else than it did when the plan was loaded.
    fn defined(&mut self, task: &Task, command: &str, asked: &Asked) -> Result<(), WorkError> {
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

    /// What proves a task done without running anything.
    fn look_at(&self, task: &Task, check: Option<&Check>, asked: &Asked) -> Result<Evidence, WorkError> {
        match check {
            None => Ok(self.looked(EvidenceClass::Claimed, true, "it has no check".into())),
            Some(Check::Changed) => self.changed_since(task, &task.id, false),
            Some(Check::Written) => self.changed_since(task, &before_in_chain(task), true),
            Some(Check::Artifact { .. }) => self.shown(task, asked.artifact.as_deref()),
            Some(Check::Decision) => self.decided(task),
            Some(Check::Skills { names }) => self.used(task, names),
            Some(Check::Command { .. }) => unreachable!("a command is run, not looked at"),
        }
    }

    /// Whether its files are others than when `since` was started; `there`: and none is missing.
    fn changed_since(&self, task: &Task, since: &TaskId, there: bool) -> Result<Evidence, WorkError> {
        let started = self.ledger.started(&task.plan, since).ok().flatten();
        let ids = match files::ids(&self.repository.place.root, &task.files, files::ONE_TASK) {
            Fact::Known(ids) => ids,
            Fact::Unknown(why) => {
                return Ok(self.looked(
                    EvidenceClass::Observed,
                    false,
                    format!("its files cannot be looked at: {why}"),
                ));
            }
            Fact::NotAsked => files::Ids::new(),
        };
        let Some(started) = started else {
            let note = format!("it was never started, so nothing tells what changed: `steadfast task start {since}`");
            return Ok(self.looked(EvidenceClass::Observed, false, note));
        };
        if task.files.is_empty() {
            return Ok(self.tree_changed_since(started.tree.as_deref()));
        }
        let missing: Vec<&str> = ids.iter().filter(|(_, id)| id.is_none()).map(|(name, _)| name.as_str()).collect();
        let changed = files::changed(&started.files, &ids);
        let (passed, note) = if there && !missing.is_empty() {
            (false, format!("missing: {}", missing.join(", ")))
        } else if changed.is_empty() {
            (false, format!("none of its files changed since {}: {}", started.at, task.files.join(", ")))
        } else {
            (true, format!("changed: {}", some(&changed)))
        };
        Ok(Evidence { files: ids, ..self.looked(EvidenceClass::Observed, passed, note) })
    }

    fn tree_changed_since(&self, before: Option<&str>) -> Evidence {
        let place = &self.repository.place;
        match (before, files::tree(&place.root, &place.state)) {
            (Some(before), Fact::Known(now)) if before == now => {
                self.looked(EvidenceClass::Observed, false, "nothing changed since it was started".into())
            }
            (Some(_), Fact::Known(now)) => {
                Evidence { tree: Some(now), ..self.looked(EvidenceClass::Observed, true, "the tree changed".into()) }
            }
            (None, _) => self.looked(EvidenceClass::Claimed, true, "it names no files, and no tree was kept".into()),
            (_, Fact::Unknown(why)) => {
                self.looked(EvidenceClass::Observed, false, format!("the tree cannot be looked at: {why}"))
            }
            (_, Fact::NotAsked) => self.looked(EvidenceClass::Observed, false, "the tree was not looked at".into()),
        }
    }

    fn shown(&self, task: &Task, artifact: Option<&Path>) -> Result<Evidence, WorkError> {
        let Some(path) = artifact else {
            return Err(TaskError::NoArtifact(task.id.clone()).into());
        };
        let root = &self.repository.place.root;
        // As it is named from where the command was called.
        let full = self.repository.environment.cwd.join(path);
        let shows: Vec<&str> = task.files.iter().map(String::as_str).collect();
        Ok(match artifact::look(root, &full, &shows) {
            Ok(Artifact { kind, width, height, id, .. }) => {
                let note = format!("{}: {kind}, {width} × {height}, {id}", path.display());
                let mut evidence = self.looked(EvidenceClass::Artifact, true, note);
                if let Fact::Known(ids) = files::ids(root, &task.files, files::ONE_TASK) {
                    evidence.files = ids;
                }
                evidence
            }
            Err(error) => self.looked(EvidenceClass::Artifact, false, error.to_string()),
        })
    }

    fn decided(&self, task: &Task) -> Result<Evidence, WorkError> {
        let section = decisions::section_of(self, task)?;
        Ok(match section {
            Ok(lines) => self.looked(EvidenceClass::Observed, true, format!("{lines} in its section")),
            Err(missing) => self.looked(EvidenceClass::Observed, false, missing),
        })
    }

    fn used(&self, task: &Task, names: &[String]) -> Result<Evidence, WorkError> {
        let since = self.ledger.started(&task.plan, &task.id)?.map_or(task.created_at, |started| started.at);
        let session = self.caller.session.as_ref();
        Ok(match skills::used(&self.repository.place, session, names, since) {
            skills::Seen::All => self.looked(EvidenceClass::Observed, true, format!("used: {}", names.join(", "))),
            skills::Seen::Without(missing) => {
                let missing: Vec<String> = missing.into_iter().map(|name| format!("/{name}")).collect();
                self.looked(
                    EvidenceClass::Observed,
                    false,
                    format!("not used since it was started: {}", missing.join(", ")),
                )
            }
            skills::Seen::CannotTell(why) => self.looked(EvidenceClass::Claimed, true, why),
        })
    }
}

/// Evidence for which nothing ran.
fn looked(at: Millis, class: EvidenceClass, passed: bool, note: String) -> Evidence {
    Evidence {
        class,
        passed,
        end: CheckEnd::Looked,
        command: None,
        seconds: None,
        output_tail: None,
        tree: None,
        files: files::Ids::new(),
        note: Some(note),
        at,
    }
}

/// A script that the task is to write is its work, and no part of how it is checked. What a manifest runs is.
fn without_work(definition: &Definition, files: &[String]) -> Definition {
    let is_work = |part: &Part| {
        !matches!(part.state, State::Text(_)) && files.iter().any(|file| Path::new(&part.file).starts_with(file))
    };
    Definition { parts: definition.parts.iter().filter(|part| !is_work(part)).cloned().collect() }
}

/// `2.1` for `2.1a`: a generated task is named after the one before it.
fn before_in_chain(task: &Task) -> TaskId {
    TaskId::new(task.id.as_str().trim_end_matches(|c: char| c.is_ascii_lowercase()))
}

fn some(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
