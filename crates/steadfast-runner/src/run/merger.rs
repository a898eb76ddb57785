//! Lands units, in a thread of its own because checks can be slow. Units that queue up meanwhile land together if
//! their checks pass together: each gets its own commit, and the branch moves over all of them at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};

use steadfast_model::{Evidence, PlanId, TaskId};
use steadfast_work::task_list::Recheck;
use steadfast_work::{WorkError, chain};

use super::message::{Merged, Message, Open};
use crate::worktrees::{Candidate, Landing, Merge, RunWorktrees, WorktreeError};

/// Attempts per candidate, if the branch moves meanwhile. Only the merger should move it.
const TRIES: u32 = 3;

/// The most units that land together. A larger group delays the report of a failing unit.
const TOGETHER: usize = 16;

/// Runs the check of a task on the files in a folder.
pub(crate) type CheckAgain = dyn Fn(&Path, &PlanId, &TaskId, &AtomicBool) -> Result<Recheck, WorkError> + Send + Sync;

/// A unit whose checks passed in its worktree.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) unit: TaskId,
    /// The plan of the unit's worktree. Its tasks have the checks.
    pub(crate) plan: PlanId,
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) landing: Landing,
}

pub(crate) struct Merger {
    /// The commit that the run started at.
    pub(crate) base: String,
    pub(crate) worktrees: RunWorktrees,
    pub(crate) check_again: Box<CheckAgain>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Merger {
    /// Runs until the channel closes.
    pub(crate) fn run(&self, arrivals: &Receiver<Arrival>, tell: &Sender<Message>) {
        let mut tip: Option<String> = None;
        while let Ok(first) = arrivals.recv() {
            let mut waiting = vec![first];
            let mut decided = Vec::new();
            let mut known = EvidenceScope::OwnTree;
            // Before the first landing, an earlier runner may have landed units that this one does not know of. Those
            // cases are checked one by one.
            if let Some(onto) = &tip {
                waiting.extend(arrivals.try_iter().take(TOGETHER - 1));
                if waiting.len() > 1 {
                    decided = self.land_together(&waiting, onto);
                    // A failed group may have laid out files that never land, so evidence from it does not count.
                    known = EvidenceScope::Nothing;
                }
            }
            for (unit, merged) in decided {
                if let Merged::Landed(commit) = &merged {
                    tip = Some(commit.clone());
                }
                waiting.retain(|arrival| arrival.unit != unit);
                if tell.send(Message::Merged(unit, merged)).is_err() {
                    return;
                }
            }
            for arrival in waiting {
                let landed = self.land(&arrival, known, &mut tip);
                let merged = landed.unwrap_or_else(|error| Merged::Trouble(error.to_string()));
                if tell.send(Message::Merged(arrival.unit, merged)).is_err() {
                    return;
                }
            }
        }
    }

    /// Decides about several units at once. Units without a result are decided one by one.
    fn land_together(&self, arrivals: &[Arrival], onto: &str) -> Vec<(TaskId, Merged)> {
        // An error here occurs again for the single unit, and is reported then.
        match self.land_chain(arrivals, onto) {
            Ok(Chain::Landed(landed)) => {
                landed.into_iter().map(|(unit, commit)| (unit, Merged::Landed(commit))).collect()
            }
            Ok(Chain::Stopped) => arrivals.iter().map(|arrival| (arrival.unit.clone(), Merged::Stopped)).collect(),
            Ok(Chain::Undecided) | Err(_) => Vec::new(),
        }
    }

    /// Makes a commit for each unit that merges cleanly with those before it, and runs all checks on the files of the
    /// last one. The branch can only become that last commit.
    fn land_chain(&self, arrivals: &[Arrival], onto: &str) -> Result<Chain, WorktreeError> {
        let mut chain: Vec<(&Arrival, Candidate)> = Vec::new();
        for arrival in arrivals {
            let merge = match chain.last() {
                None => self.worktrees.candidate(&arrival.landing)?,
                Some((_, before)) => self.worktrees.candidate_after(before, &arrival.landing)?,
            };
            if let Merge::Clean(candidate) = merge {
                chain.push((arrival, candidate));
            }
        }
        let [(_, first), .., (_, last)] = chain.as_slice() else { return Ok(Chain::Undecided) };
        if first.onto != onto {
            return Ok(Chain::Undecided);
        }
        let whole = Candidate { commit: last.commit.clone(), onto: first.onto.clone(), same_tree: false };
        let folder = self.worktrees.lay_out(&whole)?;
        let mut trees = BTreeSet::new();
        for (arrival, _) in &chain {
            match self.check(arrival, &folder, &mut trees) {
                None => {}
                Some(Merged::Stopped) => return Ok(Chain::Stopped),
                Some(_) => return Ok(Chain::Undecided),
            }
        }
        // A check left changes behind, so the next one ran on other files than those that would land.
        if trees.len() > 1 || !self.worktrees.is_as_laid_out()? {
            return Ok(Chain::Undecided);
        }
        if !self.worktrees.land(&whole)? {
            return Ok(Chain::Undecided);
        }
        Ok(Chain::Landed(
            chain.into_iter().map(|(arrival, candidate)| (arrival.unit.clone(), candidate.commit)).collect(),
        ))
    }

    /// `tip` is where this merger left the branch.
    fn land(&self, arrival: &Arrival, known: EvidenceScope, tip: &mut Option<String>) -> Result<Merged, WorktreeError> {
        for _ in 0..TRIES {
            let candidate = match self.worktrees.candidate(&arrival.landing)? {
                Merge::Clean(candidate) => candidate,
                Merge::Conflict(files) => return Ok(Merged::Conflict(files)),
            };
            if tip.as_ref() != Some(&candidate.onto) {
                // An earlier runner may have landed the unit just before it died.
                let mut landed = self.worktrees.landed(&self.base)?.into_iter();
                if let Some((_, commit)) = landed.find(|(unit, _)| *unit == arrival.landing.unit) {
                    return Ok(Merged::Landed(commit));
                }
                *tip = Some(candidate.onto.clone());
            }
            let is_known = candidate.same_tree && known == EvidenceScope::OwnTree;
            if !is_known
                && let Some(instead) = self.check(arrival, &self.worktrees.lay_out(&candidate)?, &mut BTreeSet::new())
            {
                return Ok(instead);
            }
            if self.worktrees.land(&candidate)? {
                *tip = Some(candidate.commit.clone());
                return Ok(Merged::Landed(candidate.commit));
            }
        }
        Ok(Merged::Trouble(format!("another process moves `{}`", self.worktrees.branch())))
    }

    /// Runs the checks of a unit on a candidate, laid out in `folder`. `None`: all passed, on these trees.
    fn check(&self, arrival: &Arrival, folder: &Path, trees: &mut BTreeSet<Option<String>>) -> Option<Merged> {
        for task in &arrival.tasks {
            match (self.check_again)(folder, &arrival.plan, task, &self.stop) {
                Ok(Recheck::Nothing) => {}
                Ok(Recheck::Passed { tree }) => {
                    trees.insert(tree);
                }
                Ok(Recheck::Stopped) => return Some(Merged::Stopped),
                Ok(Recheck::Failed(evidence)) => return Some(Merged::Fails(failure(task, evidence))),
                Err(error) => return Some(Merged::Trouble(chain(&error))),
            }
        }
        None
    }
}

/// The files that a unit's evidence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EvidenceScope {
    /// The files of its worktree.
    OwnTree,
    Nothing,
}

/// The result of landing several units at once.
enum Chain {
    /// The merge commits, in the order of the branch.
    Landed(Vec<(TaskId, String)>),
    Stopped,
    Undecided,
}

fn failure(task: &TaskId, evidence: Evidence) -> Open {
    let command = evidence.command.as_deref().unwrap_or("its check");
    let why = format!("`{command}` passes in this worktree, but fails together with what landed meanwhile");
    Open { task: task.clone(), why, output: evidence.output_tail.unwrap_or_default() }
}

#[cfg(test)]
mod tests;
