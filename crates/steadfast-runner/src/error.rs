use std::path::PathBuf;

use steadfast_model::{Loop, LoopId, RunId, TaskLines};
use steadfast_plan::Circle;
use steadfast_store::ledger::{LeaseError, LedgerError};
use steadfast_work::loops::StartedLoop;
use steadfast_work::{Cause, WorkError};

use crate::preflight::NotReady;
use crate::worktrees::WorktreeError;

/// The reason why a run or a loop does not start, or stopped.
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
    #[error("cannot create the folder `{}`: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("cannot write `{}`: {source}", path.display())]
    NotWritten { path: PathBuf, source: std::io::Error },
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    #[error("another process took this run over")]
    TakenOver,

    #[error("run {run} failed: {}", steadfast_work::chain(source.as_ref()))]
    Halted { run: RunId, source: Box<RunError> },
    #[error("run {run} is paused: {why}")]
    Paused { run: RunId, why: String },
    #[error("run {run} needs review: these tasks have only the agent's claim as evidence: {claimed}")]
    NeedsReview { run: RunId, branch: String, claimed: TaskLines },
    #[error("run {run} of `{spec}` is unfinished")]
    NotOver { run: RunId, spec: String },
    #[error("run {run} is already running in process {pid}")]
    UnderWay { run: RunId, pid: u32 },
    #[error("another process is continuing run {0}")]
    Contested(RunId),

    #[error("loop {} is unfinished: {} ({})", .0.id, .0.request, .0.stage.as_str())]
    LoopNotFinished(Box<Loop>),
    #[error("loop {id} is already running{}", in_process(*pid))]
    LoopUnderWay { id: LoopId, pid: Option<u32> },
    #[error("cannot lock loop {id}: {source}")]
    LoopLock { id: LoopId, source: std::io::Error },
    #[error("the request is too unclear to start: its score is {} of 10, and at least 5 is required", .0.judged.scores.spec)]
    NotClear(Box<StartedLoop>),
    #[error("loop {0} has no run")]
    NoRun(LoopId),
    #[error("run {run} works on loop {id}")]
    LoopInRun { id: LoopId, run: RunId },
    #[error("the loop started before the first commit, so its changes are unknown")]
    NoBase,
    #[error("the loop has no plan yet")]
    NoPlan,
    #[error("no valid spec after {tries} attempts: {}", problems.join("; "))]
    NoSpec { tries: usize, problems: Vec<String> },
    #[error("`{spec}` was written by an agent and is not approved yet")]
    SpecNotApproved { spec: String },
    #[error("the review failed: no readable answer from {}", silent.join(", "))]
    NoReview { silent: Vec<&'static str> },
    #[error("deferred blockers keep the loop open: {0}")]
    PutOff(u32),
    #[error("the gate does not open: {first}{}", and_more(*more))]
    GateHeld { first: String, more: usize },
    #[error("loop {id} is capped after {rounds} reviews{}", after_colon(left))]
    Capped { id: LoopId, rounds: u32, left: Vec<String>, branch: String },
    #[error("the budget of run {run} is spent, so `{what}` cannot start")]
    BudgetSpent { run: RunId, what: String },
    #[error("branch `{0}` is missing")]
    BranchGone(String),
    #[error("git cannot read the files of this checkout")]
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

fn in_process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" in process {pid}")).unwrap_or_default()
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(", and {more} more") }
}

fn after_colon(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) }
}
