//! Operations on tasks, plans, gates, decisions, loops and trackers, for the commands, the MCP server and runs.
//!
//! - [`TaskList`] has the tasks of one worktree: it starts, checks, closes and blocks them, loads and proposes plans,
//!   and opens and closes the plan gate. Start reading here.
//! - [`loops`] takes a request through the stages of a loop, and [`tracker`] follows an external task list.
//! - [`doctor`], [`why`], [`replay`], [`setup`] and [`clean`] do the work of the commands with these names.
//! - [`Caller`] tells whether a human or an agent made the call.
//!
//! The crate prints nothing, reads no environment variables and knows no exit codes: [`Environment`] has facts about
//! the process, and [`WorkError::cause`] tells the kind of an error.

mod caller;
pub mod clean;
pub mod disk;
pub mod doctor;
mod environment;
mod error;
pub mod file;
pub mod history;
pub mod liveness;
pub mod loops;
pub mod refine;
pub mod replay;
mod repository;
pub mod setup;
pub mod spec_file;
pub mod ssh;
pub mod task_list;
pub mod tracker;
pub mod why;

pub use caller::Caller;
pub use environment::{Environment, REFINING, RUN_SPENT, SANDBOX};
pub use error::{Cause, WorkError, chain};
pub use loops::LoopError;
pub use repository::{Repository, RepositoryError};
pub use spec_file::SpecError;
pub use task_list::{ApprovalError, DecisionError, GateError, PlanError, TaskError, TaskList};
pub use tracker::TrackerError;
