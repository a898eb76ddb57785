//! Task lists that are kept elsewhere, behind one trait: a tracker gives its tasks and is told how they stand here.
//!
//! Nothing else of the house knows where tasks come from. A list is read, compiled by the importer of its format and
//! taken into the ledger under its own ids ([`follow`]); what changes there since is told to it. So the stop gate,
//! evidence, the runner and `status` work on the ledger, as they do for a plan of ours.

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

/// A list that somebody else keeps.
pub trait Tracker: std::fmt::Debug {
    /// What its plan is called by, and found again: `beads:bd-x7y8`.
    fn source(&self) -> String;

    /// As people call it.
    fn name(&self) -> String;

    /// Its tasks, as a text in which the same tasks are the same bytes.
    fn read(&self, patience: TimeBudget) -> Result<String, TrackerError>;

    /// What it read, with the same lint as a list that is loaded. `None`: there are no tasks in it.
    fn compile(&self, text: &str, options: &CompileOptions) -> Result<Option<Compiled>, TrackerError>;

    /// Tells it how a task stands here. Returns how it stands there then: an issue is not closed on a claim.
    fn tell(&self, untold: &Untold, patience: TimeBudget) -> Result<Status, TrackerError>;
}

/// Why a list is not known, or could not be told something.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    #[error("`bd` and `br` are not on the PATH")]
    NoProgram,
    #[error(transparent)]
    Program(#[from] ProgramFailed),
    #[error("`{call}` gave no list of issues: {part}")]
    Unreadable { call: String, part: String },
    #[error("there is no issue `{0}`")]
    NoEpic(String),
    #[error("no task is in it any more, and {open} were open")]
    Emptied { open: usize },
    #[error("it cannot be compiled: {0}")]
    Lint(String),
    #[error("there was no time left for it")]
    NoTime,
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("what its checks stand for cannot be read: {0}")]
    Checks(#[source] TaskError),
    #[error("`{path}`: {source}")]
    File { path: String, source: std::io::Error },
    #[error("`{0}` is not written while the plan gate is closed")]
    Gated(String),
    #[error("its lock cannot be taken: {0}")]
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

/// The list that the settings name. `None`: tasks are kept here.
pub fn of(settings: &Settings, place: &Place, now: Millis) -> Option<Box<dyn Tracker>> {
    match settings.ledger.source.value {
        TaskSource::Beads => Some(Box::new(Beads::new(&place.root, settings.ledger.epic.value.as_deref()))),
        TaskSource::TddProgress => Some(Box::new(Slices::new(place, settings.ledger.path.value.as_deref(), now))),
        TaskSource::Native | TaskSource::ClaudeTasks => None,
    }
}
