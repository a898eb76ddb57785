//! What is sealed: a table of paths, and beside it a copy of each by the hash of its content.

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

/// The file that is locked while a seal is changed.
const LOCK: &str = "lock";

/// Everything about the seal of one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    /// When the gate was closed: a table that a gate before this one left behind is told by it.
    pub(super) closed_at: Option<Millis>,
    /// The commit that was checked out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) head: Option<String>,
    /// Another one was checked out since, and what that changed was taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) switched: bool,
    /// By the path from the root of the checkout.
    pub(super) entries: BTreeMap<String, Entry>,
    /// Folders and names with `*` or `?`, all of whose files are sealed: one more in them is a break.
    pub(super) whole: BTreeSet<String>,
    /// What is protected and not sealed, or not all of it.
    pub(super) not_sealed: BTreeSet<String>,
    /// What could not be put back when it was to be: it is still the agent's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) stuck: BTreeSet<String>,
    /// The last version of a path that was moved aside: by its name in the folder of what is kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) kept: BTreeMap<String, PathBuf>,
    /// What was too much for single entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tree: Option<TreeSeal>,
}

impl Table {
    /// What is sealed of a path, by itself or out of the tree.
    pub(super) fn entry(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path).or_else(|| self.tree.as_ref()?.drawn.get(path))
    }
}

/// The checkout as it was, as a tree of git's: for what is more than a hook can look at one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TreeSeal {
    pub(super) id: String,
    /// What is looked for in it: files, folders, names with `*` or `?`.
    pub(super) patterns: BTreeSet<String>,
    /// What was once found to be another than in the tree, with what it has to be: as in the tree, or as a human left it.
    pub(super) drawn: BTreeMap<String, Entry>,
}

/// What lay at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// SHA-256 of the content, of a link: of its text. None where nothing was, and for what is too large to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) size: u64,
    pub(super) mode: u32,
    /// Whether there is a copy to put back.
    pub(super) copy: bool,
    /// None where it was written so shortly before that a second write could have the same time.
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

/// While this is the same, nobody wrote.
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

    /// Whether a write after `now` must have another time than this: clocks tick in steps, some file systems in seconds.
    fn is_settled(&self, now_ns: i64) -> bool {
        let step = if self.ctime_ns % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 };
        self.ctime_ns.saturating_add(step) < now_ns
    }
}

/// The folder of a scope's seal.
#[derive(Debug)]
pub(super) struct SealFolder {
    path: PathBuf,
}

impl SealFolder {
    pub(super) fn of(place: &Place, scope: &GateScope) -> Self {
        Self { path: place.state.join("seals").join(scope_name(scope)) }
    }

    /// None where nothing is sealed, or the table cannot be read.
    pub(super) fn table(&self) -> Option<Table> {
        serde_json::from_slice(&fs::read(self.path.join("table")).ok()?).ok()
    }

    pub(super) fn keep(&self, table: &Table) -> io::Result<()> {
        replace_in_folder(&self.path.join("table"), &serde_json::to_vec(table)?)
    }

    /// As [`Self::keep`], unless the seal was taken off meanwhile.
    pub(super) fn renew(&self, table: &Table) -> io::Result<()> {
        replace_durably(&self.path.join("table"), &serde_json::to_vec(table)?, Access::Private)
    }

    /// Before the table that speaks of it.
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

    /// As [`Self::keep_copy`], of what can be had again from the tree: nobody waits for the disk.
    pub(super) fn keep_drawn(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(id);
        if self.copy(id).is_some() {
            return Ok(());
        }
        replace(&path, bytes, Access::Private)
    }

    /// Where git keeps the objects of the tree.
    pub(super) fn objects(&self) -> PathBuf {
        self.path.join("tree")
    }

    /// The content of this hash. A copy that is torn is none.
    pub(super) fn copy(&self, id: &str) -> Option<Vec<u8>> {
        fs::read(self.path.join(id)).ok().filter(|bytes| digest::of_bytes(bytes) == id)
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    /// One at a time, if possible: what is done under it is idempotent, so nobody waits for long, and nobody who could
    /// not get it gives up.
    pub(super) fn lock(&self, wait: Duration) -> Option<SealLock> {
        FileLock::with_folder(&self.path.join(LOCK), wait).ok()?.map(SealLock)
    }

    /// As [`Self::lock`], where something is sealed.
    pub(super) fn lock_existing(&self, wait: Duration) -> Option<SealLock> {
        FileLock::at(&self.path.join(LOCK), wait).ok()?.map(SealLock)
    }
}

/// Held while a seal is changed.
#[derive(Debug)]
pub(super) struct SealLock(FileLock);

impl SealLock {
    /// What the file system's clock says. No other clock can be compared to its times.
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

/// The stamp of a file that is looked at now, if it can be told from one after a later write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    now_ns: Option<i64>,
}

impl Clock {
    /// To be read before the files are looked at.
    pub(super) fn read(lock: Option<&SealLock>) -> Self {
        Self { now_ns: lock.and_then(SealLock::now_ns) }
    }

    pub(super) fn settled(self, found: &Metadata) -> Option<Stamp> {
        let now = self.now_ns?;
        Some(Stamp::of(found)).filter(|stamp| stamp.is_settled(now))
    }
}

/// Opens a file for reading, never a link or what would keep us waiting.
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = File::options().read(true).custom_flags(flags.cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a file")),
    }
}
