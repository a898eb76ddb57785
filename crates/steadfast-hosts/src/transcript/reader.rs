use std::io;
use std::path::{Path, PathBuf};

use super::line::Lines;
use super::seen_items::SeenItems;
use super::source::Source;
use super::{TranscriptRecord, Writer};
use crate::{claude, codex};

/// How many rows may say nothing of who wrote them.
const SILENT: usize = 1_000;

/// How much of a file is looked at to know one that is no list of rows.
const HEAD: usize = 4_096;

#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

/// A row that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Counted from one, without empty ones.
    pub row: u64,
}

/// A session, from its file.
#[derive(Debug)]
pub struct Transcript {
    lines: Lines<Source>,
    writer: Option<Writer>,
    once: SeenItems,
    /// The subagent whose transcript this is, where a row said so.
    agent: Option<String>,
    rows: u64,
    damaged: u64,
}

impl Transcript {
    /// Opens a file and finds out who wrote it. That nobody is known to write such a file is no error: it may be damaged.
    pub fn open(path: &Path) -> Result<Self, TranscriptError> {
        let source = || Source::open(path).map_err(unreadable(path));
        Ok(Self::new(writer_of(source()?), source()?))
    }

    /// The same of a file that is in memory.
    pub fn of_bytes(bytes: &[u8]) -> io::Result<Self> {
        let source = || Source::of(io::Cursor::new(bytes.to_vec()));
        Ok(Self::new(writer_of(source()?), source()?))
    }

    fn new(writer: Option<Writer>, source: Source) -> Self {
        Self { lines: Lines::new(source, 0), writer, once: SeenItems::default(), agent: None, rows: 0, damaged: 0 }
    }

    pub fn writer(&self) -> Option<Writer> {
        self.writer
    }

    /// Rows so far, damaged ones among them.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows so far that could not be read.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The next row. What an earlier row already told, in a session that was resumed or forked, is left out of it.
    #[expect(clippy::should_implement_trait, reason = "a row borrows from the transcript, which no iterator can say")]
    pub fn next(&mut self) -> Option<Result<TranscriptRecord<'_>, Damage>> {
        // What breaks off in the middle of a packed file ends there.
        let line = self.lines.next().unwrap_or_default()?.bytes;
        self.rows += 1;
        let writer = self.writer;
        match writer.and_then(|writer| read(writer, line)) {
            Some(mut record) => {
                if self.rows == 1 && writer == Some(Writer::Codex) {
                    self.agent = record.thread.agent().map(str::to_owned);
                }
                if let Some(agent) = &self.agent {
                    record.belong_to(agent);
                }
                self.once.keep(&mut record);
                Some(Ok(record))
            }
            None => {
                self.damaged += 1;
                Some(Err(Damage { row: self.rows }))
            }
        }
    }
}

/// Whether a line decodes into the structs of its writer's rows, and nothing more: what the benchmark compares with.
#[doc(hidden)]
pub fn decodes(writer: Writer, line: &[u8]) -> bool {
    match writer {
        Writer::Claude => claude::transcript::decodes(line),
        Writer::Codex => codex::transcript::decodes(line),
        Writer::Copilot | Writer::Gemini => false,
    }
}

/// One row of that writer.
pub(super) fn read(writer: Writer, line: &[u8]) -> Option<TranscriptRecord<'_>> {
    // A list would be read as an object whose fields come in order.
    if !line.starts_with(b"{") {
        return None;
    }
    match writer {
        Writer::Claude => claude::transcript::record(line),
        Writer::Codex => codex::transcript::record(line),
        Writer::Copilot | Writer::Gemini => None,
    }
}

pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> TranscriptError {
    |source| TranscriptError::Unreadable { path: path.to_owned(), source }
}

/// Who wrote it.
pub(super) fn writer_of(source: Source) -> Option<Writer> {
    let mut lines = Lines::new(source, 0);
    let mut head = Vec::new();
    for _ in 0..SILENT {
        let Ok(Some(line)) = lines.next() else { break };
        if let Some(writer) = Writer::of(line.bytes) {
            return Some(writer);
        }
        if head.len() < HEAD {
            head.extend_from_slice(&line.bytes[..line.bytes.len().min(HEAD)]);
        }
    }
    // Gemini CLI writes one object over many lines.
    let spread = head.trim_ascii_start().starts_with(b"{") && memchr::memmem::find(&head, b"\"projectHash\"").is_some();
    spread.then_some(Writer::Gemini)
}
