//! The journal of a session: one line per event, with length, sequence and checksum in hexadecimal, then JSON.
//!
//! ```text
//! 000001a7 0000000000000003 5f1d9c21 {"record":{"event":{…},"changes":[…]}}
//! ```
//!
//! Each line is written by one `write`. A partial line from a killed process fails its checksum, and the next writer cuts
//! it.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use steadfast_model::{Entry, SessionId, State};

use steadfast_redact::redact_json;
use steadfast_system::private_options;

pub(super) const FILE: &str = "journal";

/// Damaged lines that are not just a torn end, kept for a human.
pub(super) const DAMAGED: &str = "journal.damaged";

/// The maximum size of that file: a failing disk must not fill itself with damaged lines.
const DAMAGED_BYTES: u64 = 4 << 20;

/// The length of `llllllll ssssssssssssssss cccccccc `.
const HEAD: usize = 35;

/// A line of a journal, and its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub sequence: u64,
    /// The offset after its last byte.
    pub end: u64,
    pub entry: Entry,
}

/// A journal, opened by its only writer.
#[derive(Debug)]
pub(super) struct Journal<'a> {
    dir: &'a Path,
    file: File,
    end: u64,
}

impl<'a> Journal<'a> {
    pub(super) fn open(dir: &'a Path) -> io::Result<Self> {
        let file = private_options().read(true).append(true).create(true).open(dir.join(FILE))?;
        let end = file.metadata()?.len();
        Ok(Self { dir, file, end })
    }

