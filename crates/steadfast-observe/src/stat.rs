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

/// What lies at a path. A link is described itself, never what it points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    pub kind: FileKind,
    /// Reading or writing here reaches a place that is not beneath the root, by a link, by `..`, or because the path
    /// says so.
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
    /// With the text of the link.
    Link(PathBuf),
    /// A pipe, a socket, a device.
    Special,
}

impl Checkout {
    /// One answer per path, in order. A path that is not absolute is meant from the root.
    pub fn stat(&self, paths: &[impl AsRef<Path>], budget: Duration) -> Vec<(PathBuf, Fact<Stat>)> {
        let deadline = Deadline::after(budget);
        let look = |path: &Path| deadline.left().and_then(|_| look(&self.root, path));
        paths.iter().map(AsRef::as_ref).map(|path| (path.to_owned(), fact(look(path)))).collect()
    }
}

fn look(root: &Path, path: &Path) -> Result<Stat, ObserveError> {
    let path = root.join(path);
    let outside = !behind(&path).is_some_and(|place| place.starts_with(root));
    match fs::symlink_metadata(&path) {
        Ok(found) => {
            let kind = kind_of(&path, &found)?;
            Ok(Stat { kind, outside, len: found.len(), mtime_ns: mtime_ns(&found), mode: found.mode() })
        }
        // Below something that is no folder there is nothing either.
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
