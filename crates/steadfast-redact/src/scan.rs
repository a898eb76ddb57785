//! The one pass over the text.

use crate::class::{Class, Runs};
use crate::{assignment, flag, marker, rule};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) rule: &'static str,
}

/// Walks the text and yields findings in order, none overlapping.
///
/// Work is done only where a word begins and at `=` and `:`. Whatever is looked at ahead of that is either bounded or
/// remembered in `runs`, which keeps the whole linear.
///
/// A second pass over the replaced text finds nothing, because three things hold at every such place:
///
/// 1. It looks back no further than `floor`. Between there and the place both passes see the same bytes.
/// 2. It finds nothing if it had to read a marker ahead of it, or the first byte of a secret that will be one
///    ([`Scanner::untouched`]). What it finds in the second pass it therefore finds from bytes that the first pass
///    saw too.
/// 3. It is looked at before a secret that is found from further left is given out (`pending`). So the text between
///    a flag and its value is never skipped.
#[derive(Debug)]
pub(crate) struct Scanner<'t> {
    pub(crate) bytes: &'t [u8],
    pub(crate) runs: Runs,
    /// Nothing before this may be looked at: it is already replaced, or was so when the text came in.
    pub(crate) floor: usize,
    at: usize,
    /// Found, but not given out before the text left of it is looked at once more. The last one begins first.
    pending: Vec<Finding>,
    /// Where the first marker behind some former floor begins; looked up when something is found.
    next_marker: Option<usize>,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), runs: Runs::new(), floor: 0, at: 0, pending: Vec::new(), next_marker: None }
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// The byte before `at`, if it may be looked at.
    pub(crate) fn before(&self, at: usize) -> Option<u8> {
        if at > self.floor { self.byte(at - 1) } else { None }
    }

    /// Whether nothing from here to `last`, the last byte that was read, is a marker or will be one.
    pub(crate) fn untouched(&mut self, last: usize) -> bool {
        let marker = match self.next_marker {
            Some(marker) if marker >= self.floor => marker,
            _ => marker::first_from(self.bytes, self.floor).unwrap_or(usize::MAX),
        };
        self.next_marker = Some(marker);
        last < marker && last < self.ceiling()
    }

    /// Nothing from here on may be looked at: it is found already.
    pub(crate) fn ceiling(&self) -> usize {
        self.pending.last().map_or(usize::MAX, |finding| finding.start)
    }

    pub(crate) fn run_end(&mut self, class: Class, from: usize) -> usize {
        self.runs.end(self.bytes, 0, class, from)
    }

    /// The first of at most `limit` bytes from `from` that is neither space nor tab.
    pub(crate) fn skip_blanks(&self, from: usize, limit: usize) -> usize {
        let blanks = self.bytes[from.min(self.bytes.len())..].iter().take(limit);
        from + blanks.take_while(|&&b| b == b' ' || b == b'\t').count()
    }

    /// The secret that begins with the word at `start`, behind a byte that may change where the word begins.
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

    /// The length of an escape's letters at the beginning of a word, behind which the real word begins: `\n` in a
    /// quoted text, `%3D` in a URL, `[31m` from a terminal.
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

    fn leave(&mut self, finding: Finding) -> Finding {
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
                    if let Some(behind) = marker::end_at(bytes, at) {
                        at = behind;
                        self.floor = behind;
                        continue;
                    }
                    None
                }
            };
            if let Some(finding) = found {
                if finding.start <= at {
                    return Some(self.leave(finding));
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
        self.pending.pop().map(|finding| self.leave(finding))
    }
}

/// What a byte is to the scanner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Plain,
    Letter,
    /// `=`, `:`
    Separator,
    /// May open a marker, or the colour of a terminal.
    Bracket,
    /// A word behind it may be a flag, or begin with what is left of an escape.
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
