//! Splits a stream of server-sent events into its records and keeps their bytes.
//!
//! A proxy must forward the bytes that it received: CR or CRLF, comments, a byte-order mark, odd spacing. The crates
//! for this format return decoded text, so none of them can be used here.

use std::borrow::Cow;
use std::mem;

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memchr2};

/// The longest record that is read. A longer one is forwarded in fragments and not read.
pub const RECORD_LIMIT: usize = 64 << 20;

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A part of the stream. The parts joined are the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SsePart {
    Record(SseRecord),
    /// A part of a record that is longer than the limit.
    Fragment(Bytes),
}

impl SsePart {
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::Record(record) => &record.bytes,
            Self::Fragment(bytes) => bytes,
        }
    }
}

/// One record: its lines, and the empty line that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseRecord {
    pub bytes: Bytes,
    /// The bytes before the first line: the mark at the start of the stream.
    start: usize,
}

/// The fields of a record that carry a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseFields<'a> {
    pub event: &'a [u8],
    /// `None`: a record without data, for example a comment.
    pub data: Option<Cow<'a, [u8]>>,
}

impl SseRecord {
    /// Returns the record with other data. All other lines stay.
    pub fn with_data(&self, data: &[u8]) -> Bytes {
        let mut changed = BytesMut::with_capacity(self.bytes.len() + data.len());
        changed.extend_from_slice(&self.bytes[..self.start]);
        let mut rest = &self.bytes[self.start..];
        let mut is_written = false;
        while !rest.is_empty() {
            let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let is_pair = rest[end..].starts_with(b"\r\n");
            let (line, after) = rest.split_at((end + 1 + usize::from(is_pair)).min(rest.len()));
            rest = after;
            if !line.starts_with(b"data:") {
                changed.extend_from_slice(line);
            } else if !is_written {
                is_written = true;
                for text in data.split(|byte| *byte == b'\n') {
                    changed.extend_from_slice(b"data: ");
                    changed.extend_from_slice(text);
                    changed.extend_from_slice(&line[end..]);
                }
            }
        }
        changed.freeze()
    }

    pub fn fields(&self) -> SseFields<'_> {
        let mut fields = SseFields::default();
        let mut rest = &self.bytes[self.start..];
        while !rest.is_empty() {
            let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            let (name, value) = match memchr(b':', line) {
                Some(colon) => (&line[..colon], &line[colon + 1..]),
                None => (line, &[][..]),
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match name {
                b"event" => fields.event = value,
                b"data" => match &mut fields.data {
                    None => fields.data = Some(Cow::Borrowed(value)),
                    Some(data) => {
                        let data = data.to_mut();
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                },
                _ => {}
            }
        }
        fields
    }
}

/// Takes the chunks of a stream as they arrive, and returns its records.
#[derive(Debug)]
pub struct SseSplitter {
    /// The part of the newest chunk that was not returned yet.
    chunk: Bytes,
    /// The start of an incomplete record, from earlier chunks.
    partial: BytesMut,
    limit: usize,
    /// Where the scan stands: the current line has no bytes so far.
    at_line_start: bool,
    /// The previous byte was CR, so that LF belongs to the same line end.
    after_cr: bool,
    /// The rest of the current record is forwarded in fragments.
    is_too_long: bool,
    is_first: bool,
}

impl Default for SseSplitter {
    fn default() -> Self {
        Self::with_limit(RECORD_LIMIT)
    }
}

impl SseSplitter {
    pub fn with_limit(limit: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            partial: BytesMut::new(),
            limit,
            at_line_start: true,
            after_cr: false,
            is_too_long: false,
            is_first: true,
        }
    }

    /// Adds a chunk. Call [`Self::next_part`] until it returns `None` before the next one.
    pub fn push(&mut self, chunk: Bytes) {
        if self.chunk.is_empty() {
            self.chunk = chunk;
        } else {
            let mut joined = BytesMut::from(mem::take(&mut self.chunk));
            joined.extend_from_slice(&chunk);
            self.chunk = joined.freeze();
        }
    }

