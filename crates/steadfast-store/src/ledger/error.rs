use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use steadfast_model::{LoopId, Millis, PlanId, RunId, SessionId, Stage, Status, TaskId};
use thiserror::Error;

/// What the database said, without saying which database.
pub(super) type Source = Box<dyn Error + Send + Sync>;

#[derive(Debug, Error)]
pub enum LedgerError {
    #[error(
        "the ledger `{}` is of version {found}, this steadfast knows versions up to {known}: update steadfast",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the ledger `{}` is of version {found} and has to be migrated to {known}, which takes a command that writes",
        path.display()
    )]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error("the ledger `{}` is damaged", path.display())]
    Damaged { path: PathBuf, source: Source },
    #[error("the ledger `{}` is locked by another process", path.display())]
    Locked { path: PathBuf },
    #[error("the disk is full, the ledger `{}` cannot grow", path.display())]
    Full { path: PathBuf },
    #[error("the ledger `{}` cannot be written: read-only", path.display())]
    ReadOnly { path: PathBuf },
    #[error("the ledger `{}` cannot be opened", path.display())]
    Unreachable { path: PathBuf, source: Source },
    #[error("the ledger `{}` failed", path.display())]
    Failed { path: PathBuf, source: Source },

    #[error("there is no plan `{plan}`")]
    UnknownPlan { plan: PlanId },
    #[error("there is no task `{task}` in plan `{plan}`{}", Nearest(near))]
    UnknownTask { plan: PlanId, task: TaskId, near: Vec<TaskId> },
    #[error("a task cannot be blocked by `{dependency}`: there is no such task in plan `{plan}`{}", Nearest(near))]
    UnknownDependency { plan: PlanId, dependency: TaskId, near: Vec<TaskId> },
    #[error("there already is a task `{task}` in plan `{plan}`")]
    DuplicateTask { plan: PlanId, task: TaskId },
    #[error("{what} has {length} characters, and {bound} is the most")]
    TooLong { what: &'static str, length: usize, bound: usize },
    #[error("a task names {count} {what}, and {bound} is the most")]
    TooMany { what: &'static str, count: usize, bound: usize },
    #[error("a learning names {count} files, and {bound} is the most")]
    LearningFiles { count: usize, bound: usize },
    #[error("{bound} learnings are open, and that is the most: nobody has looked at them yet")]
    OpenLearnings { bound: usize },
    #[error("there is no learning {id}")]
    UnknownLearning { id: u64 },
    #[error("task `{task}` cannot go from {} to {}", from.as_str(), to.as_str())]
    IllegalMove { task: TaskId, from: Status, to: Status },
    #[error("the lease on task `{task}` is lost: token {token} is not the one it is held with")]
    StaleFence { task: TaskId, token: u64 },
    #[error("plan `{plan}` is worked off by run `{run}`")]
    InRun { plan: PlanId, run: RunId },
    #[error("there is no run `{run}`")]
    UnknownRun { run: RunId },
    #[error("there is no unit `{unit}` in run `{run}`")]
    UnknownUnit { run: RunId, unit: TaskId },
    #[error("there is no iteration {number} in run `{run}`")]
    UnknownDispatch { run: RunId, number: u32 },
    #[error("unit `{unit}` was merged before, as {merged}")]
    MergedBefore { unit: TaskId, merged: String },
    #[error("unit `{unit}` cannot be closed: there is no evidence for task `{task}`")]
    LeftOpen { unit: TaskId, task: TaskId },
    #[error("loop `{id}` of this worktree is not finished")]
    InLoop { id: LoopId },
    #[error("there is no loop `{id}`")]
    UnknownLoop { id: LoopId },
    #[error("loop `{id}` is over")]
    LoopIsOver { id: LoopId },
    #[error("a loop cannot go from {} to {}", from.as_str(), to.as_str())]
    StageSkipped { from: Stage, to: Stage },
    #[error("there is no finding {finding} in loop `{id}`")]
    UnknownFinding { id: LoopId, finding: u32 },
    #[error("the journal of session `{session}` has a gap: line {expected} is missing before line {found}")]
    Gap { session: SessionId, expected: u64, found: u64 },
}

#[derive(Debug, Error)]
pub enum LeaseError {
    #[error("`{holder}` holds the lease on it")]
    Held { holder: String, until: Millis },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

struct Nearest<'a>(&'a [TaskId]);

impl fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, id) in self.0.iter().enumerate() {
            write!(f, "{} `{id}`", if index == 0 { "; near it:" } else { "," })?;
        }
        Ok(())
    }
}

/// What can go wrong inside a transaction: the database does, or we refuse.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Refused(LedgerError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<LedgerError> for Fault {
    fn from(error: LedgerError) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    pub(super) fn is_locked(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    pub(super) fn cannot_open(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sql(error) => error.sqlite_error_code(),
            Self::Refused(_) => None,
        }
    }

    /// SQLite tells a full disk from other failures when it writes, but not when it makes room for its shared memory.
    fn lacks_space(&self) -> bool {
        matches!(self, Self::Sql(rusqlite::Error::SqliteFailure(error, _))
            if error.code == ErrorCode::DiskFull || error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
    }

    pub(super) fn at(self, path: &Path) -> LedgerError {
        let (code, full) = (self.code(), self.lacks_space());
        let error = match self {
            Self::Refused(error) => return error,
            Self::Sql(error) => error,
        };
        let path = path.to_owned();
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Locked { path },
            Some(_) if full => LedgerError::Full { path },
            Some(ErrorCode::ReadOnly) => LedgerError::ReadOnly { path },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                LedgerError::Unreachable { path, source: error.into() }
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                LedgerError::Damaged { path, source: error.into() }
            }
            // A value that is none of ours: something else wrote it.
            None if is_foreign(&error) => LedgerError::Damaged { path, source: error.into() },
            _ => LedgerError::Failed { path, source: error.into() },
        }
    }
}

fn is_foreign(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
