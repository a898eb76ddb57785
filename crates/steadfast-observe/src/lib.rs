//! What the world says: the only room that runs git or looks at files.
//!
//! A [`Checkout`] is found by reading `.git`, without running git. Whatever is asked of it comes with a time budget
//! and is answered with a [`Fact`](steadfast_model::Fact): known, or unknown with the reason. Nothing here waits past
//! its budget, and nothing here writes to or locks the user's git.
//!
//! [`GitCommand`] is the same door for the runner, which makes worktrees and branches of its own, and [`Program`] the one
//! to the program that keeps somebody's tasks.

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
