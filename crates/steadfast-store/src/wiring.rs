//! How the hosts' settings stood when they were last looked at: `wiring/<checkout>`.
//!
//! A stamp for each file, so that looking again costs a `stat`; and what of it was not as `init` wrote it.

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
    /// The strongest of each host first.
    pub files: Vec<WatchedFile>,
}

/// A settings file in which a host may call us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedFile {
    pub host: Host,
    pub path: PathBuf,
    /// None where it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<FileStamp>,
    /// How it is to call us.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<WatchedWay>,
    /// It switches all hooks off, or says that they are on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<bool>,
    /// What of it is not as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What it said when it called us as it should. Of files in the checkout: they are put back when a call removes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Git had it in its index then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tracked: bool,
}

/// A way in which a file calls us, as `init` left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedWay {
    pub via: Via,
    pub program: String,
    /// The events for which it did not call us in full even then: a user may want that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
}

/// While this is the same, nobody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    inode: u64,
    size: u64,
    changed_ns: i64,
}

impl FileStamp {
    /// Of what lies at a path, behind links.
    pub fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let changed_ns = found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec());
        Some(Self { inode: found.ino(), size: found.len(), changed_ns })
    }
}

/// None where nobody looked yet, or it cannot be read: then it is made anew.
pub fn read_wiring(place: &Place) -> Option<WiringTable> {
    serde_json::from_slice(&fs::read(file(place)).ok()?).ok()
}

pub fn keep_wiring(place: &Place, table: &WiringTable) -> io::Result<()> {
    replace_in_folder(&file(place), &serde_json::to_vec(table)?)
}

/// Worktrees share the state, and each has settings of its own.
fn file(place: &Place) -> PathBuf {
    let name = fnv([place.root.as_os_str().as_encoded_bytes()]);
    place.state.join("wiring").join(format!("{name:016x}"))
}
