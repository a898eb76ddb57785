//! One line per event: length, sequence and checksum in hexadecimal, then JSON.
//!
//! ```text
//! 000001a7 0000000000000003 5f1d9c21 {"record":{"event":{…},"changes":[…]}}
//! ```
//!
//! A line is written by one `write`. Whatever a dying process leaves of it fails its checksum and is cut by the next.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use steadfast_model::{Entry, SessionId, State};

use steadfast_redact::redact_json;
use steadfast_system::private_options;

pub(super) const FILE: &str = "journal";

/// What was no line and no torn end, kept for a human.
pub(super) const DAMAGED: &str = "journal.damaged";

/// How much of it: a disk that goes on failing must not fill itself with it.
const DAMAGED_BYTES: u64 = 4 << 20;

/// Length of `llllllll ssssssssssssssss cccccccc `.
const HEAD: usize = 35;

/// A line of a journal with where it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub sequence: u64,
    /// The byte after it.
    pub end: u64,
    pub entry: Entry,
}

/// The journal, open for its one writer.
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

    /// Where the last whole line ends, once the tail was read.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Hands over every whole line after `offset` and cuts what is torn behind them.
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
        // Nothing of it is torn: cut, it would be lost to the version that knows it.
        if let Some((sequence, ..)) = whole(&bytes[at..]) {
            let why = format!("line {sequence} is of a kind that this version does not know: update steadfast");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if at < bytes.len() {
            self.cut(offset + at as u64, &bytes[at..])?;
        }
        Ok(())
    }

    /// Appends one line in one write. What it says differs from the entry where that held a secret: that is returned, for
    /// a state must not know what the journal does not.
    pub(super) fn append(&mut self, sequence: u64, entry: &Entry) -> io::Result<Option<Entry>> {
        let (line, is_redacted) = format(sequence, entry)?;
        match self.file.write_all(&line) {
            Ok(()) => {
                self.end += line.len() as u64;
                Ok(is_redacted.then(|| parse(&line)).flatten().map(|(_, entry, _)| entry))
            }
            Err(error) => {
                // A full disk takes half a line. The next writer would cut it; better now.
                let _ = self.file.set_len(self.end);
                Err(error)
            }
        }
    }

    fn cut(&mut self, end: u64, torn: &[u8]) -> io::Result<()> {
        // Half a line at the end is what a dying process leaves. Anything else is damage: keep it for a human.
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

/// Begins a journal anew with all that came before it folded into one line; returns where it ends.
pub(super) fn begin(dir: &Path, state: &State) -> io::Result<u64> {
    let (line, _) = format(state.sequence, &Entry::Snapshot(Box::new(state.clone())))?;
    let draft = dir.join("journal.new");
    let mut file = private_options().write(true).create(true).truncate(true).open(&draft)?;
    file.write_all(&line)?;
    // The journal is the truth, and this is the only copy of it.
    file.sync_all()?;
    fs::rename(&draft, dir.join(FILE))?;
    Ok(line.len() as u64)
}

/// Every whole line after `offset`, with the sequence of the file's first line. Read without the lock: what is being
/// written just now is not seen.
pub fn read_lines(dir: &Path, offset: u64) -> io::Result<(u64, Vec<Line>)> {
    let path = dir.join(FILE);
    // A pipe would make whoever opens it wait, a device never ends.
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

/// Whose journal this is, by its first line.
pub(super) fn owner(dir: &Path) -> Option<SessionId> {
    let (_, lines) = read_lines(dir, 0).ok()?;
    Some(match lines.into_iter().next()?.entry {
        Entry::Snapshot(state) => state.session,
        Entry::Record(record) => record.event.session,
    })
}

/// The line, and whether something in it was redacted.
fn format(sequence: u64, entry: &Entry) -> io::Result<(Vec<u8>, bool)> {
    let mut line = vec![b' '; HEAD];
    serde_json::to_writer(&mut line, entry)?;
    // The event went without its secrets before it was decided on. This is for what was made of it and for the facts.
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

/// A line as it was written, whatever it says.
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

/// CRC-32 over the sequence and the body, so that a line cannot stand in another's place.
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
