//! The state as one line like those of the journal: where in the journal it was folded up to, then JSON.
//!
//! Old and new change places, and the next is written over the older of the two. Renaming over it would be simpler, but a
//! file system that means well (ext4) brings to the disk what replaces a file, which took longer than the rest of a hook. So
//! what is read may be half of this and half of that, after a power cut or under the hands of a writer: the checksum tells.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_model::State;

use super::journal::{framed, whole};
use crate::file::exchange;

/// The state folded up to a place in the journal.
#[derive(Debug)]
pub(super) struct Cache {
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
        let (offset, body, _) = whole(bytes)?;
        Some(Self { offset, state: serde_json::from_slice(body).ok()? })
    }

    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        exchange(&dir.join("state"), &framed(self.offset, &self.state)?)
    }
}
