use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use steadfast_engine::goal::{Delta, DeltaOp, broken};
use steadfast_model::{Check, PlanId, Review, ReviewKind, StatedCheck, Status, Task, Waiver};
use steadfast_work::Repository;
use steadfast_work::task_list::{Recheck, RunTasks};

use super::subject::{ReviewSubject, Tip};
use crate::error::RunError;
use crate::experts::{Diff, DiffKind};
use crate::gate::{Broken, GateInput, GateTask, Objection, Offence, Rerun, StatedRun, Weak, judge};
use crate::weakened::{FileChange, weakened_by};

/// The result of a gate.
#[derive(Clone, Debug)]
pub struct GateOutcome {
    pub objections: Vec<Objection>,
    /// Objections that a human waived, with the reason.
    pub waived: Vec<(Objection, String)>,
    /// The number of distinct checks that ran on the final tree.
    pub checks: usize,
    /// The checks from the human's own words, with their results.
    pub stated: Vec<StatedRun>,
}

/// The input of a gate. It needs no experts.
#[derive(Clone, Copy, Debug)]
pub struct GateLook<'a> {
    pub repository: &'a Repository,
    pub plan: &'a PlanId,
    pub subject: &'a ReviewSubject,
    pub must_nots: &'a [String],
    /// The checks from the human's own words.
    pub stated: &'a [StatedCheck],
    /// The objections that a human waived.
    pub waived: &'a [Waiver],
    pub spec: Option<&'a str>,
    /// The environment value that marks the processes of its checks.
    pub mark: &'a str,
    pub stop: &'a AtomicBool,
}

impl GateLook<'_> {
    /// Checks the final tree, and returns the objections to it.
    pub fn objections(&self, reviews: &[Review]) -> Result<GateOutcome, RunError> {
        let tip = self.subject.tip()?;
        let change = self.subject.change(self.subject.base(), &tip)?;
        let ledger = self.repository.ledger_as_it_is()?;
        let tasks = ledger.tasks(self.plan)?;
        let mut gate_tasks = Vec::with_capacity(tasks.len());
        for task in &tasks {
            let evidence = ledger.evidence_of(self.plan, &task.id)?;
            let class = evidence.iter().rev().find(|evidence| evidence.passed).map(|evidence| evidence.class);
            gate_tasks.push(GateTask {
                id: task.id.clone(),
                title: task.title.clone(),
                status: task.status,
                files: task.files.clone(),
                command: command(task).map(str::to_owned),
                class,
            });
        }
        drop(ledger);
        let (reruns, stated) = self.run_again(&tasks, &tip)?;
        let own: Vec<String> = self.spec.map(str::to_owned).into_iter().collect();
        let thorough = reviews.iter().rev().find(|review| matches!(review.kind, ReviewKind::Thorough { .. }));
        let input = GateInput {
            tasks: gate_tasks,
            reruns,
            blockers: thorough.and_then(|review| match (review.passed, review.blockers_remaining) {
                (true, _) => Some(0),
                (false, 0) => None,
                (false, blockers) => Some(blockers),
            }),
            base: self.subject.base().to_owned(),
            broken: broken_by(&change, self.must_nots, &own),
            own,
            weakened: weakened_in(self.subject, &change, &tip),
            stated,
        };
        let mut objections = judge(&input);
        let mut waived = Vec::new();
        objections.retain(|objection| {
            let waiver = self.waived.iter().find(|waiver| waiver.objection == objection.id());
            waived.extend(waiver.map(|waiver| (objection.clone(), waiver.why.clone())));
            waiver.is_none()
        });
        let checks =
            input.reruns.len() + input.stated.iter().filter(|run| !input.reruns.contains_key(&run.command)).count();
        Ok(GateOutcome { objections, waived, checks, stated: input.stated })
    }

    /// Runs each distinct check once on the final tree: those of the tasks, and the stated ones.
    fn run_again(&self, tasks: &[Task], tip: &Tip) -> Result<(BTreeMap<String, Rerun>, Vec<StatedRun>), RunError> {
        const NAME: &str = "gate";
        let mut reruns = BTreeMap::new();
        let done = tasks.iter().filter(|task| task.status == Status::Done);
        let checked: Vec<(&Task, &str)> = done.filter_map(|task| Some((task, command(task)?))).collect();
        if checked.is_empty() && self.stated.is_empty() {
            return Ok((reruns, Vec::new()));
        }
        let folder = self.subject.lay_out(NAME, tip)?;
        let run_tasks = RunTasks::of(self.repository, self.mark.to_owned());
        for (task, command) in checked {
            if reruns.contains_key(command) {
                continue;
            }
            // An error comes from the ledger, the disk or git, and says nothing about the work.
            let rerun = match run_tasks.check_again(&folder, self.plan, &task.id, self.stop)? {
                Recheck::Passed { .. } => Rerun::Passed,
                Recheck::Nothing | Recheck::Stopped => Rerun::Unknown,
                Recheck::Failed(evidence) => Rerun::Failed { output: evidence.output_tail.unwrap_or_default() },
            };
            reruns.insert(command.to_owned(), rerun);
        }
        let work: Vec<String> = tasks.iter().flat_map(|task| task.files.clone()).collect();
        let mut stated = Vec::with_capacity(self.stated.len());
        for check in self.stated {
            let end = run_tasks.check_stated(&folder, check, &work, self.stop)?;
            stated.push(StatedRun { command: check.command.clone(), said: check.said.clone(), end });
        }
        self.subject.remove_read_only(NAME)?;
        Ok((reruns, stated))
    }
}

