use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast_model::fnv;

use super::line::Lines;
use super::reader::{read, unreadable, writer_of};
use super::source::Source;
use super::{Damage, TranscriptError, TranscriptRecord, Writer};

/// The number of bytes before the offset that are hashed, to recognise a rewritten file.
const REMEMBERED: u64 = 4_096;

/// A position in a transcript that still grows. Stored between readings, which may happen in different processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptCursor {
    /// The start of the first unread line.
    pub offset: u64,
    pub inode: u64,
    /// The length of the file; it exceeds the offset if the last line was incomplete.
    pub length: u64,
    /// The hash of the last bytes before the offset.
    before: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writer: Option<Writer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
}

/// The place where a reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    /// At the first row: there was no earlier reading.
    First,
    /// At the end of the previous reading.
    Where,
    /// At the first row, because the file was replaced or truncated.
    Anew,
}

/// The rows added to a transcript. An incomplete last line is still being written; the next reading returns it.
#[derive(Debug)]
pub struct TranscriptTail {
    lines: Lines<File>,
    cursor: TranscriptCursor,
    began: Began,
    rows: u64,
    /// A second handle, which hashes the bytes before the offset for the next cursor.
    file: File,
}

impl TranscriptTail {
    pub fn open(path: &Path, before: Option<&TranscriptCursor>) -> Result<Self, TranscriptError> {
        Self::try_open(path, before).map_err(unreadable(path))
    }

    fn try_open(path: &Path, before: Option<&TranscriptCursor>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let known = before.filter(|cursor| is_unchanged(cursor, &metadata, &mut file));
        let began = match (known, before) {
            (Some(_), _) => Began::Where,
            (None, Some(_)) => Began::Anew,
            (None, None) => Began::First,
        };
        let mut cursor = known.cloned().unwrap_or_default();
        cursor.inode = inode(&metadata);
        cursor.length = metadata.len();
        if cursor.writer.is_none() {
            cursor.writer = writer_of(Source::open(path)?);
        }
        file.seek(SeekFrom::Start(cursor.offset))?;
        let lines = Lines::new(file.try_clone()?, cursor.offset);
        Ok(Self { lines, cursor, began, rows: 0, file })
    }

    pub fn began(&self) -> Began {
        self.began
    }

    #[expect(clippy::should_implement_trait, reason = "a row borrows from the tail, which no iterator can say")]
    pub fn next(&mut self) -> Option<Result<TranscriptRecord<'_>, Damage>> {
        let line = self.lines.next().unwrap_or_default().filter(|line| line.whole)?;
        self.cursor.offset = line.next;
        self.rows += 1;
        let writer = self.cursor.writer;
        let Some(mut record) = writer.and_then(|writer| read(writer, line.bytes)) else {
            return Some(Err(Damage { row: self.rows }));
        };
        if self.rows == 1 && self.began != Began::Where && writer == Some(Writer::Codex) {
            self.cursor.agent = record.thread.agent().map(str::to_owned);
        }
        if let Some(agent) = &self.cursor.agent {
            record.belong_to(agent);
        }
        Some(Ok(record))
    }

    /// Returns the cursor for the next reading.
    pub fn cursor(mut self) -> TranscriptCursor {
        self.cursor.before = hash_before(&mut self.file, self.cursor.offset).unwrap_or_default();
        self.cursor.length = self.cursor.length.max(self.cursor.offset);
        self.cursor
    }
}

/// Returns true if the bytes read earlier are unchanged. If the file was truncated after them, only an incomplete line
/// was lost, which was never read.
fn is_unchanged(cursor: &TranscriptCursor, metadata: &Metadata, file: &mut File) -> bool {
    cursor.inode == inode(metadata)
        && metadata.len() >= cursor.offset
        && hash_before(file, cursor.offset).is_ok_and(|hash| hash == cursor.before)
}

fn hash_before(file: &mut File, offset: u64) -> io::Result<u64> {
    let length = offset.min(REMEMBERED);
    let mut bytes = vec![0; length as usize];
    file.seek(SeekFrom::Start(offset - length))?;
    file.read_exact(&mut bytes)?;
    Ok(fnv([bytes.as_slice()]))
}

fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}
