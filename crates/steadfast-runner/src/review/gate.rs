use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use steadfast_engine::goal::{Delta, DeltaOp, broken};
use steadfast_model::{Check, PlanId, Review, ReviewKind, Status, Task};
use steadfast_work::Repository;
use steadfast_work::task_list::{Recheck, RunTasks};

use super::subject::{Subject, Tip};
use crate::counsel::{Change, ChangeKind};
use crate::error::RunError;
use crate::gate::{Broken, Held, Objection, Rerun, Standing, Weak, judge};
use crate::weakened::{FileChange, weakened_by};

/// What the gate found.
#[derive(Clone, Debug)]
pub struct Judged {
    pub objections: Vec<Objection>,
    /// How many distinct checks were run on the final tree.
    pub checks: usize,
}

/// What the gate looks at. It asks nobody.
#[derive(Clone, Copy, Debug)]
pub struct GateLook<'a> {
    pub repository: &'a Repository,
    pub plan: &'a PlanId,
    pub subject: &'a Subject,
    pub must_nots: &'a [String],
    /// By which the processes of its checks are found.
    pub mark: &'a str,
    pub stop: &'a AtomicBool,
}

impl GateLook<'_> {
    /// Looks at the final tree, and says what there is to object to.
    pub fn objections(&self, reviews: &[Review]) -> Result<Judged, RunError> {
        let tip = self.subject.tip()?;
        let change = self.subject.change(self.subject.base(), &tip)?;
        let ledger = self.repository.ledger_as_it_is()?;
        let tasks = ledger.tasks(self.plan)?;
        let mut held = Vec::with_capacity(tasks.len());
        for task in &tasks {
            let evidence = ledger.evidence_of(self.plan, &task.id)?;
            let class = evidence.iter().rev().find(|evidence| evidence.passed).map(|evidence| evidence.class);
            held.push(Held {
                id: task.id.clone(),
                title: task.title.clone(),
                status: task.status,
                files: task.files.clone(),
                command: command(task).map(str::to_owned),
                class,
            });
        }
        drop(ledger);
        let reruns = self.run_again(&tasks, &tip)?;
        let thorough = reviews.iter().rev().find(|review| matches!(review.kind, ReviewKind::Thorough { .. }));
        let standing = Standing {
            tasks: held,
            reruns,
            blockers: thorough.and_then(|review| match (review.passed, review.blockers_remaining) {
                (true, _) => Some(0),
                (false, 0) => None,
                (false, blockers) => Some(blockers),
            }),
            broken: self.broken(&change),
            weakened: self.weakened(&change, &tip),
        };
        Ok(Judged { objections: judge(&standing), checks: standing.reruns.len() })
    }

    /// Each distinct check once, on the final tree.
    fn run_again(&self, tasks: &[Task], tip: &Tip) -> Result<BTreeMap<String, Rerun>, RunError> {
        const NAME: &str = "gate";
        let mut reruns = BTreeMap::new();
        let done = tasks.iter().filter(|task| task.status == Status::Done);
        let checked: Vec<(&Task, &str)> = done.filter_map(|task| Some((task, command(task)?))).collect();
        if checked.is_empty() {
            return Ok(reruns);
        }
        let folder = self.subject.lay_out(NAME, tip)?;
        let run_tasks = RunTasks::of(self.repository, self.mark.to_owned());
        for (task, command) in checked {
            if reruns.contains_key(command) {
                continue;
            }
            // An error is of the ledger, the disk or git, and says nothing about the work.
            let rerun = match run_tasks.check_again(&folder, self.plan, &task.id, self.stop)? {
                Recheck::Passed { .. } => Rerun::Passed,
                Recheck::Nothing | Recheck::Stopped => Rerun::Unknown,
                Recheck::Failed(evidence) => Rerun::Failed { output: evidence.output_tail.unwrap_or_default() },
            };
            reruns.insert(command.to_owned(), rerun);
        }
        self.subject.put_away(NAME)?;
        Ok(reruns)
    }

    /// Must-nots that the change breaks.
    fn broken(&self, change: &Change) -> Vec<Broken> {
        let lines: Vec<(Vec<&str>, Vec<&str>)> =
            change.files.iter().map(|file| (file.added().collect(), file.removed().collect())).collect();
        let deltas: Vec<Delta<'_>> = change
            .files
            .iter()
            .zip(&lines)
            .map(|(file, (added, removed))| Delta {
                path: &file.path,
                op: match (file.kind, &file.renamed_from) {
                    (ChangeKind::Deleted, _) => DeltaOp::Deleted,
                    (_, Some(before)) => DeltaOp::Renamed(before),
                    (_, None) => DeltaOp::Wrote,
                },
                added,
                removed,
            })
            .collect();
        let break_it = |must_not: &String| {
            let (file, done) = broken(must_not, &deltas)?;
            Some(Broken { must_not: must_not.clone(), file: file.to_owned(), done: done.to_owned() })
        };
        self.must_nots.iter().filter_map(break_it).collect()
    }

    fn weakened(&self, change: &Change, tip: &Tip) -> Vec<Weak> {
        let base = Tip::of(self.subject.base());
        let texts: Vec<(Option<String>, Option<String>)> = change
            .files
            .iter()
            .map(|file| {
                let was = file.renamed_from.as_deref().unwrap_or(&file.path);
                (self.subject.file_at(&base, was), self.subject.file_at(tip, &file.path))
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
}

fn command(task: &Task) -> Option<&str> {
    task.verify.as_ref().and_then(Check::as_command)
}
