//! The log of an agent's output, for later diagnosis.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use steadfast_redact::{redact, redact_document};

/// The limit for one agent, so that endless output does not fill the disk.
const MOST: usize = 64 << 20;

/// All errors are ignored: a missing log is no reason to end an agent.
#[derive(Debug)]
pub(super) struct Log {
    file: Option<File>,
    left: usize,
    /// The beginning of an unfinished line. Redaction needs whole lines.
    partial: Vec<u8>,
}

/// A longer line is written in pieces.
const LONGEST: usize = 1 << 20;

impl Log {
    pub(super) fn open(path: &Path) -> Self {
        if let Some(folder) = path.parent() {
            let _ = fs::create_dir_all(folder);
        }
        // The agent may read and print secrets.
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok();
        Self { file, left: MOST, partial: Vec::new() }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.file.is_none() {
            return;
        }
        self.partial.extend_from_slice(bytes);
        let lines = match self.partial.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if self.partial.len() > LONGEST => self.partial.len(),
            None => return,
        };
        let rest = self.partial.split_off(lines);
        let lines = std::mem::replace(&mut self.partial, rest);
        self.keep(&lines);
    }

    fn keep(&mut self, lines: &[u8]) {
        let text = String::from_utf8_lossy(lines);
        // Redact the strings of a JSON line first, then values beside a telling name: `"password": "…"`.
        let clean: String =
            text.split_inclusive('\n').map(|line| redact(&redact_document(line)).into_owned()).collect();
        // A private key spans many lines.
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
        let rest = std::mem::take(&mut self.partial);
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
