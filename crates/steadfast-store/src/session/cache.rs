//! The state as it was folded up to a place in the journal.
//!
//! Old and new change places, and the next is written over the older of the two. Renaming over it would be simpler, but a
//! file system that means well (ext4) brings to the disk what replaces a file, which took longer than the rest of a hook. So
//! what is read may be half of this and half of that, after a power cut or under the hands of a writer: a checksum tells.
//! It is a field like others, because older versions read the file, too. What they write has none.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast_model::State;
use steadfast_system::exchange;

use super::journal::checksum;

/// What stands around the checksum of all that follows.
const BEFORE: &str = "{\"checksum\":\"";
const AFTER: &str = "\",";

/// The state folded up to a place in the journal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    #[serde(rename = "journal_offset")]
    pub(super) offset: u64,
    pub(super) state: State,
}

impl Cache {
    /// A cache that cannot be read is no cache: the journal has it all.
    pub(super) fn read(dir: &Path) -> Option<Self> {
        let path = dir.join("state");
        // Opening a pipe that somebody put there would wait for a writer.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        // Nobody writes into the file that has the name: what was torn is whole at a second look.
        Self::parse(&fs::read(&path).ok()?).or_else(|| Self::parse(&fs::read(path).ok()?))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        is_whole(bytes).then(|| serde_json::from_slice(bytes).ok()).flatten()
    }

    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        let body = serde_json::to_vec(self)?;
        // Without its bracket.
        let rest = &body[1..];
        let head = format!("{BEFORE}{:08x}{AFTER}", checksum(0, rest));
        exchange(&dir.join("state"), &[head.as_bytes(), rest].concat())
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(said) = bytes.strip_prefix(BEFORE.as_bytes()) else { return true };
    let Some((sum, rest)) = said.split_at_checked(8) else { return false };
    rest.strip_prefix(AFTER.as_bytes()).is_some_and(|rest| format!("{:08x}", checksum(0, rest)).as_bytes() == sum)
}
