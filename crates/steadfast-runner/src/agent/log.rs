//! What an agent printed, for whoever looks for the reason later.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What one agent may write: one that floods its output must not fill the disk.
const MOST: usize = 64 << 20;

/// Nothing here fails: an agent is not ended for want of a log.
#[derive(Debug)]
pub(super) struct Log {
    file: Option<File>,
    left: usize,
}

impl Log {
    pub(super) fn open(path: &Path) -> Self {
        if let Some(folder) = path.parent() {
            let _ = fs::create_dir_all(folder);
        }
        // What an agent reads may be secret.
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok();
        Self { file, left: MOST }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let fits = bytes.len().min(self.left);
        self.left -= fits;
        let written = file.write_all(&bytes[..fits]);
        if fits < bytes.len() {
            let _ = file.write_all(b"\n(more was printed, and is not kept)\n");
        }
        if fits < bytes.len() || written.is_err() {
            self.file = None;
        }
    }
}
