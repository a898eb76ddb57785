//! The table of sealed paths, and copies of their content, named by its hash.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use steadfast_model::{GateScope, Millis};
use steadfast_system::{Access, FileLock, PendingFile, create_private_dir, replace, replace_durably};

use crate::digest;
use crate::file::replace_in_folder;
use crate::gate::scope_name;
use crate::place::Place;

/// The file that is locked while a seal changes.
const LOCK: &str = "lock";

/// The complete seal of one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    /// The time at which the gate closed. It tells this table from one that an earlier gate left behind.
    pub(super) closed_at: Option<Millis>,
    /// The commit that was checked out at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) head: Option<String>,
    /// Another commit was checked out since, and its changes were accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) switched: bool,
    /// Entries by the path from the root of the checkout.
    pub(super) entries: BTreeMap<String, Entry>,
    /// Folders and patterns all of whose files have an entry: a new file in them is a break.
    pub(super) whole: BTreeSet<String>,
    /// Protected paths that are not sealed, or only in part.
    pub(super) not_sealed: BTreeSet<String>,
    /// Paths that could not be restored: the change still counts as the agent's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) stuck: BTreeSet<String>,
    /// The last version of each path that was moved aside: its path in `seals/kept/`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) kept: BTreeMap<String, PathBuf>,
    /// The seal of patterns with too many files for per-file entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tree: Option<TreeSeal>,
}

impl Table {
    /// Returns the entry of a path, from the table or from the tree.
    pub(super) fn entry(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path).or_else(|| self.tree.as_ref()?.drawn.get(path))
    }
}

/// The sealed checkout as a git tree, for patterns with too many files for a hook to compare one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TreeSeal {
    pub(super) id: String,
    /// The sealed files, folders and patterns in the tree.
    pub(super) patterns: BTreeSet<String>,
    /// Files that were found different from the tree, with their expected content: as in the tree, or as a human changed it.
    pub(super) drawn: BTreeMap<String, Entry>,
}

/// The sealed state of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// SHA-256 of the content, or of a link's target. None for missing files and for files too large to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) size: u64,
    pub(super) mode: u32,
    /// True if there is a copy to restore.
    pub(super) copy: bool,
    /// None if the file was written so recently that a second write could have the same timestamp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stamp: Option<Stamp>,
}

impl Entry {
    pub(super) fn absent() -> Self {
        Self { kind: Kind::Absent, id: None, size: 0, mode: 0, copy: false, stamp: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Absent,
    File,
    Link,
}

/// The file is unchanged while this stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

impl Stamp {
    pub(super) fn of(found: &Metadata) -> Self {
        let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
        Self {
            inode: found.ino(),
            size: found.len(),
            mtime_ns: ns(found.mtime(), found.mtime_nsec()),
            ctime_ns: ns(found.ctime(), found.ctime_nsec()),
        }
    }

    /// Checks that any write after `now` gets another timestamp: clocks tick in steps, on some file systems in seconds.
    fn is_settled(&self, now_ns: i64) -> bool {
        let step = if self.ctime_ns % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 };
        self.ctime_ns.saturating_add(step) < now_ns
    }
}

/// The folder with the seal of one gate.
#[derive(Debug)]
pub(super) struct SealFolder {
    path: PathBuf,
}

impl SealFolder {
    pub(super) fn of(place: &Place, scope: &GateScope) -> Self {
        Self { path: place.state.join("seals").join(scope_name(scope)) }
    }

    /// Returns `None` if there is no seal, or the table cannot be read.
    pub(super) fn table(&self) -> Option<Table> {
        serde_json::from_slice(&fs::read(self.path.join("table")).ok()?).ok()
    }

    pub(super) fn keep(&self, table: &Table) -> io::Result<()> {
        replace_in_folder(&self.path.join("table"), &serde_json::to_vec(table)?)
    }

    /// Writes the table like [`Self::keep`], unless the seal was removed meanwhile.
    pub(super) fn renew(&self, table: &Table) -> io::Result<()> {
        replace_durably(&self.path.join("table"), &serde_json::to_vec(table)?, Access::Private)
    }

    /// Stores a copy, which must happen before the table with its id is written.
    pub(super) fn keep_copy(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        if self.copy(id).is_some() {
            return Ok(());
        }
        create_private_dir(&self.path)?;
        let path = self.path.join(id);
        let draft = PendingFile::beside(&path, bytes, Access::Private)?;
        draft.sync()?;
        draft.persist(&path)
    }

    /// Stores a copy like [`Self::keep_copy`] without flushing it, because the tree still has the content.
    pub(super) fn keep_drawn(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(id);
        if self.copy(id).is_some() {
            return Ok(());
        }
        replace(&path, bytes, Access::Private)
    }

    /// The folder for git's objects of the tree.
    pub(super) fn objects(&self) -> PathBuf {
        self.path.join("tree")
    }

    /// Returns the content with this hash. A damaged copy counts as missing.
    pub(super) fn copy(&self, id: &str) -> Option<Vec<u8>> {
        fs::read(self.path.join(id)).ok().filter(|bytes| digest::of_bytes(bytes) == id)
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    /// Takes the lock if possible. Operations under it are idempotent, so a caller that does not get the lock
    /// continues without it.
    pub(super) fn lock(&self, wait: Duration) -> Option<SealLock> {
        FileLock::with_folder(&self.path.join(LOCK), wait).ok()?.map(SealLock)
    }

    /// Takes the lock like [`Self::lock`], but only if the seal exists.
    pub(super) fn lock_existing(&self, wait: Duration) -> Option<SealLock> {
        FileLock::at(&self.path.join(LOCK), wait).ok()?.map(SealLock)
    }
}

/// The lock of a seal that is being changed.
#[derive(Debug)]
pub(super) struct SealLock(FileLock);

impl SealLock {
    /// Returns the time from the file system's clock. File timestamps cannot be compared with any other clock.
    fn now_ns(&self) -> Option<i64> {
        let mut file = self.0.file();
        let bytes = file.metadata().ok()?.len();
        io::Write::write_all(&mut file, b".").ok()?;
        if bytes > 4_096 {
            file.set_len(0).ok()?;
        }
        let now = file.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(now.as_nanos()).ok()
    }
}

/// The file system's time before files are read. It decides which stamps are safe against a later write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    now_ns: Option<i64>,
}

impl Clock {
    /// Must be called before the files are read.
    pub(super) fn read(lock: Option<&SealLock>) -> Self {
        Self { now_ns: lock.and_then(SealLock::now_ns) }
    }

    pub(super) fn settled(self, found: &Metadata) -> Option<Stamp> {
        let now = self.now_ns?;
        Some(Stamp::of(found)).filter(|stamp| stamp.is_settled(now))
    }
}

/// Opens a regular file for reading. Rejects links, and files that would block, such as pipes.
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = File::options().read(true).custom_flags(flags.cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a file")),
    }
}
