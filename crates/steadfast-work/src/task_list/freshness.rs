//! Finds done tasks whose evidence is stale in this checkout, and checks them again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use steadfast_model::{
    Check, CheckEnd, Evidence, EvidenceClass, EvidenceSubject, Fact, Freshness, PlanId, SeenFile, Status, Task, TaskId,
    freshness,
};
use steadfast_observe::Checkout;
use steadfast_store::ledger::StoredProof;

use super::unmerged::UnmergedTasks;
use super::{CloseOptions, CloseOutcome, TaskError, TaskList, files};
use crate::error::{Cause, WorkError};

/// The last evidence of a task, compared with the current files.
#[derive(Clone, Debug)]
pub struct Proof {
    pub evidence: Evidence,
    /// True if its subject changed since. `None` if that is unknown, or if the evidence is not about this checkout.
    pub stale: Option<bool>,
    /// The unmerged branch with the work, if a run did the task.
    pub branch: Option<String>,
}

/// The result for stale tasks that share a check.
#[derive(Debug)]
pub enum Rechecked {
    /// The check passed: these tasks are done here.
    Renewed { what: String, tasks: Vec<TaskId> },
    /// The check failed: these tasks are open again.
    Reopened { tasks: Vec<TaskId>, evidence: Box<Evidence> },
    /// The check is still running.
    Running { tasks: Vec<TaskId> },
    /// The check changed since the plan was loaded, so a human has to decide.
    Refused { tasks: Vec<TaskId>, error: WorkError },
    /// Only a new picture can prove it.
    NeedsArtifact(TaskId),
}

/// A done task that fails on a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotHeld {
    pub task: TaskId,
    /// One line.
    pub why: String,
    /// The end of the output of its check.
    pub output: String,
}

/// The result of checking the done tasks of a plan on a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoneOn {
    All,
    Not(Vec<NotHeld>),
    /// The wait for a check was stopped.
    Stopped,
}

impl TaskList {
    /// The last evidence of each of these tasks of one plan.
    pub fn proofs(&self, tasks: &[Task]) -> Result<Vec<Option<Proof>>, WorkError> {
        let Some(first) = tasks.first() else { return Ok(Vec::new()) };
        let mut evidence = self.ledger.evidence(&first.plan)?;
        let elsewhere = self.unmerged_tasks(&first.plan)?;
        let look = Look::at(self, tasks, &evidence, &elsewhere);
        let proof = |task: &Task| {
            let evidence = evidence.remove(&task.id)?;
            let branch = elsewhere.tasks.contains(&task.id).then(|| elsewhere.branch.clone());
            let is_here = task.status == Status::Done && branch.is_none();
            let stale = is_here.then(|| look.is_stale(task, &evidence)).flatten();
            Some(Proof { evidence, stale, branch })
        };
        Ok(tasks.iter().map(proof).collect())
    }

    /// The done tasks of the plan with stale evidence.
    pub fn stale(&self) -> Result<Vec<Task>, WorkError> {
        let tasks = self.all()?;
        let proofs = self.proofs(&tasks)?;
        let is_stale = |proof: &Option<Proof>| proof.as_ref().is_some_and(|proof| proof.stale == Some(true));
        Ok(tasks.into_iter().zip(proofs).filter(|(_, proof)| is_stale(proof)).map(|(task, _)| task).collect())
    }

    /// Runs each distinct check of the stale tasks once. A task whose check fails is open again.
    pub fn check_stale(&mut self, asked: &CloseOptions) -> Result<Vec<Rechecked>, WorkError> {
        if let Some(checked) = self.repository.environment.check.clone() {
            return Err(TaskError::ChecksInsideCheck { checked }.into());
        }
        let began = Instant::now();
        let mut found = Vec::new();
        let mut by_command: BTreeMap<String, Vec<Task>> = BTreeMap::new();
        let looks_changed = self.looks_changed()?;
        self.record_unchanged(looks_changed)?;
        for task in self.stale()? {
            self.refuse_if_in_run(&task)?;
            match task.verify.as_ref().and_then(Check::as_command) {
                Some(command) => by_command.entry(command.to_owned()).or_default().push(task),
                None => found.push(self.look_again(task)?),
            }
        }
        for (command, tasks) in by_command {
            let patience = asked.patience.saturating_sub(began.elapsed());
            found.push(self.recheck(command, tasks, &CloseOptions { patience, ..asked.clone() })?);
        }
        Ok(found)
    }

