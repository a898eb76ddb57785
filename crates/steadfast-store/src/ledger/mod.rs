//! The ledger: plans, tasks, leases and evidence in SQLite.
//!
//! Every query of the house is in this tree, and no type of the database leaves it: a PostgreSQL twin would stand
//! beside it with the same doors. [`Ledger::write`] is the one way to change something. It is one transaction, and
//! after the commit it replaces the slices of the plans that changed.

mod added;
mod bind;
mod column;
mod connection;
mod decision;
mod drain;
mod error;
mod evidence;
mod followed;
mod frozen;
mod history;
mod host_list;
mod imported_status;
mod keyword;
mod learning;
mod lease;
mod loops;
mod migration;
mod nearest;
mod open;
mod order;
mod owner;
mod plan;
mod progress;
mod proof;
mod recall;
mod retention;
mod run;
mod session;
mod session_state;
mod share;
mod slice;
mod spec;
mod status;
mod step;
mod task;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test is another process at the database")]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use connection::{Connection, Transaction};

pub use added::Joined;
pub use decision::Decision;
pub use drain::{Drained, JournalCursor};
pub use error::{LeaseError, LedgerError};
pub use evidence::{Recorded, Running};
pub use followed::{FollowedPlan, Following, Happened, TrackerChange, Untold};
pub use history::{HistoryFilter, HistoryLine};
pub use imported_status::REPORTED;
pub use learning::{Learned, Learning, LearningKind, LearningSource, LearningStatus, NewLearning};
pub use lease::{Fence, Lease};
pub use loops::{NewReview, Unfinished};
pub use open::BUSY;
pub use owner::{Claiming, Taken};
pub use plan::PlanLine;
pub use progress::{Baseline, Checkpoint, Started};
pub use proof::{RunWork, StoredProof};
pub use recall::{KeyDecision, Query, Reason, Recalled, RecalledItem};
pub use retention::Forgotten;
pub use run::{DispatchEnd, NewDispatch, UnitClosed, UnitClosing, UnitLoading, UnitResult};
pub use session::SessionRow;
pub use session_state::{ScoredStep, SessionState, SessionStatus};
pub use slice::{SliceError, read_slices_of};
pub use spec::{Head, Loaded, Loading, PlanRow};
pub use status::{Changed, StatusChange};
pub use step::StepRow;
pub use task::{Blocked, NewTask};

use error::Fault;
use slice::HeldBack;

// Up to 3.51.2 a WAL that is reset while another connection writes can lose a commit.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003, "SQLite 3.51.3 or newer is needed");

/// One connection to `state.db`.
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

    /// Several queries that see the same moment.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, LedgerError> {
        let attempt = || {
            let transaction = self.connection.reading()?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        attempt().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// All or nothing. The lock is taken at the start: a reader that wants to write halfway could only fail.
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

    /// Reads the whole file and says what is wrong with it.
    pub fn check(&self) -> Result<(), LedgerError> {
        let said: String =
            self.read(|connection| Ok(connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?))?;
        if said == "ok" {
            return Ok(());
        }
        Err(LedgerError::Damaged { path: self.path.clone(), source: said.into() })
    }
}
