//! The last known content of the hosts' settings files: `wiring/<checkout>`.
//!
//! The table has a stamp for each file, so that checking it again costs one `stat`, and the deviations from what `init`
//! wrote.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast_model::{Host, Via, fnv};

use crate::file::replace_in_folder;
use crate::place::Place;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiringTable {
    /// For each host, the strongest settings file first.
    pub files: Vec<WatchedFile>,
}

/// A settings file in which a host may call Steadfast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedFile {
    pub host: Host,
    pub path: PathBuf,
    /// None if the file is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<FileStamp>,
    /// The expected calls of Steadfast.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<WatchedWay>,
    /// True if the file turns all hooks off, false if it turns them on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<bool>,
    /// The deviations from what `init` wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The last correct text of a file in the checkout. Steadfast restores it when a call of an agent removes the hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The file was in git's index at that time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tracked: bool,
}

/// One way in which a file calls Steadfast, as `init` wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedWay {
    pub via: Via,
    pub program: String,
    /// Events that were already not fully covered at that time: the user may want this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
}

/// The file is unchanged while this stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    inode: u64,
    size: u64,
    changed_ns: i64,
}

impl FileStamp {
    /// Reads the stamp of the file at a path, and follows links.
    pub fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let changed_ns = found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec());
        Some(Self { inode: found.ino(), size: found.len(), changed_ns })
    }
}

/// Returns `None` if there is no table, or it cannot be read: the caller makes a new one.
pub fn read_wiring(place: &Place) -> Option<WiringTable> {
    serde_json::from_slice(&fs::read(file(place)).ok()?).ok()
}

pub fn keep_wiring(place: &Place, table: &WiringTable) -> io::Result<()> {
    replace_in_folder(&file(place), &serde_json::to_vec(table)?)
}

/// Worktrees share the state, but each has its own settings files.
fn file(place: &Place) -> PathBuf {
    let name = fnv([place.root.as_os_str().as_encoded_bytes()]);
    place.state.join("wiring").join(format!("{name:016x}"))
}
