//! Reads git, files and processes, each within a time budget.
//!
//! A [`Checkout`] is found by reading `.git`, without running git. Every question to it takes a budget and returns a
//! [`Fact`](steadfast_model::Fact): known, or unknown with the reason. Nothing here waits longer than its budget,
//! writes to the user's git or locks it.
//!
//! [`GitCommand`] runs git for the runner, which creates worktrees and branches. [`Program`] runs an external program,
//! such as a task tracker. [`processes_of`] and [`sessions_at_work`] read the process table.
//!
//! Start with `checkout.rs`, then `change.rs` (changed files) and `private_index.rs` (tree ids).

mod branch;
mod change;
mod checkout;
mod content;
mod deadline;
mod error;
mod git;
mod git_command;
mod git_path;
mod ignored;
mod location;
mod neighbour;
mod object_id;
mod pipes;
mod private_index;
mod private_objects;
mod process;
mod process_table;
mod program;
mod raw_diff;
mod recent;
mod seen;
mod stat;
mod status;
mod tool_process;
mod tree_content;

pub use branch::Branch;
pub use change::{ChangeKind, ChangedFile, Point};
pub use checkout::{Checkout, CheckoutKind};
pub use deadline::TOOL_EVENT;
pub use git_command::{GitCommand, GitFailed};
pub use location::behind;
pub use neighbour::NeighbourTable;
pub use object_id::{NotAnId, ObjectId};
pub use private_index::TreeId;
pub use process_table::processes_of;
pub use program::{Program, ProgramFailed};
pub use stat::{FileKind, Stat};
pub use tool_process::sessions_at_work;
pub use tree_content::InTree;
