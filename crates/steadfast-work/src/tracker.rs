//! External task lists behind one trait: a [`Tracker`] returns its tasks and receives their statuses.
//!
//! No other module knows where tasks come from. Steadfast reads a list, compiles it with the importer of its format,
//! and adds it to the ledger under its own ids ([`follow`]). Later changes of statuses are sent back to the list. The
//! stop gate, evidence, the runner and `status` use only the ledger, as for any other plan.

mod beads;
mod follow;
mod slices;
mod time_budget;

use steadfast_model::{Millis, Settings, Status, TaskSource};
use steadfast_observe::ProgramFailed;
use steadfast_plan::{CompileOptions, Compiled};
use steadfast_store::ledger::{LedgerError, Untold};
use steadfast_store::{ConfigError, Place};

pub use beads::Beads;
pub use follow::{NOT_TOLD, TrackerNotice, follow, in_hook, tell, unread};
pub use time_budget::{COMMAND, HOOK, LOOK, TimeBudget};

use slices::Slices;

use crate::TaskError;
use crate::error::Cause;

/// An external task list.
pub trait Tracker: std::fmt::Debug {
    /// The source of its plan, by which the plan is found again: `beads:bd-x7y8`.
    fn source(&self) -> String;

    /// Its name for people.
    fn name(&self) -> String;

    /// Returns its tasks as a text. The same tasks give the same bytes.
    fn read(&self, patience: TimeBudget) -> Result<String, TrackerError>;

    /// Compiles the text with the same lint as a loaded list. `None` if it has no tasks.
    fn compile(&self, text: &str, options: &CompileOptions) -> Result<Option<Compiled>, TrackerError>;

    /// Sends the status of a task, and returns its status in the list afterwards: a claim does not close an issue.
    fn tell(&self, untold: &Untold, patience: TimeBudget) -> Result<Status, TrackerError>;
}

/// The reason why a list cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    #[error("`bd` and `br` are not on the PATH")]
    NoProgram,
    #[error(transparent)]
    Program(#[from] ProgramFailed),
    #[error("`{call}` returned no list of issues: {part}")]
    Unreadable { call: String, part: String },
    #[error("there is no issue `{0}`")]
    NoEpic(String),
    #[error("it has no tasks any more, but {open} were open")]
    Emptied { open: usize },
    #[error("it cannot be compiled: {0}")]
    Lint(String),
    #[error("no time was left for it")]
    NoTime,
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot read the files that its checks run: {0}")]
    Checks(#[source] TaskError),
    #[error("cannot read or write `{path}`: {source}")]
    File { path: String, source: std::io::Error },
    #[error("`{0}` cannot be written while the plan gate is closed")]
    Gated(String),
    #[error("cannot take its lock: {0}")]
    Lock(std::io::Error),
}

impl TrackerError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::NoEpic(_) => Cause::NotFound,
            Self::Emptied { .. } | Self::Lint(_) => Cause::State,
            Self::Gated(_) => Cause::Refused,
            Self::Ledger(error) => error.into(),
            Self::Checks(error) => error.cause(),
            Self::NoProgram
            | Self::Program(_)
            | Self::Unreadable { .. }
            | Self::NoTime
            | Self::Config(_)
            | Self::File { .. }
            | Self::Lock(_) => Cause::Infrastructure,
        }
    }
}

/// The tracker that the settings name. `None` if tasks are kept in the ledger only.
pub fn of(settings: &Settings, place: &Place, now: Millis) -> Option<Box<dyn Tracker>> {
    match settings.ledger.source.value {
        TaskSource::Beads => Some(Box::new(Beads::new(&place.root, settings.ledger.epic.value.as_deref()))),
        TaskSource::TddProgress => Some(Box::new(Slices::new(place, settings.ledger.path.value.as_deref(), now))),
        TaskSource::Native | TaskSource::ClaudeTasks => None,
    }
}
