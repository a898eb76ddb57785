use std::path::PathBuf;

use steadfast_model::{Loop, LoopId, RunId, TaskLines};
use steadfast_plan::Circle;
use steadfast_store::ledger::{LeaseError, LedgerError};
use steadfast_work::loops::StartedLoop;
use steadfast_work::{Cause, WorkError};

use crate::preflight::NotReady;
use crate::worktrees::WorktreeError;

/// Why a run or a loop does not begin, or came to a halt.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Lease(#[from] LeaseError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    NotReady(#[from] NotReady),
    #[error(transparent)]
    Circle(#[from] Circle),
    #[error("`{}`: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("`{}` cannot be written: {source}", path.display())]
    NotWritten { path: PathBuf, source: std::io::Error },
    #[error("a thread cannot be started: {0}")]
    Thread(std::io::Error),
    #[error("another process took this run over")]
    TakenOver,

    #[error("run {run} came to a halt: {}", steadfast_work::chain(source.as_ref()))]
    Halted { run: RunId, source: Box<RunError> },
    #[error("run {run} is paused: {why}")]
    Paused { run: RunId, why: String },
    #[error("run {run} needs review: only the agent's word says that these tasks are done: {claimed}")]
    NeedsReview { run: RunId, branch: String, claimed: TaskLines },
    #[error("run {run} of `{spec}` is not over yet")]
    NotOver { run: RunId, spec: String },
    #[error("run {run} is under way, by process {pid}")]
    UnderWay { run: RunId, pid: u32 },
    #[error("somebody else goes on with run {0} right now")]
    Contested(RunId),

    #[error("loop {} is not finished: {} ({})", .0.id, .0.request, .0.stage.as_str())]
    LoopNotFinished(Box<Loop>),
    #[error("loop {id} is under way{}", by(*pid))]
    LoopUnderWay { id: LoopId, pid: Option<u32> },
    #[error("loop {id} cannot be locked: {source}")]
    LoopLock { id: LoopId, source: std::io::Error },
    #[error("the request is not clear enough to begin: {} of 10, and 5 is the least", .0.judged.scores.spec)]
    NotClear(Box<StartedLoop>),
    #[error("loop {0} has no run")]
    NoRun(LoopId),
    #[error("loop {id} is worked on by run {run}")]
    LoopInRun { id: LoopId, run: RunId },
    #[error("the loop began where nothing was committed yet, so nobody knows what changed")]
    NoBase,
    #[error("the loop has no plan yet")]
    NoPlan,
    #[error("no spec came of {tries} tries: {}", problems.join("; "))]
    NoSpec { tries: usize, problems: Vec<String> },
    #[error("`{spec}` was written by an agent, and nobody has approved it")]
    SpecNotApproved { spec: String },
    #[error("the review could not be held: no answer that can be read from {}", silent.join(", "))]
    NoReview { silent: Vec<&'static str> },
    #[error("{0} put off is still in the way")]
    PutOff(u32),
    #[error("the gate does not open: {first}{}", and_more(*more))]
    GateHeld { first: String, more: usize },
    #[error("loop {id} is capped after {rounds} reviews{}", after_colon(left))]
    Capped { id: LoopId, rounds: u32, left: Vec<String>, branch: String },
    #[error("the budget of run {run} is spent, and {what} is still to come")]
    BudgetSpent { run: RunId, what: String },
    #[error("`{0}` is gone")]
    BranchGone(String),
    #[error("git does not say what is in this checkout")]
    NoTree,
}

impl RunError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::Work(error) => error.cause(),
            Self::NotReady(error) => error.cause(),
            Self::Halted { source, .. } => source.cause(),
            Self::Paused { .. }
            | Self::NeedsReview { .. }
            | Self::LoopNotFinished(_)
            | Self::NoSpec { .. }
            | Self::SpecNotApproved { .. }
            | Self::NoReview { .. }
            | Self::PutOff(_)
            | Self::GateHeld { .. }
            | Self::Capped { .. }
            | Self::BudgetSpent { .. } => Cause::NeedsHuman,
            Self::NotClear(_) => Cause::Refused,
            Self::Ledger(error) | Self::Lease(LeaseError::Ledger(error)) => error.into(),
            Self::Lease(LeaseError::Held { .. }) => Cause::State,
            Self::Worktree(_)
            | Self::Folder { .. }
            | Self::NotWritten { .. }
            | Self::Thread(_)
            | Self::LoopLock { .. }
            | Self::BranchGone(_)
            | Self::NoTree => Cause::Infrastructure,
            Self::Circle(_)
            | Self::TakenOver
            | Self::NotOver { .. }
            | Self::UnderWay { .. }
            | Self::Contested(_)
            | Self::LoopUnderWay { .. }
            | Self::NoRun(_)
            | Self::LoopInRun { .. }
            | Self::NoBase
            | Self::NoPlan => Cause::State,
        }
    }
}

fn by(pid: Option<u32>) -> String {
    pid.map(|pid| format!(", by process {pid}")).unwrap_or_default()
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(", and {more} more") }
}

fn after_colon(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) }
}
