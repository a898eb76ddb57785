//! Reads git, files and processes, each within a time budget.
//!
//! A [`Checkout`] is found by reading `.git`, without running git. Every question to it takes a budget and returns a
//! [`Fact`](steadfast_model::Fact): known, or unknown with the reason. Nothing here waits longer than its budget,
//! writes to the user's git or locks it.
//!
//! [`GitCommand`] runs git for the runner, which creates worktrees and branches. [`Program`] runs an external program,
//! such as a task tracker. [`processes_of`] and [`sessions_at_work`] read the process table.
//!
//! Start with `checkout.rs`, then `change.rs` (changed files) and `git/private_index.rs` (tree ids).

mod change;
mod checkout;
mod content;
mod deadline;
mod error;
mod git;
mod ignored;
mod location;
mod neighbour;
mod process;
mod recent;
mod seen;
mod stat;

pub use change::{ChangeKind, ChangedFile, Point};
pub use checkout::{Checkout, CheckoutKind};
pub use deadline::TOOL_EVENT;
pub use git::branch::Branch;
pub use git::command::{GitCommand, GitFailed};
pub use git::object_id::{NotAnId, ObjectId};
pub use git::private_index::TreeId;
pub use git::tree_content::InTree;
pub use location::behind;
pub use neighbour::NeighbourTable;
pub use process::program::{Program, ProgramFailed};
pub use process::table::processes_of;
pub use process::tool_process::sessions_at_work;
pub use stat::{FileKind, Stat};
