//! The doors to the operating system: replace a file, lock a file, read the process table, start a program. Other crates
//! start processes and read `/proc` only through here.
//!
//! Main items: [`replace`] and [`PendingFile`] write files in one step, [`FileLock`] locks between processes,
//! [`ProcessEntry`] is a row of `/proc`, [`program`] starts a process. Start with `file.rs`: Steadfast writes its state
//! through it.

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
