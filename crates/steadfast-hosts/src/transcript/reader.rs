use std::io;
use std::path::{Path, PathBuf};

use super::line::Lines;
use super::seen_items::SeenItems;
use super::source::Source;
use super::{TranscriptRecord, Writer};
use crate::{claude, codex};

/// The most rows that are read to identify the writer.
const SILENT: usize = 1_000;

/// The part of a file that is searched for a format without rows, in bytes.
const HEAD: usize = 4_096;

#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

/// An unreadable row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Counts from 1, without empty rows.
    pub row: u64,
}

/// A session, read from its file.
#[derive(Debug)]
pub struct Transcript {
    lines: Lines<Source>,
    writer: Option<Writer>,
    seen_items: SeenItems,
    /// The subagent whose transcript this is, if a row names it.
    agent: Option<String>,
    rows: u64,
    damaged: u64,
}

impl Transcript {
    /// Opens a file and identifies its writer. An unknown writer is not an error: the file may be damaged.
    pub fn open(path: &Path) -> Result<Self, TranscriptError> {
        let source = || Source::open(path).map_err(unreadable(path));
        Ok(Self::new(writer_of(source()?), source()?))
    }

    /// Like [`Transcript::open`], for a file in memory.
    pub fn of_bytes(bytes: &[u8]) -> io::Result<Self> {
        let source = || Source::of(io::Cursor::new(bytes.to_vec()));
        Ok(Self::new(writer_of(source()?), source()?))
    }

    fn new(writer: Option<Writer>, source: Source) -> Self {
        Self {
            lines: Lines::new(source, 0),
            writer,
            seen_items: SeenItems::default(),
            agent: None,
            rows: 0,
            damaged: 0,
        }
    }

    pub fn writer(&self) -> Option<Writer> {
        self.writer
    }

    /// Returns the number of rows so far, including damaged ones.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of unreadable rows so far.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns the next row, without items that an earlier row already contained (in a resumed or forked session).
    #[expect(clippy::should_implement_trait, reason = "a row borrows from the transcript, which no iterator can say")]
    pub fn next(&mut self) -> Option<Result<TranscriptRecord<'_>, Damage>> {
        // A packed file that breaks off in the middle ends there.
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
                self.seen_items.remove_repeated(&mut record);
                Some(Ok(record))
            }
            None => {
                self.damaged += 1;
                Some(Err(Damage { row: self.rows }))
            }
        }
    }
}

/// Returns true if a line decodes into the row types of its writer; a reference point for the benchmark.
#[doc(hidden)]
pub fn decodes(writer: Writer, line: &[u8]) -> bool {
    match writer {
        Writer::Claude => claude::transcript::decodes(line),
        Writer::Codex => codex::transcript::decodes(line),
        Writer::Copilot | Writer::Gemini => false,
    }
}

/// Reads one row of this writer.
pub(super) fn read(writer: Writer, line: &[u8]) -> Option<TranscriptRecord<'_>> {
    // serde would read a list as an object with its fields in order.
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

/// Identifies the writer from the first rows.
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