    /// The done tasks that look changed to the stop hook, which reads less than git, with their current files.
    fn looks_changed(&self) -> Result<Vec<(Task, Vec<SeenFile>)>, WorkError> {
        let Some(view) = self.view()? else { return Ok(Vec::new()) };
        let plan = view.id;
        let proofs = self.ledger.stored_proofs(&plan)?;
        let root = &self.repository.place.root;
        let checkout = Checkout::find(root);
        let is_changed = |proof: &StoredProof| match checkout.changed_since_seen(&proof.files, files::ONE_TASK) {
            Fact::Known(changed) => changed.contains(&true),
            Fact::Unknown(_) | Fact::NotAsked => false,
        };
        let changed: BTreeSet<TaskId> = proofs.into_iter().filter(is_changed).map(|proof| proof.task).collect();
        let tasks = self.ledger.tasks(&plan)?.into_iter().filter(|task| changed.contains(&task.id));
        let seen = |task: Task| {
            let Fact::Known(ids) = files::ids(root, &task.files, files::ONE_TASK) else { return None };
            let seen = files::seen(root, &task.files, &ids, self.now());
            Some((task, seen))
        };
        Ok(tasks.filter_map(seen).collect())
    }

    /// A new name in a folder may be a file that git ignores, which only git knows. If git finds no change, records the
    /// current files, so that the next stop finds no change either.
    fn record_unchanged(&mut self, looked: Vec<(Task, Vec<SeenFile>)>) -> Result<(), WorkError> {
        let Some(plan) = looked.first().map(|(task, _)| task.plan.clone()) else { return Ok(()) };
        let tasks: Vec<Task> = looked.iter().map(|(task, _)| task.clone()).collect();
        let proofs = self.proofs(&tasks)?;
        let holds = |((task, seen), proof): ((Task, Vec<SeenFile>), Option<Proof>)| {
            let is_fresh = proof.is_some_and(|proof| proof.stale == Some(false));
            (is_fresh && !seen.is_empty()).then_some((task.id, seen))
        };
        let hold: Vec<(TaskId, Vec<SeenFile>)> = looked.into_iter().zip(proofs).filter_map(holds).collect();
        Ok(self.ledger.see_again(&plan, &hold)?)
    }

    /// Checks a stale task whose check is not a command.
    fn look_again(&mut self, task: Task) -> Result<Rechecked, WorkError> {
        let Some(evidence) = self.looked_again(&task)? else { return Ok(Rechecked::NeedsArtifact(task.id)) };
        let (plan, id) = (task.plan.clone(), task.id.clone());
        self.ledger.record(&plan, &id, &evidence)?;
        if evidence.passed {
            let what = task.verify.as_ref().map(Check::describe).unwrap_or_default();
            return Ok(Rechecked::Renewed { what, tasks: vec![id] });
        }
        self.reopen_here(&task)?;
        Ok(Rechecked::Reopened { tasks: vec![id], evidence: Box::new(evidence) })
    }

    /// The done tasks with the same command. If it fails, they are open again, even if their own files did not change.
    fn closed_by(&self, command: &str) -> Result<Vec<Task>, WorkError> {
        let tasks = self.all()?;
        let proofs = self.proofs(&tasks)?;
        let is_it = |(task, proof): &(Task, Option<Proof>)| {
            task.status == Status::Done
                && task.verify.as_ref().and_then(Check::as_command) == Some(command)
                && proof.as_ref().is_some_and(|p| p.evidence.class == EvidenceClass::Executed && p.branch.is_none())
        };
        Ok(tasks.into_iter().zip(proofs).filter(is_it).map(|(task, _)| task).collect())
    }