/// The subject of an objection.
#[derive(Clone, Copy, Debug)]
pub enum Against<'a> {
    /// A must-not, and the files that it does not cover.
    MustNot { must_not: &'a str, own: &'a [String] },
    /// The tests of one file.
    Tests(&'a str),
}

/// Returns what remains of an objection in this checkout, since a commit. Empty: the objection no longer holds.
pub fn still_objects(repository: &Repository, base: &str, against: Against<'_>) -> Result<Vec<String>, RunError> {
    let subject = ReviewSubject::Checkout { place: repository.place.clone(), base: base.to_owned() };
    let tip = subject.tip()?;
    let change = subject.change(base, &tip)?;
    Ok(match against {
        Against::MustNot { must_not, own } => broken_by(&change, &[must_not.to_owned()], own)
            .into_iter()
            .flat_map(|broken| broken.files)
            .map(|offence| format!("`{}` {}", offence.file, offence.done))
            .collect(),
        Against::Tests(file) => weakened_in(&subject, &change, &tip)
            .into_iter()
            .filter(|weak| weak.file == file)
            .map(|weak| format!("{}:{}: {}", weak.file, weak.line, weak.text))
            .collect(),
    })
}

/// Returns the must-nots that the change breaks.
fn broken_by(change: &Diff, must_nots: &[String], own: &[String]) -> Vec<Broken> {
    let lines: Vec<(Vec<&str>, Vec<&str>)> =
        change.files.iter().map(|file| (file.added().collect(), file.removed().collect())).collect();
    let deltas: Vec<Delta<'_>> = change
        .files
        .iter()
        .zip(&lines)
        .map(|(file, (added, removed))| Delta {
            path: &file.path,
            op: match (file.kind, &file.renamed_from) {
                (DiffKind::Deleted, _) => DeltaOp::Deleted,
                (_, Some(before)) => DeltaOp::Renamed(before),
                (_, None) => DeltaOp::Wrote,
            },
            added,
            removed,
        })
        .collect();
    let break_it = |must_not: &String| {
        let offence = |(file, done): (&str, &str)| Offence { file: file.to_owned(), done: done.to_owned() };
        let files: Vec<Offence> = broken(must_not, &deltas, own).into_iter().map(offence).collect();
        (!files.is_empty()).then(|| Broken { must_not: must_not.clone(), files })
    };
    must_nots.iter().filter_map(break_it).collect()
}

fn weakened_in(subject: &ReviewSubject, change: &Diff, tip: &Tip) -> Vec<Weak> {
    let base = Tip::of(subject.base());
    let texts: Vec<(Option<String>, Option<String>)> = change
        .files
        .iter()
        .map(|file| {
            let was = file.renamed_from.as_deref().unwrap_or(&file.path);
            (subject.file_at(&base, was), subject.file_at(tip, &file.path))
        })
        .collect();
    let changes: Vec<FileChange<'_>> = change
        .files
        .iter()
        .zip(&texts)
        .map(|(file, (before, after))| FileChange {
            path: &file.path,
            was: file.renamed_from.as_deref(),
            before: before.as_deref(),
            after: after.as_deref(),
        })
        .collect();
    let weak = weakened_by(&changes).into_iter().map(|found| Weak {
        text: format!("{}: {}", found.kind.as_str(), found.text),
        line: u32::try_from(found.line).unwrap_or(u32::MAX),
        file: found.file,
    });
    weak.collect()
}

fn command(task: &Task) -> Option<&str> {
    task.verify.as_ref().and_then(Check::as_command)
}
