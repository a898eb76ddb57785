use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use steadfast_model::{LoopId, Millis, PlanId, RunId, SessionId, Stage, Status, TaskId};
use thiserror::Error;

/// The database's error, without its type.
pub(super) type Source = Box<dyn Error + Send + Sync>;

#[derive(Debug, Error)]
pub enum LedgerError {
    #[error(
        "the ledger `{}` has version {found}, and this steadfast supports versions up to {known}: update steadfast",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the ledger `{}` has version {found} and must be migrated to version {known} by a command that writes",
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
    #[error("a task cannot depend on `{dependency}`: there is no such task in plan `{plan}`{}", Nearest(near))]
    UnknownDependency { plan: PlanId, dependency: TaskId, near: Vec<TaskId> },
    #[error("plan `{plan}` already has a task `{task}`")]
    DuplicateTask { plan: PlanId, task: TaskId },
    #[error("{what} has {length} characters; the limit is {bound}")]
    TooLong { what: &'static str, length: usize, bound: usize },
    #[error("a task names {count} {what}; the limit is {bound}")]
    TooMany { what: &'static str, count: usize, bound: usize },
    #[error("a learning names {count} files; the limit is {bound}")]
    LearningFiles { count: usize, bound: usize },
    #[error(
        "{bound} learnings are open, and the limit is {bound}: a human has to confirm or dismiss some of them first"
    )]
    OpenLearnings { bound: usize },
    #[error("there is no learning {id}")]
    UnknownLearning { id: u64 },
    #[error("task `{task}` cannot change from {} to {}", from.as_str(), to.as_str())]
    IllegalMove { task: TaskId, from: Status, to: Status },
    #[error("the lease on task `{task}` was lost: token {token} is outdated")]
    StaleFence { task: TaskId, token: u64 },
    #[error("run `{run}` is working on plan `{plan}`")]
    InRun { plan: PlanId, run: RunId },
    #[error("there is no run `{run}`")]
    UnknownRun { run: RunId },
    #[error("there is no unit `{unit}` in run `{run}`")]
    UnknownUnit { run: RunId, unit: TaskId },
    #[error("there is no iteration {number} in run `{run}`")]
    UnknownDispatch { run: RunId, number: u32 },
    #[error("unit `{unit}` is already merged as {merged}")]
    MergedBefore { unit: TaskId, merged: String },
    #[error("unit `{unit}` cannot be closed: there is no evidence for task `{task}`")]
    LeftOpen { unit: TaskId, task: TaskId },
    #[error("loop `{id}` of this worktree is not finished")]
    InLoop { id: LoopId },
    #[error("there is no loop `{id}`")]
    UnknownLoop { id: LoopId },
    #[error("loop `{id}` has ended")]
    LoopIsOver { id: LoopId },
    #[error("a loop cannot change from stage {} to {}", from.as_str(), to.as_str())]
    StageSkipped { from: Stage, to: Stage },
    #[error("there is no finding {finding} in loop `{id}`")]
    UnknownFinding { id: LoopId, finding: u32 },
    #[error("the journal of session `{session}` has a gap: line {expected} is missing before line {found}")]
    Gap { session: SessionId, expected: u64, found: u64 },
}

#[derive(Debug, Error)]
pub enum LeaseError {
    #[error("`{holder}` holds the lease on this task")]
    Held { holder: String, until: Millis },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

struct Nearest<'a>(&'a [TaskId]);

impl fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, id) in self.0.iter().enumerate() {
            write!(f, "{} `{id}`", if index == 0 { "; similar ids:" } else { "," })?;
        }
        Ok(())
    }
}

/// An error inside a transaction: from the database, or our own.
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

    /// SQLite reports a full disk when it writes, but has another code when it cannot grow its shared memory.
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
            // A value that we never write: another program changed the database.
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
