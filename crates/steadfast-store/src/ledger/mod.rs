//! The ledger: plans, tasks, leases, evidence, runs and loops in SQLite.
//!
//! All SQL is in this folder, and no database type leaves it, so a PostgreSQL version could offer the same functions.
//! [`Ledger::write`] is the only way to change something. It is one transaction, and after the commit it replaces the slices
//! of the changed plans.

mod database;
mod decision;
mod error;
mod keyword;
mod learning;
mod loops;
mod plan;
mod recall;
mod run;
mod session;
mod task;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test is another process at the database")]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use database::connection::{Connection, Transaction};

pub use database::open::BUSY;
pub use decision::Decision;
pub use error::{LeaseError, LedgerError};
pub use learning::{Learned, Learning, LearningKind, LearningSource, LearningStatus, NewLearning};
pub use loops::{NewReview, Unfinished};
pub use plan::PlanLine;
pub use plan::added::Joined;
pub use plan::followed::{FollowedPlan, Following, Happened, TrackerChange, Untold};
pub use plan::imported_status::REPORTED;
pub use plan::owner::{Claiming, Taken};
pub use plan::slice::{SliceError, read_slices_of};
pub use plan::spec::{Head, Loaded, Loading, PlanRow};
pub use recall::{KeyDecision, Query, Reason, Recalled, RecalledItem};
pub use run::{DispatchEnd, NewDispatch, UnitClosed, UnitClosing, UnitLoading, UnitResult};
pub use session::SessionRow;
pub use session::drain::{Drained, JournalCursor};
pub use session::history::{HistoryFilter, HistoryLine};
pub use session::retention::{Forgotten, Totals};
pub use session::state::{ScoredStep, SessionState, SessionStatus};
pub use session::step::StepRow;
pub use task::evidence::{Recorded, Running};
pub use task::lease::{Fence, Lease};
pub use task::progress::{Baseline, Checkpoint, Started};
pub use task::proof::{RunWork, StoredProof};
pub use task::status::{Changed, StatusChange};
pub use task::{Blocked, NewTask};

use error::Fault;
use plan::slice::HeldBack;

// Until 3.51.2, a WAL that is reset while another connection writes can lose a commit.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003, "SQLite 3.51.3 or newer is needed");

/// A connection to `state.db`.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
    state_dir: PathBuf,
    busy: Duration,
    held_back: Option<HeldBack>,
}

impl Ledger {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs several queries that see the same state of the database.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, LedgerError> {
        let attempt = || {
            let transaction = self.connection.reading()?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        attempt().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// Changes everything or nothing. It takes the write lock at the start: upgrading a reader to a writer later could fail.
    fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T, LedgerError> {
        let attempt = || {
            let transaction = self.connection.writing()?;
            let value = work(&transaction)?;
            Ok((value, transaction.commit()?))
        };
        let (value, mut touched) = attempt().map_err(|fault: Fault| fault.at(&self.path))?;
        if let Some(held) = &mut self.held_back {
            held.take_from(&mut touched);
        }
        self.replace_slices(&touched);
        Ok(value)
    }

    /// Checks the whole database file for damage.
    pub fn check(&self) -> Result<(), LedgerError> {
        let result: String =
            self.read(|connection| Ok(connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?))?;
        if result == "ok" {
            return Ok(());
        }
        Err(LedgerError::Damaged { path: self.path.clone(), source: result.into() })
    }
}
