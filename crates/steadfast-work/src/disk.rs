//! Free space on a disk.

use std::io;
use std::path::Path;

/// With less free space, writing a worktree or the ledger is likely to fail halfway.
pub const LEAST_FREE: u64 = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Enough,
    /// Less than [`LEAST_FREE`].
    NearlyFull,
}

/// Checks the free space of the disk that a folder is on.
pub fn room(folder: &Path) -> io::Result<Room> {
    let space = rustix::fs::statvfs(folder)?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    Ok(if free < LEAST_FREE { Room::NearlyFull } else { Room::Enough })
}
