//! A cache of a session's state, up to an offset in its journal.
//!
//! The old and the new cache file change places, and the next write overwrites the older of the two. A rename would be
//! simpler, but ext4 flushes a file that replaces another one, which took longer than the rest of a hook. So after a power
//! cut, or during a write, a reader may get half of each version: a checksum detects this. The checksum is a JSON field,
//! because older versions read this file, too. Files that they write have no checksum.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast_model::State;
use steadfast_system::exchange;

use super::journal::checksum;

/// The text around the checksum, which covers everything after it.
const BEFORE: &str = "{\"checksum\":\"";
const AFTER: &str = "\",";

/// The state up to an offset in the journal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    #[serde(rename = "journal_offset")]
    pub(super) offset: u64,
    pub(super) state: State,
}

impl Cache {
    /// Reads the cache. An unreadable cache counts as missing, because the journal has everything.
    pub(super) fn read(dir: &Path) -> Option<Self> {
        let path = dir.join("state");
        // Opening a pipe instead of a file would wait for a writer.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        // The writer never changes the file under this name, so after a torn read a second read succeeds.
        Self::parse(&fs::read(&path).ok()?).or_else(|| Self::parse(&fs::read(path).ok()?))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        is_whole(bytes).then(|| serde_json::from_slice(bytes).ok()).flatten()
    }

    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        let body = serde_json::to_vec(self)?;
        // Without its opening brace.
        let rest = &body[1..];
        let head = format!("{BEFORE}{:08x}{AFTER}", checksum(0, rest));
        exchange(&dir.join("state"), &[head.as_bytes(), rest].concat())
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(after) = bytes.strip_prefix(BEFORE.as_bytes()) else { return true };
    let Some((sum, rest)) = after.split_at_checked(8) else { return false };
    rest.strip_prefix(AFTER.as_bytes()).is_some_and(|rest| format!("{:08x}", checksum(0, rest)).as_bytes() == sum)
}
