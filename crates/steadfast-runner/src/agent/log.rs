//! What an agent printed, for whoever looks for the reason later.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use steadfast_redact::{redact, redact_document};

/// What one agent may write: one that floods its output must not fill the disk.
const MOST: usize = 64 << 20;

/// Nothing here fails: an agent is not ended for want of a log.
#[derive(Debug)]
pub(super) struct Log {
    file: Option<File>,
    left: usize,
    /// The beginning of a line. Secrets are found in whole ones.
    begun: Vec<u8>,
}

/// What is longer is kept in pieces.
const LONGEST: usize = 1 << 20;

impl Log {
    pub(super) fn open(path: &Path) -> Self {
        if let Some(folder) = path.parent() {
            let _ = fs::create_dir_all(folder);
        }
        // What an agent reads may be secret.
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok();
        Self { file, left: MOST, begun: Vec::new() }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.file.is_none() {
            return;
        }
        self.begun.extend_from_slice(bytes);
        let lines = match self.begun.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if self.begun.len() > LONGEST => self.begun.len(),
            None => return,
        };
        let rest = self.begun.split_off(lines);
        let lines = std::mem::replace(&mut self.begun, rest);
        self.keep(&lines);
    }

    fn keep(&mut self, lines: &[u8]) {
        let text = String::from_utf8_lossy(lines);
        // The strings of a document first, then what only stands beside its name: `"password": "…"`.
        let clean: String =
            text.split_inclusive('\n').map(|line| redact(&redact_document(line)).into_owned()).collect();
        // A private key has many lines.
        self.append(redact(&clean).as_bytes());
    }

    fn append(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let fits = bytes.len().min(self.left);
        self.left -= fits;
        let written = file.write_all(&bytes[..fits]);
        if fits < bytes.len() {
            let _ = file.write_all(b"\n(the log is full; later output is not kept)\n");
        }
        if fits < bytes.len() || written.is_err() {
            self.file = None;
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let rest = std::mem::take(&mut self.begun);
        self.keep(&rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_holds_no_secret_however_it_came_in() {
        let token = ["gh", "p_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m"].concat();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/unit.log");
        let mut log = Log::open(&path);
        let said = format!(
            "{{\"said\":\"a \\\"{token}\\\"\",\"password\":\"Hunter22x\"}}\nplain {token}\nPASSWORD=Hunter22x and the rest {token}"
        );
        for piece in said.as_bytes().chunks(7) {
            log.write(piece);
        }
        drop(log);
        let kept = fs::read_to_string(path).unwrap();
        assert!(!kept.contains(&token) && !kept.contains("Hunter22x"), "{kept}");
        assert!(kept.lines().count() == 3 && kept.contains("and the rest [redacted:"), "{kept}");
    }
}
