use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use steadfast_model::Fact;

use crate::checkout::Checkout;
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::location::behind;

/// The metadata of a path. A link is described itself, not its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    pub kind: FileKind,
    /// Reading or writing here reaches a place outside the root: through a link, through `..`, or because the path is
    /// absolute.
    pub outside: bool,
    pub len: u64,
    pub mtime_ns: i64,
    /// The permissions, and on Unix the type too.
    pub mode: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    Missing,
    File,
    Folder,
    /// The text of the link.
    Link(PathBuf),
    /// A pipe, a socket, a device.
    Special,
}

impl Checkout {
    /// Returns one answer per path, in order. Relative paths start at the root.
    pub fn stat(&self, paths: &[impl AsRef<Path>], budget: Duration) -> Vec<(PathBuf, Fact<Stat>)> {
        let deadline = Deadline::after(budget);
        let stat_of = |path: &Path| deadline.left().and_then(|_| stat_of(&self.root, path));
        paths.iter().map(AsRef::as_ref).map(|path| (path.to_owned(), fact(stat_of(path)))).collect()
    }
}

fn stat_of(root: &Path, path: &Path) -> Result<Stat, ObserveError> {
    let path = root.join(path);
    let outside = !behind(&path).is_some_and(|place| place.starts_with(root));
    match fs::symlink_metadata(&path) {
        Ok(found) => {
            let kind = kind_of(&path, &found)?;
            Ok(Stat { kind, outside, len: found.len(), mtime_ns: mtime_ns(&found), mode: found.mode() })
        }
        // A path below a file does not exist either.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Stat { kind: FileKind::Missing, outside, len: 0, mtime_ns: 0, mode: 0 })
        }
        Err(error) => Err(ObserveError::File { path, source: error }),
    }
}

pub(crate) fn kind_of(path: &Path, found: &Metadata) -> Result<FileKind, ObserveError> {
    let kind = found.file_type();
    Ok(if kind.is_symlink() {
        FileKind::Link(fs::read_link(path).map_err(ObserveError::file(path))?)
    } else if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_file() {
        FileKind::File
    } else {
        FileKind::Special
    })
}

fn mtime_ns(found: &Metadata) -> i64 {
    let Ok(modified) = found.modified() else { return 0 };
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => nanoseconds(after),
        Err(before) => -nanoseconds(before.duration()),
    }
}