    fn recheck(&mut self, command: String, tasks: Vec<Task>, asked: &CloseOptions) -> Result<Rechecked, WorkError> {
        let ids = || tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
        let Some(first) = tasks.first() else { return Ok(Rechecked::Renewed { what: command, tasks: Vec::new() }) };
        let closing = match self.check(first.clone(), &command, asked) {
            Err(error) if error.cause() == Cause::NeedsHuman => return Ok(Rechecked::Refused { tasks: ids(), error }),
            closing => closing?,
        };
        Ok(match closing {
            CloseOutcome::Done { .. } => {
                Rechecked::Renewed { what: format!("`{}` passed", super::short(&command)), tasks: ids() }
            }
            CloseOutcome::Running { .. } => Rechecked::Running { tasks: ids() },
            CloseOutcome::Failed { evidence, .. } => {
                if matches!(evidence.end, CheckEnd::Lost | CheckEnd::NotStarted) {
                    let how = super::how(&evidence);
                    return Err(TaskError::CheckLost { task: first.id.clone(), how }.into());
                }
                let mut failed = ids();
                let also = self.closed_by(&command)?.into_iter().filter(|task| !failed.contains(&task.id));
                let also: Vec<Task> = also.collect();
                for task in tasks.iter().chain(&also) {
                    self.reopen_here(task)?;
                }
                failed.extend(also.into_iter().map(|task| task.id));
                Rechecked::Reopened { tasks: failed, evidence: Box::new(evidence) }
            }
        })
    }

    /// Checks the done tasks of any plan on the files of this worktree. Runs each distinct stale check once, and
    /// changes no task.
    pub(super) fn hold_here(&mut self, plan: &PlanId, stop: &AtomicBool) -> Result<DoneOn, WorkError> {
        let tasks: Vec<Task> =
            self.ledger.tasks(plan)?.into_iter().filter(|task| task.status == Status::Done).collect();
        let evidence = self.ledger.evidence(plan)?;
        let look = Look::at(self, &tasks, &evidence, &UnmergedTasks::default());
        let is_stale =
            |task: &Task| evidence.get(&task.id).is_some_and(|last| look.is_stale(task, last) != Some(false));
        let stale: Vec<Task> = tasks.iter().filter(|task| is_stale(task)).cloned().collect();
        let mut failed = Vec::new();
        let mut ran: BTreeMap<String, Option<NotHeld>> = BTreeMap::new();
        for task in stale {
            let command = task.verify.as_ref().and_then(Check::as_command).map(str::to_owned);
            let said = match (&command, command.as_ref().and_then(|command| ran.get(command))) {
                (Some(_), Some(said)) => said.clone(),
                (Some(_), None) => match self.check_again(plan, &task.id, stop)? {
                    Some(CloseOutcome::Running { .. }) => return Ok(DoneOn::Stopped),
                    Some(CloseOutcome::Failed { evidence, .. }) => Some(not_held(&task, &evidence)),
                    Some(CloseOutcome::Done { .. }) | None => None,
                },
                // A picture proves nothing about files that changed since.
                (None, _) => match self.looked_again(&task)? {
                    Some(evidence) if evidence.passed => None,
                    Some(evidence) => Some(not_held(&task, &evidence)),
                    None => Some(NotHeld {
                        task: task.id.clone(),
                        why: "its files changed since its picture was taken".to_owned(),
                        output: String::new(),
                    }),
                },
            };
            if let Some(command) = command {
                ran.insert(command, said.clone());
            }
            failed.extend(said.map(|said| NotHeld { task: task.id.clone(), ..said }));
        }
        Ok(if failed.is_empty() { DoneOn::All } else { DoneOn::Not(failed) })
    }

    /// Opens a done task whose check failed, and tells its session.
    pub(super) fn reopen_here(&mut self, task: &Task) -> Result<(), WorkError> {
        self.reopen(&task.plan, &task.id)?;
        self.render_decisions();
        Ok(())
    }

