//! The doors to the operating system: replace a file, lock a file, read the process table, start a program. Clippy's
//! `disallowed-methods` sends every other crate through them.
//!
//! Main items: [`replace`] and [`PendingFile`] write files in one step, [`FileLock`] locks between processes,
//! [`ProcessEntry`] is a row of `/proc`, [`program`] starts a process. Start with `file.rs`: all state of Steadfast is
//! written through it.

mod file;
mod lock;
mod process;
mod program;

pub use file::{
    Access, PendingFile, create_private_dir, exchange, private_options, replace, replace_durably, replace_link,
    sync_folder,
};
pub use lock::{FileLock, lock_within};
pub use process::{ProcessEntry, process_ids};
pub use program::program;
