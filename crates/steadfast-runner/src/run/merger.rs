//! Landing units, one after the other: a thread of its own, because a check may take long.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};

use steadfast_model::{CheckEnd, Evidence, PlanId, TaskId};

use super::desk::Desk;
use super::message::{Merged, Message, Open};
use crate::grounds::{Candidate, Grounds, GroundsError, Landing, Merge};

/// How often the branch may move under a candidate: nobody else moves it, so this is for the unforeseen.
const TRIES: u32 = 3;

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
    pub(crate) grounds: Grounds,
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Merger {
    /// Until nobody sends any more.
    pub(crate) fn run(&self, arrivals: &Receiver<Arrival>, tell: &Sender<Message>) {
        let mut tip = None;
        for arrival in arrivals {
            let merged = self.land(&arrival, &mut tip).unwrap_or_else(|error| Merged::Trouble(error.to_string()));
            if tell.send(Message::Merged(arrival.unit, merged)).is_err() {
                return;
            }
        }
    }

    /// `tip` is where we left the branch.
    fn land(&self, arrival: &Arrival, tip: &mut Option<String>) -> Result<Merged, GroundsError> {
        for _ in 0..TRIES {
            let candidate = match self.grounds.candidate(&arrival.landing)? {
                Merge::Clean(candidate) => candidate,
                Merge::Conflict(files) => return Ok(Merged::Conflict(files)),
            };
            if tip.as_ref() != Some(&candidate.onto) {
                // Whoever ran this before may have landed it with the last thing it did.
                let mut landed = self.grounds.landed(&self.base)?.into_iter();
                if let Some((_, commit)) = landed.find(|(unit, _)| *unit == arrival.landing.unit) {
                    return Ok(Merged::Landed(commit));
                }
                *tip = Some(candidate.onto.clone());
            }
            if !candidate.same_tree
                && let Some(instead) = self.check(arrival, &candidate)?
            {
                return Ok(instead);
            }
            if self.grounds.land(&candidate)? {
                *tip = Some(candidate.commit.clone());
                return Ok(Merged::Landed(candidate.commit));
            }
        }
        Ok(Merged::Trouble(format!("`{}` is moved by somebody else", self.grounds.branch())))
    }

    /// Each check on what would land. None: all passed.
    fn check(&self, arrival: &Arrival, candidate: &Candidate) -> Result<Option<Merged>, GroundsError> {
        let folder = self.grounds.lay_out(candidate)?;
        for task in &arrival.tasks {
            match self.desk.check_again(&folder, &arrival.plan, task, &self.stop) {
                Ok(None) => {}
                Ok(Some(evidence)) if evidence.passed => {}
                Ok(Some(Evidence { end: CheckEnd::Lost, .. })) => return Ok(Some(Merged::Stopped)),
                Ok(Some(evidence)) => return Ok(Some(Merged::Fails(failure(task, evidence)))),
                Err(why) => return Ok(Some(Merged::Trouble(why))),
            }
        }
        Ok(None)
    }
}

fn failure(task: &TaskId, evidence: Evidence) -> Open {
    let command = evidence.command.as_deref().unwrap_or("its check");
    let why = format!("`{command}` passes in this worktree and fails together with what landed meanwhile");
    Open { task: task.clone(), why, output: evidence.output_tail.unwrap_or_default() }
}