    /// Renews the evidence of every done task with the command that passed.
    pub(super) fn renew(&mut self, plan: &PlanId, checked: &TaskId, passed: &Evidence) -> Result<(), WorkError> {
        let (Some(command), EvidenceClass::Executed) = (passed.command.as_deref(), passed.class) else { return Ok(()) };
        let is_like_it = |task: &Task| {
            task.id != *checked
                && task.status == Status::Done
                && task.verify.as_ref().and_then(Check::as_command) == Some(command)
        };
        let tasks: Vec<Task> = self.ledger.tasks(plan)?.into_iter().filter(is_like_it).collect();
        if tasks.is_empty() {
            return Ok(());
        }
        let evidence = self.ledger.evidence(plan)?;
        let look = Look::at(self, &tasks, &evidence, &UnmergedTasks::default());
        let root = &self.repository.place.root;
        let mut renewed = Vec::new();
        for task in tasks {
            let Some(last) = evidence.get(&task.id) else { continue };
            if look.is_stale(&task, last) != Some(true) {
                continue;
            }
            let Fact::Known(ids) = files::ids(root, &task.files, files::ONE_TASK) else { continue };
            renewed.push((
                task.id,
                Evidence {
                    seen: files::seen(root, &task.files, &ids, passed.at),
                    files: ids,
                    output_tail: None,
                    note: Some(format!("the same check passed for {checked}")),
                    ..passed.clone()
                },
            ));
        }
        Ok(self.ledger.record_all(plan, &renewed)?)
    }
}

fn not_held(task: &Task, evidence: &Evidence) -> NotHeld {
    let output = evidence.output_tail.clone().unwrap_or_default();
    NotHeld { task: task.id.clone(), why: super::how(evidence), output }
}

/// The current files, read once for many tasks.
struct Look<'a> {
    list: &'a TaskList,
    ids: Fact<files::Ids>,
    tree: std::cell::OnceCell<Fact<String>>,
}

impl<'a> Look<'a> {
    fn at(
        list: &'a TaskList,
        tasks: &[Task],
        evidence: &BTreeMap<TaskId, Evidence>,
        elsewhere: &UnmergedTasks,
    ) -> Self {
        let here = tasks.iter().filter(|task| task.status == Status::Done && !elsewhere.tasks.contains(&task.id));
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for task in here {
            let about = evidence.get(&task.id).filter(|evidence| evidence.subject() == EvidenceSubject::Files);
            if let Some(evidence) = about {
                paths.extend(evidence.files.keys().chain(&task.files).cloned());
            }
        }
        let paths: Vec<String> = paths.into_iter().collect();
        let ids = files::ids(&list.repository.place.root, &paths, files::A_LISTING);
        Self { list, ids, tree: std::cell::OnceCell::new() }
    }

    /// `None` if unknown.
    fn is_stale(&self, task: &Task, evidence: &Evidence) -> Option<bool> {
        if !evidence.passed {
            // The task was closed, but its check has failed since.
            return Some(true);
        }
        let changed = |subject| match (subject, &self.ids) {
            (EvidenceSubject::Nothing, _) => Fact::Known(false),
            (EvidenceSubject::Files, Fact::Known(now)) => Fact::Known(files::differ(&task.files, &evidence.files, now)),
            (EvidenceSubject::Files, _) => Fact::Unknown(String::new()),
            (EvidenceSubject::Everything, _) => self.tree_changed(evidence),
        };
        match freshness(evidence.subject(), changed) {
            Freshness::Holds => Some(false),
            Freshness::Stale => Some(true),
            Freshness::Unknown => None,
        }
    }

    fn tree_changed(&self, evidence: &Evidence) -> Fact<bool> {
        let place = &self.list.repository.place;
        let Some(before) = &evidence.tree else { return Fact::Unknown("its tree is not known".into()) };
        match self.tree.get_or_init(|| files::tree(&place.root, &place.state)) {
            Fact::Known(now) => Fact::Known(now != before),
            Fact::Unknown(why) => Fact::Unknown(why.clone()),
            Fact::NotAsked => Fact::NotAsked,
        }
    }
}
