//! The object directory of the private index: objects for files that the user's git does not have.
//!
//! Git never removes anything from it, and every call adds what changed since the last one. When it grows past its
//! bound, it is deleted together with the index that depends on it, and filled again from the files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The allowed growth beyond the size of a new directory, in bytes: hours of edits, or a few builds that are not
/// ignored.
const GATHERED: u64 = 64 << 20;

/// The least space of a file on a disk.
const BLOCK: u64 = 4 << 10;

#[derive(Debug)]
pub(crate) struct PrivateObjects {
    dir: PathBuf,
    /// The file with the size of a new directory. Without it, a checkout full of large untracked files would be filled
    /// anew with every call.
    first: PathBuf,
}

impl PrivateObjects {
    pub(crate) fn of(private_dir: &Path) -> Self {
        Self { dir: private_dir.join("objects"), first: private_dir.join("objects.first") }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Creates the directory. It holds copies of the user's files, so only the user may read it.
    pub(crate) fn make(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.dir)
    }

    pub(crate) fn exceed_bound(&self) -> bool {
        let first = fs::read_to_string(&self.first).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let bound = first.unwrap_or(0).saturating_mul(2).saturating_add(GATHERED);
        bytes(&self.dir, bound) > bound
    }

    /// Notes the size of a new directory, once. A missing note only means that the directory is deleted a little
    /// earlier.
    pub(crate) fn note_first(&self) {
        if !self.first.exists() {
            let _ = fs::write(&self.first, bytes(&self.dir, u64::MAX).to_string());
        }
    }

    /// Deletes and recreates the directory. If this process is killed half-way, the next call deletes the rest or fills
    /// it up.
    pub(crate) fn recreate(&self) -> io::Result<()> {
        for gone in [fs::remove_file(&self.first), fs::remove_dir_all(&self.dir)] {
            match gone {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.make()
    }

    /// Removes the half-written objects of a killed git. Nothing depends on them, so errors are ignored.
    pub(crate) fn remove_partial(&self) {
        let dirs = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = dirs.filter_map(|dir| fs::read_dir(dir.path()).ok()).flatten().flatten();
        for file in files.filter(|file| file.file_name().as_encoded_bytes().starts_with(b"tmp_obj_")) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Sums up the disk space of the files in a folder, and stops counting at `enough`.
fn bytes(dir: &Path, enough: u64) -> u64 {
    let mut sum = 0;
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if sum > enough {
                return sum;
            }
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => sum += found.len().next_multiple_of(BLOCK),
                // Deleted meanwhile.
                Err(_) => {}
            }
        }
    }
    sum
}
