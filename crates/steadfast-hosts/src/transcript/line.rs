use std::io::{self, ErrorKind, Read};

/// Sizes of reads: small at first, for a file that has grown by one line; larger for a file that continues.
const CHUNK: usize = 256 * 1024;
const FIRST: usize = 16 * 1024;

/// Reads the lines of a source. The buffer is only as large as the longest line requires.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is not returned yet.
    start: usize,
    end: usize,
    /// The position of `start` in the source.
    offset: u64,
    /// The last read filled the buffer.
    continues: bool,
    ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Without surrounding white space.
    pub(super) bytes: &'a [u8],
    /// The start of the next line.
    pub(super) next: u64,
    /// A newline ends the line, so it is complete.
    pub(super) whole: bool,
}

impl<R: Read> Lines<R> {
    /// `offset` is the current position of the source.
    pub(super) fn new(source: R, offset: u64) -> Self {
        Self { source, buffer: Vec::new(), start: 0, end: 0, offset, continues: false, ended: false }
    }

    /// Returns the next line that is not empty.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        while let Some((from, length)) = self.find()? {
            let whole = from + length < self.end;
            self.start = from + length + usize::from(whole);
            self.offset += (self.start - from) as u64;
            if !self.buffer[from..from + length].trim_ascii().is_empty() {
                let bytes = self.buffer[from..from + length].trim_ascii();
                return Ok(Some(Line { bytes, next: self.offset, whole }));
            }
        }
        Ok(None)
    }

    /// Returns start and length of the next line in the buffer.
    fn find(&mut self) -> io::Result<Option<(usize, usize)>> {
        let mut searched = 0;
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched..]) {
                return Ok(Some((self.start, searched + at)));
            }
            searched = unread.len();
            if self.ended {
                return Ok((searched > 0).then_some((self.start, searched)));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() == self.end || (self.continues && self.buffer.len() < CHUNK) {
            let grown = if self.buffer.is_empty() { FIRST } else { (self.buffer.len() * 2).max(CHUNK) };
            self.buffer.resize(grown, 0);
        }
        let read = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.end += read;
        self.ended = read == 0;
        self.continues = self.end == self.buffer.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out a few bytes at a time, as a pipe does.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8], at_once: usize) -> Vec<(Vec<u8>, u64, bool)> {
        let mut lines = Lines::new(Trickle(text, at_once), 0);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.bytes.to_vec(), line.next, line.whole));
        }
        found
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text = b"one\n\n two\r\n\xff\x00three";
        let expected =
            [(b"one".to_vec(), 4, true), (b"two".to_vec(), 11, true), (b"\xff\x00three".to_vec(), 18, false)];
        for at_once in 1..=text.len() {
            assert_eq!(all(text, at_once), expected, "{at_once} bytes at once");
        }
        assert_eq!(all(b"", 1), []);
    }

    #[test]
    fn no_more_is_held_than_the_longest_line_needs() {
        let text = b"0123456789\n".repeat(1_000_000);
        let mut lines = Lines::new(&text[..], 0);
        while lines.next().unwrap().is_some() {}
        assert_eq!(lines.buffer.len(), CHUNK);
    }
}
