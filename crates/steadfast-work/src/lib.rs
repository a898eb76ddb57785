//! What Steadfast does with tasks, plans, gates, decisions, loops and trackers. Commands, the MCP server and runs call it.
//!
//! [`TaskList`] is the tasks of one worktree: a task is started, closed by its check, blocked; its plan is loaded, proposed
//! and approved; its gate is closed and opened. [`loops`] takes a request through its stages. [`tracker`] follows a list
//! that is kept elsewhere. [`Caller`] says on whose behalf it happens.
//!
//! It prints nothing, reads no environment and knows no exit code: [`Environment`] is what the process knows, and
//! [`WorkError::cause`] says what kind of no an error is.

mod caller;
pub mod clean;
pub mod disk;
pub mod doctor;
mod environment;
mod error;
pub mod file;
pub mod history;
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
