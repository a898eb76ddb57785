//! The single pass over the text.

use crate::class::{Class, Runs};
use crate::{assignment, flag, marker, rule};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) rule: &'static str,
}

/// Walks the text and yields findings in order, without overlaps.
///
/// It works only at the beginning of a word and at `=` and `:`. Every look ahead is bounded or remembered in `runs`, so
/// the whole pass is linear.
///
/// A second pass over the redacted text finds nothing, because three things hold at each of these places:
///
/// 1. A rule looks back no further than `floor`. From there to the place both passes see the same bytes.
/// 2. A rule fails if it had to read a marker ahead of it, or the first byte of a secret that will become one
///    ([`Scanner::untouched`]). So whatever the second pass finds, it finds from bytes that the first pass saw too.
/// 3. The text before a finding is scanned before the finding is yielded (`pending`), even if the finding begins left
///    of the place that found it. So the text between a flag and its value is never skipped.
#[derive(Debug)]
pub(crate) struct Scanner<'t> {
    pub(crate) bytes: &'t [u8],
    pub(crate) runs: Runs,
    /// Lower limit for looking back: text before this is redacted already, now or before it came in.
    pub(crate) floor: usize,
    at: usize,
    /// Findings that wait until the text left of them is scanned again. The last one begins first.
    pending: Vec<Finding>,
    /// Start of the first marker after an earlier floor; looked up when something is found.
    next_marker: Option<usize>,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), runs: Runs::new(), floor: 0, at: 0, pending: Vec::new(), next_marker: None }
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Returns the byte before `at`, unless it lies before the floor.
    pub(crate) fn before(&self, at: usize) -> Option<u8> {
        if at > self.floor { self.byte(at - 1) } else { None }
    }

    /// Returns true if no byte from the floor to `last`, the last byte read, is or will be part of a marker.
    pub(crate) fn untouched(&mut self, last: usize) -> bool {
        let marker = match self.next_marker {
            Some(marker) if marker >= self.floor => marker,
            _ => marker::first_from(self.bytes, self.floor).unwrap_or(usize::MAX),
        };
        self.next_marker = Some(marker);
        last < marker && last < self.ceiling()
    }

    /// The start of the next pending finding: upper limit for looking ahead.
    pub(crate) fn ceiling(&self) -> usize {
        self.pending.last().map_or(usize::MAX, |finding| finding.start)
    }

    pub(crate) fn run_end(&mut self, class: Class, from: usize) -> usize {
        self.runs.end(self.bytes, 0, class, from)
    }

    /// Skips at most `limit` spaces and tabs, and returns the position after them.
    pub(crate) fn skip_blanks(&self, from: usize, limit: usize) -> usize {
        let blanks = self.bytes[from.min(self.bytes.len())..].iter().take(limit);
        from + blanks.take_while(|&&b| b == b' ' || b == b'\t').count()
    }

    /// Finds the secret that begins with the word at `start`. The byte before it may belong to a flag or an escape,
    /// which changes where the word begins.
    fn word_behind_sign(&mut self, start: usize) -> Option<Finding> {
        if self.before(start) == Some(b'-')
            && let Some(finding) = flag::value_of(self, start)
        {
            return Some(finding);
        }
        rule::find(self, start).or_else(|| match self.escape_length(start) {
            0 => None,
            length => rule::find(self, start + length),
        })
    }

    /// Returns the length of the escape at the beginning of a word: `\n` in a quoted text, `%3D` in a URL, `[31m` from
    /// a terminal. The real word begins after it.
    fn escape_length(&self, start: usize) -> usize {
        match (self.before(start), &self.bytes[start..]) {
            (Some(b'\\'), [b'n' | b'r' | b't', ..]) => 1,
            (Some(b'%'), [a, b, ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => 2,
            (Some(b'[' | b';'), rest) => {
                let digits = rest.iter().take(3).take_while(|b| b.is_ascii_digit()).count();
                if digits > 0 && rest.get(digits) == Some(&b'm') { digits + 1 } else { 0 }
            }
            _ => 0,
        }
    }

    fn emit(&mut self, finding: Finding) -> Finding {
        self.at = finding.end;
        self.floor = finding.end;
        finding
    }
}

impl Iterator for Scanner<'_> {
    type Item = Finding;

    fn next(&mut self) -> Option<Finding> {
        let bytes = self.bytes;
        let mut at = self.at;
        let mut end = bytes.len().min(self.ceiling());
        while at < end {
            let byte = bytes[at];
            let found = match sort_of(byte) {
                Sort::Plain | Sort::Sign => None,
                Sort::Letter if at > self.floor && matches!(sort_of(bytes[at - 1]), Sort::Sign | Sort::Bracket) => {
                    self.word_behind_sign(at)
                }
                Sort::Letter => rule::find(self, at),
                Sort::Separator => assignment::value_at(self, at),
                Sort::Bracket => {
                    if let Some(end_of_marker) = marker::end_at(bytes, at) {
                        at = end_of_marker;
                        self.floor = end_of_marker;
                        continue;
                    }
                    None
                }
            };
            if let Some(finding) = found {
                if finding.start <= at {
                    return Some(self.emit(finding));
                }
                end = finding.start;
                self.pending.push(finding);
                continue;
            }
            at += 1;
            if Class::Alnum.holds(byte) {
                while at < end && Class::Alnum.holds(bytes[at]) {
                    at += 1;
                }
            }
        }
        self.at = at;
        self.pending.pop().map(|finding| self.emit(finding))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Plain,
    Letter,
    /// `=`, `:`
    Separator,
    /// May open a marker, or a colour sequence of a terminal.
    Bracket,
    /// The word after it may be a flag, or begin with the rest of an escape.
    Sign,
}

fn sort_of(byte: u8) -> Sort {
    static SORTS: [Sort; 256] = sorts();
    SORTS[usize::from(byte)]
}

const fn sorts() -> [Sort; 256] {
    let mut table = [Sort::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'=' | b':' => Sort::Separator,
            b'[' => Sort::Bracket,
            b'-' | b'\\' | b'%' | b';' => Sort::Sign,
            byte if byte.is_ascii_alphanumeric() => Sort::Letter,
            _ => Sort::Plain,
        };
        byte += 1;
    }
    table
}
