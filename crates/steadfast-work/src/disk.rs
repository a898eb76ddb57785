//! Room on a disk.

use std::io;
use std::path::Path;

/// Less than this, and a worktree or the ledger is soon torn.
pub const LEAST_FREE: u64 = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Enough,
    /// Less than [`LEAST_FREE`].
    NearlyFull,
}

/// How much room there is where a folder lies.
pub fn room(folder: &Path) -> io::Result<Room> {
    let space = rustix::fs::statvfs(folder)?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    Ok(if free < LEAST_FREE { Room::NearlyFull } else { Room::Enough })
}
