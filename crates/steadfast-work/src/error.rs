use steadfast_hook::EventError;
use steadfast_store::ConfigError;
use steadfast_store::ledger::LedgerError;

use crate::tracker::TrackerError;
use crate::{ApprovalError, DecisionError, GateError, LoopError, PlanError, RepositoryError, SpecError, TaskError};

/// Why something was not done.
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
    /// A list that is kept elsewhere, by its name.
    #[error("{name} could not be read: {source}")]
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

/// What kind of no an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A rule forbids it to this caller.
    Refused,
    /// Only a human can go on.
    NeedsHuman,
    /// What was named is not there.
    NotFound,
    /// It does not fit what is there now: an open task is in the way, a check has failed.
    State,
    /// What was asked for cannot be understood.
    Input,
    /// The ledger, the disk, git or the configuration failed. It says nothing about the work.
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

/// An error with all its causes in one line, each said once: some have their cause in their own words.
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