    /// Returns the next complete record. `None`: it needs more of the stream.
    pub fn next_part(&mut self) -> Option<SsePart> {
        if self.chunk.is_empty() {
            return None;
        }
        let end = self.scan();
        let scanned = self.chunk.split_to(end.unwrap_or(self.chunk.len()));
        if self.is_too_long || self.partial.len() + scanned.len() > self.limit {
            self.is_too_long = end.is_none();
            let fragment = self.joined(scanned);
            self.is_first = false;
            return Some(SsePart::Fragment(fragment));
        }
        if end.is_none() {
            self.partial.extend_from_slice(&scanned);
            return None;
        }
        let bytes = self.joined(scanned);
        Some(SsePart::Record(self.record(bytes)))
    }

    /// Ends the stream. Returns the lines after the last complete record: some clients read them, too.
    pub fn finish(&mut self) -> Option<SsePart> {
        let rest = self.take_rest();
        if rest.is_empty() {
            return None;
        }
        if mem::take(&mut self.is_too_long) {
            return Some(SsePart::Fragment(rest));
        }
        Some(SsePart::Record(self.record(rest)))
    }

    /// Takes what is left of a stream that broke: the bytes of an incomplete record.
    pub fn take_rest(&mut self) -> Bytes {
        let chunk = mem::take(&mut self.chunk);
        self.joined(chunk)
    }

    fn joined(&mut self, end: Bytes) -> Bytes {
        if self.partial.is_empty() {
            return end;
        }
        self.partial.extend_from_slice(&end);
        self.partial.split().freeze()
    }

    fn record(&mut self, bytes: Bytes) -> SseRecord {
        let is_first = mem::replace(&mut self.is_first, false);
        let start = if is_first && bytes.starts_with(MARK) { MARK.len() } else { 0 };
        SseRecord { bytes, start }
    }

