//! The object directory of the private index: what git writes for files that the user's git does not have.
//!
//! Git never takes anything out of it, and every call adds what changed since the last one. So it has a bound, past which
//! it is thrown away with the index that leans on it, and filled anew from the files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What may gather beside what a new one would hold: hours of edits, or a few builds that are not ignored.
const GATHERED: u64 = 64 << 20;

/// The least that a file takes on a disk.
const BLOCK: u64 = 4 << 10;

#[derive(Debug)]
pub(crate) struct PrivateObjects {
    dir: PathBuf,
    /// How much was in it when it was new: a checkout full of large files that git does not know is no reason to fill it
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

    /// What it holds are copies of the user's files: nobody else may look into it.
    pub(crate) fn make(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.dir)
    }

    /// Whether so much has gathered that it is to be thrown away.
    pub(crate) fn are_too_many(&self) -> bool {
        let first = fs::read_to_string(&self.first).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let bound = first.unwrap_or(0).saturating_mul(2).saturating_add(GATHERED);
        bytes(&self.dir, bound) > bound
    }

    /// Notes how much a new one holds. One that was noted before is not new; one that is not noted goes a little earlier.
    pub(crate) fn note_first(&self) {
        if !self.first.exists() {
            let _ = fs::write(&self.first, bytes(&self.dir, u64::MAX).to_string());
        }
    }

    /// Whoever dies in here leaves a part of the objects, and the next call throws those away too or fills them up.
    pub(crate) fn throw_away(&self) -> io::Result<()> {
        for gone in [fs::remove_file(&self.first), fs::remove_dir_all(&self.dir)] {
            match gone {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.make()
    }

    /// Removes what a git that was killed had half written. Nothing depends on these, so nothing fails for them.
    pub(crate) fn drop_halves(&self) {
        let dirs = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = dirs.filter_map(|dir| fs::read_dir(dir.path()).ok()).flatten().flatten();
        for file in files.filter(|file| file.file_name().as_encoded_bytes().starts_with(b"tmp_obj_")) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// What the files in a folder take on a disk, counted until it is `enough`.
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
                // Gone meanwhile.
                Err(_) => {}
            }
        }
    }
    sum
}