    /// Returns the end of the last complete line, after [`Self::tail`] was called.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Passes every complete line after `offset` to `line`, and cuts a torn end.
    pub(super) fn tail(&mut self, offset: u64, mut line: impl FnMut(u64, Entry)) -> io::Result<()> {
        if offset == self.end {
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_to_end(&mut bytes)?;
        let mut at = 0;
        while let Some((sequence, entry, length)) = parse(&bytes[at..]) {
            line(sequence, entry);
            at += length;
        }
        // This line is complete, but from a newer version. Cutting it would lose it for that version.
        if let Some((sequence, ..)) = whole(&bytes[at..]) {
            let why = format!("this version does not know the kind of line {sequence}: update steadfast");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if at < bytes.len() {
            self.cut(offset + at as u64, &bytes[at..])?;
        }
        Ok(())
    }

    /// Appends one line in one write. If a secret was redacted, the redacted entry is returned, because the state must not
    /// contain more than the journal.
    pub(super) fn append(&mut self, sequence: u64, entry: &Entry) -> io::Result<Option<Entry>> {
        let (line, is_redacted) = format(sequence, entry)?;
        match self.file.write_all(&line) {
            Ok(()) => {
                self.end += line.len() as u64;
                Ok(is_redacted.then(|| parse(&line)).flatten().map(|(_, entry, _)| entry))
            }
            Err(error) => {
                // A full disk leaves half a line. The next writer would cut it, but it is better to do it now.
                let _ = self.file.set_len(self.end);
                Err(error)
            }
        }
    }

    fn cut(&mut self, end: u64, torn: &[u8]) -> io::Result<()> {
        // A killed process leaves half a line at the end. Anything else is damage: keep it for a human.
        if torn.iter().position(|byte| *byte == b'\n').is_some_and(|newline| newline + 1 < torn.len()) {
            let mut kept = private_options().append(true).create(true).open(self.dir.join(DAMAGED))?;
            let room = DAMAGED_BYTES.saturating_sub(kept.metadata()?.len());
            kept.write_all(&torn[..torn.len().min(usize::try_from(room).unwrap_or(usize::MAX))])?;
        }
        self.file.set_len(end)?;
        self.end = end;
        Ok(())
    }
}

/// Starts a new journal with one line that contains the whole state. Returns the end of that line.
pub(super) fn begin(dir: &Path, state: &State) -> io::Result<u64> {
    let (line, _) = format(state.sequence, &Entry::Snapshot(Box::new(state.clone())))?;
    let draft = dir.join("journal.new");
    let mut file = private_options().write(true).create(true).truncate(true).open(&draft)?;
    file.write_all(&line)?;
    // Flush it: the journal is the truth, and this is its only copy.
    file.sync_all()?;
    fs::rename(&draft, dir.join(FILE))?;
    Ok(line.len() as u64)
}

/// Reads every complete line after `offset`, and the sequence of the file's first line. It takes no lock, so a line that is
/// being written is skipped.
pub fn read_lines(dir: &Path, offset: u64) -> io::Result<(u64, Vec<Line>)> {
    let path = dir.join(FILE);
    // Opening a pipe would wait for a writer, and reading a device might never end.
    if !fs::metadata(&path).is_ok_and(|file| file.is_file()) {
        return Ok((0, Vec::new()));
    }
    let mut file = File::open(path)?;
    let mut head = [0; HEAD];
    let first = match file.read_exact(&mut head) {
        Ok(()) => header(&head).map_or(0, |(_, sequence, _)| sequence),
        Err(_) => return Ok((0, Vec::new())),
    };
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut bytes)?;
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some((sequence, entry, length)) = parse(&bytes[at..]) {
        at += length;
        lines.push(Line { sequence, end: offset + at as u64, entry });
    }
    Ok((first, lines))
}

/// Returns the session of a journal, from its first line.
pub(super) fn owner(dir: &Path) -> Option<SessionId> {
    let (_, lines) = read_lines(dir, 0).ok()?;
    Some(match lines.into_iter().next()?.entry {
        Entry::Snapshot(state) => state.session,
        Entry::Record(record) => record.event.session,
    })
}

/// Formats a line. The flag is true if something in it was redacted.
fn format(sequence: u64, entry: &Entry) -> io::Result<(Vec<u8>, bool)> {
    let mut line = vec![b' '; HEAD];
    serde_json::to_writer(&mut line, entry)?;
    // The event was redacted before the decision. This redacts the changes, the opinions and the facts.
    let clean = match std::str::from_utf8(&line[HEAD..]).map(redact_json) {
        Ok(Cow::Owned(clean)) => Some(clean),
        _ => None,
    };
    if let Some(clean) = &clean {
        line.truncate(HEAD);
        line.extend_from_slice(clean.as_bytes());
    }
    let (length, checksum) = (line.len() - HEAD, checksum(sequence, &line[HEAD..]));
    let head = format!("{length:08x} {sequence:016x} {checksum:08x} ");
    line[..HEAD].copy_from_slice(head.as_bytes());
    line.push(b'\n');
    Ok((line, clean.is_some()))
}

fn parse(bytes: &[u8]) -> Option<(u64, Entry, usize)> {
    let (sequence, body, length) = whole(bytes)?;
    Some((sequence, serde_json::from_slice(body).ok()?, length))
}

/// Splits off a complete line without reading its JSON.
fn whole(bytes: &[u8]) -> Option<(u64, &[u8], usize)> {
    let (length, sequence, sum) = header(bytes)?;
    let body = bytes.get(HEAD..HEAD.checked_add(length)?)?;
    if bytes.get(HEAD + length) != Some(&b'\n') || checksum(sequence, body) != sum {
        return None;
    }
    Some((sequence, body, HEAD + length + 1))
}

fn header(bytes: &[u8]) -> Option<(usize, u64, u32)> {
    let field = |from: usize, to: usize| std::str::from_utf8(bytes.get(from..to)?).ok();
    let length = usize::from_str_radix(field(0, 8)?, 16).ok()?;
    let sequence = u64::from_str_radix(field(9, 25)?, 16).ok()?;
    let sum = u32::from_str_radix(field(26, 34)?, 16).ok()?;
    Some((length, sequence, sum))
}

/// CRC-32 over the sequence and the body, so that a line in the wrong place fails its checksum.
pub(super) fn checksum(sequence: u64, body: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    let bytes = sequence.to_be_bytes();
    let sum = bytes
        .iter()
        .chain(body)
        .fold(u32::MAX, |sum, byte| TABLE[((sum ^ u32::from(*byte)) & 0xff) as usize] ^ (sum >> 8));
    !sum
}