    /// Finds the end of the current record in the chunk, and keeps the position in the line.
    fn scan(&mut self) -> Option<usize> {
        let chunk = &self.chunk[..];
        let mut at = 0;
        while at < chunk.len() {
            if mem::replace(&mut self.after_cr, false) && chunk[at] == b'\n' {
                at += 1;
                continue;
            }
            match memchr2(b'\n', b'\r', &chunk[at..]) {
                None => {
                    self.at_line_start = false;
                    return None;
                }
                Some(length) => {
                    let is_empty = length == 0 && self.at_line_start;
                    self.at_line_start = true;
                    at += length + 1;
                    self.after_cr = chunk[at - 1] == b'\r';
                    if is_empty {
                        if self.after_cr && chunk.get(at) == Some(&b'\n') {
                            self.after_cr = false;
                            at += 1;
                        }
                        return Some(at);
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(limit: usize, chunks: &[&[u8]]) -> Vec<SsePart> {
        let mut splitter = SseSplitter::with_limit(limit);
        let mut parts = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::copy_from_slice(chunk));
            parts.extend(std::iter::from_fn(|| splitter.next_part()));
        }
        parts.extend(splitter.finish());
        parts
    }

    /// Event and data of each message.
    fn messages(parts: &[SsePart]) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let of_record = |part: &SsePart| match part {
            SsePart::Record(record) => {
                let fields = record.fields();
                fields.data.map(|data| (text(fields.event), text(&data)))
            }
            SsePart::Fragment(_) => None,
        };
        parts.iter().filter_map(of_record).collect()
    }

    fn joined(parts: &[SsePart]) -> Vec<u8> {
        parts.iter().flat_map(|part| part.bytes().to_vec()).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(event, data)| ((*event).to_owned(), (*data).to_owned())).collect()
    }

    #[test]
    fn every_line_end_ends_a_line() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = ["event: a", "data: {1}", "", ": ping", "", "data:2", "data:  3", "", ""].join(end);
            let parts = split(100, &[stream.as_bytes()]);
            assert_eq!(messages(&parts), pairs(&[("a", "{1}"), ("", "2\n 3")]), "{end:?}");
            assert_eq!(parts.len(), 3, "{end:?}");
        }
    }

    #[test]
    fn a_line_feed_after_a_carriage_return_in_the_next_chunk_ends_no_second_line() {
        let parts = split(100, &[b"data: 1\r", b"\n\r", b"\ndata: 2\r\n\r\n"]);
        assert_eq!(messages(&parts), pairs(&[("", "1"), ("", "2")]));
        assert_eq!(parts[0].bytes(), "data: 1\r\n\r");
    }

    #[test]
    fn a_mark_is_skipped_at_the_start_only() {
        let parts = split(100, &["\u{feff}data: 1\n\n\u{feff}data: 2\n\ndata: 3\n\n".as_bytes()]);
        assert_eq!(messages(&parts), pairs(&[("", "1"), ("", "3")]));
    }

    #[test]
    fn lines_without_an_empty_line_at_the_end_are_a_record() {
        let parts = split(100, &[b"data: 1\n\ndata: 2"]);
        assert_eq!(messages(&parts), pairs(&[("", "1"), ("", "2")]));
    }

    #[test]
    fn other_data_changes_no_other_line() {
        let with = |stream: &[u8], data: &[u8]| match &split(100, &[stream])[0] {
            SsePart::Record(record) => String::from_utf8(record.with_data(data).to_vec()).unwrap(),
            SsePart::Fragment(_) => unreachable!(),
        };
        assert_eq!(
            with(b": x\r\nevent: a\r\ndata:1\r\nid: 2\r\n\r\n", b"{}"),
            ": x\r\nevent: a\r\ndata: {}\r\nid: 2\r\n\r\n"
        );
        assert_eq!(with(b"\xEF\xBB\xBFdata: 1\ndata: 2\nid: 3\n\n", b"4\n5"), "\u{feff}data: 4\ndata: 5\nid: 3\n\n");
        assert_eq!(with(b"data: 1", b"2"), "data: 2");
    }

    #[test]
    fn a_record_over_the_limit_is_forwarded_in_fragments_and_the_next_one_is_read() {
        let parts = split(10, &[b"data: 1\n\ndata: 23", b"4567890", b"123\n", b"\ndata: 4\n\n"]);
        assert_eq!(messages(&parts), pairs(&[("", "1"), ("", "4")]));
        assert_eq!(parts.iter().filter(|part| matches!(part, SsePart::Fragment(_))).count(), 3);
        assert_eq!(joined(&parts), b"data: 1\n\ndata: 234567890123\n\ndata: 4\n\n");
    }

    #[test]
    fn a_stream_of_many_small_chunks_is_not_read_twice() {
        let mut splitter = SseSplitter::default();
        splitter.push(Bytes::from_static(b"data: "));
        assert_eq!(splitter.next_part(), None);
        // Rescanning from the start for each chunk would take minutes.
        for _ in 0..1 << 20 {
            splitter.push(Bytes::from_static(b"0123456789"));
            assert_eq!(splitter.next_part(), None);
        }
        assert_eq!(splitter.take_rest().len(), 6 + (10 << 20));
    }

    /// Streams of the pieces that matter, in any order.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "\n",
            "\r",
            "\r\n",
            "\n\n",
            "\r\n\r\n",
            "data:",
            "data: {\"a\":1}",
            "event: x",
            ": ping",
            ":",
            "id: 1",
            "\u{feff}",
            "é",
            "x",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn a_split_at_any_byte_changes_nothing(stream in stream()) {
            let whole = split(RECORD_LIMIT, &[&stream]);
            prop_assert_eq!(joined(&whole), &stream[..]);
            for at in 0..=stream.len() {
                let (start, end) = stream.split_at(at);
                let parts = split(RECORD_LIMIT, &[start, end]);
                prop_assert_eq!(joined(&parts), &stream[..]);
                prop_assert_eq!(messages(&parts), messages(&whole));
            }
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            let parts = split(RECORD_LIMIT, &bytes);
            prop_assert_eq!(joined(&parts), &stream[..]);
            prop_assert_eq!(messages(&parts), messages(&whole));
        }

        #[test]
        fn no_limit_loses_a_byte(stream in stream(), limit in 0usize..30, size in 1usize..9) {
            let chunks: Vec<&[u8]> = stream.chunks(size).collect();
            prop_assert_eq!(joined(&split(limit, &chunks)), &stream[..]);
        }
    }
}
