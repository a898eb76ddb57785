//! What the operating system does for us, one door each: replace a file, lock a file, read the process table, start a
//! program. All else that starts a process or reads `/proc` goes through here.

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
