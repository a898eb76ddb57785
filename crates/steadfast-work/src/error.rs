use steadfast_hook::EventError;
use steadfast_store::ConfigError;
use steadfast_store::ledger::LedgerError;

use crate::tracker::TrackerError;
use crate::{ApprovalError, DecisionError, GateError, LoopError, PlanError, RepositoryError, SpecError, TaskError};

/// The error of an operation in this crate.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    Decision(#[from] DecisionError),
    #[error(transparent)]
    Loop(#[from] LoopError),
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// An external task list, by its name.
    #[error("cannot read {name}: {source}")]
    Tracker { name: String, source: TrackerError },
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The journal of a session.
    #[error(transparent)]
    Session(#[from] EventError),
}

/// The kind of an error. The binary chooses the exit code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A rule forbids the operation to this caller.
    Refused,
    /// Only a human can continue.
    NeedsHuman,
    /// The named thing does not exist.
    NotFound,
    /// The operation does not fit the current state: an open task is in the way, a check failed.
    State,
    /// The input is invalid.
    Input,
    /// The ledger, the disk, git or the configuration failed. It says nothing about the work itself.
    Infrastructure,
}

impl WorkError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::Task(error) => error.cause(),
            Self::Plan(error) => error.cause(),
            Self::Gate(GateError::NotClosed(_) | GateError::NotOpened { .. }) => Cause::Infrastructure,
            Self::Approval(error) => error.cause(),
            Self::Decision(DecisionError::Empty) => Cause::Input,
            Self::Decision(_) => Cause::Infrastructure,
            Self::Loop(error) => error.cause(),
            Self::Spec(error) => error.cause(),
            Self::Tracker { source, .. } => source.cause(),
            Self::Repository(RepositoryError::NotSetUp { .. }) => Cause::NotFound,
            Self::Repository(RepositoryError::EmptyPath) => Cause::Input,
            Self::Ledger(error) => error.into(),
            Self::Config(_) => Cause::Infrastructure,
            Self::Session(EventError::Ledger(error)) => error.into(),
            Self::Session(_) => Cause::Infrastructure,
        }
    }
}

impl From<&LedgerError> for Cause {
    fn from(error: &LedgerError) -> Self {
        use LedgerError as E;
        match error {
            E::Newer { .. }
            | E::Older { .. }
            | E::Damaged { .. }
            | E::Locked { .. }
            | E::Full { .. }
            | E::ReadOnly { .. }
            | E::Unreachable { .. }
            | E::Failed { .. }
            | E::Gap { .. } => Self::Infrastructure,
            E::UnknownPlan { .. }
            | E::UnknownTask { .. }
            | E::UnknownDependency { .. }
            | E::UnknownLearning { .. }
            | E::UnknownRun { .. }
            | E::UnknownUnit { .. }
            | E::UnknownDispatch { .. }
            | E::UnknownLoop { .. }
            | E::UnknownFinding { .. } => Self::NotFound,
            E::TooLong { .. } | E::TooMany { .. } | E::LearningFiles { .. } => Self::Input,
            E::DuplicateTask { .. }
            | E::OpenLearnings { .. }
            | E::IllegalMove { .. }
            | E::StaleFence { .. }
            | E::InRun { .. }
            | E::MergedBefore { .. }
            | E::LeftOpen { .. }
            | E::InLoop { .. }
            | E::LoopIsOver { .. }
            | E::StageSkipped { .. } => Self::State,
        }
    }
}

/// Joins an error and its causes in one line. Leaves out causes that the text contains already.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}
