//! Landing units: a thread of its own, because a check may take long. Those that wait meanwhile land together, if they
//! pass their checks together: each with a commit of its own, and the branch moves over all of them at once.

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

/// How often the branch may move under a candidate: nobody else moves it, so this is for the unforeseen.
const TRIES: u32 = 3;

/// How many land together: the more there are, the later it is known of one that it fails.
const TOGETHER: usize = 16;

/// Runs the check of a task on the files in a folder.
pub(crate) type CheckAgain = dyn Fn(&Path, &PlanId, &TaskId, &AtomicBool) -> Result<Recheck, WorkError> + Send + Sync;

/// A unit whose checks passed in its worktree.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) unit: TaskId,
    /// The plan of the unit's worktree, whose tasks have the checks.
    pub(crate) plan: PlanId,
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) landing: Landing,
}

pub(crate) struct Merger {
    /// The commit the run began at.
    pub(crate) base: String,
    pub(crate) worktrees: RunWorktrees,
    pub(crate) check_again: Box<CheckAgain>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Merger {
    /// Until nobody sends any more.
    pub(crate) fn run(&self, arrivals: &Receiver<Arrival>, tell: &Sender<Message>) {
        let mut tip: Option<String> = None;
        while let Ok(first) = arrivals.recv() {
            let mut waiting = vec![first];
            let mut decided = Vec::new();
            let mut known = EvidenceScope::OwnTree;
            // Before one has landed we do not know what landed when another ran this: that is looked at alone.
            if let Some(onto) = &tip {
                waiting.extend(arrivals.try_iter().take(TOGETHER - 1));
                if waiting.len() > 1 {
                    decided = self.land_together(&waiting, onto);
                    // What a chain that did not land says of a unit is about files that do not land either.
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

    /// What is decided of several at once. Of whom nothing is said here, it is decided one by one.
    fn land_together(&self, arrivals: &[Arrival], onto: &str) -> Vec<(TaskId, Merged)> {
        // Whatever stands in the way is met again one by one, and said then.
        match self.land_chain(arrivals, onto) {
            Ok(Chain::Landed(landed)) => {
                landed.into_iter().map(|(unit, commit)| (unit, Merged::Landed(commit))).collect()
            }
            Ok(Chain::Stopped) => arrivals.iter().map(|arrival| (arrival.unit.clone(), Merged::Stopped)).collect(),
            Ok(Chain::Undecided) | Err(_) => Vec::new(),
        }
    }

    /// A commit for each that merges with those before it, and every check on the files of the last: nothing but those
    /// gets to be the branch.
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
        // A check that left something there: the next was about other files than those that would land.
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

    /// `tip` is where we left the branch.
    fn land(&self, arrival: &Arrival, known: EvidenceScope, tip: &mut Option<String>) -> Result<Merged, WorktreeError> {
        for _ in 0..TRIES {
            let candidate = match self.worktrees.candidate(&arrival.landing)? {
                Merge::Clean(candidate) => candidate,
                Merge::Conflict(files) => return Ok(Merged::Conflict(files)),
            };
            if tip.as_ref() != Some(&candidate.onto) {
                // Whoever ran this before may have landed it with the last thing it did.
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
        Ok(Merged::Trouble(format!("`{}` is moved by somebody else", self.worktrees.branch())))
    }

    /// Each check of a unit on what would land, which lies in `folder`. None: all passed, on these trees.
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

/// What the evidence of a unit that is to land is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EvidenceScope {
    /// The files of its worktree.
    OwnTree,
    Nothing,
}

/// What became of several that were to land at once.
enum Chain {
    /// With their merge commits, in the order of the branch.
    Landed(Vec<(TaskId, String)>),
    Stopped,
    Undecided,
}

fn failure(task: &TaskId, evidence: Evidence) -> Open {
    let command = evidence.command.as_deref().unwrap_or("its check");
    let why = format!("`{command}` passes in this worktree and fails together with what landed meanwhile");
    Open { task: task.clone(), why, output: evidence.output_tail.unwrap_or_default() }
}

#[cfg(test)]
mod tests;
