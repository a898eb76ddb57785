use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast_model::State;

use crate::file::replace;

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
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        replace(&dir.join("state"), &serde_json::to_vec(self)?)
    }
}
