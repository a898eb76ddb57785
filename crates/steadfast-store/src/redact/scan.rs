//! The one pass over the text.

use super::class::{Class, Runs};
use super::{assignment, flag, marker, rule};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: &'static str,
}

/// Walks the text and yields findings in order, none overlapping.
///
/// Work is done only where a word begins and at `=` and `:`. Whatever is looked at ahead of that is either bounded or
/// remembered in `runs`, which keeps the whole linear.
#[derive(Debug)]
pub(super) struct Scanner<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) runs: Runs,
    /// Nothing before this may be looked at: it is already replaced, or was so when the text came in.
    pub(super) floor: usize,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), runs: Runs::new(), floor: 0, at: 0 }
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// The byte before `at`, if it may be looked at.
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        if at > self.floor { self.byte(at - 1) } else { None }
    }

    pub(super) fn run_end(&mut self, class: Class, from: usize) -> usize {
        self.runs.end(self.bytes, 0, class, from)
    }

    /// The first of at most `limit` bytes from `from` that is neither space nor tab.
    pub(super) fn skip_blanks(&self, from: usize, limit: usize) -> usize {
        let blanks = self.bytes[from.min(self.bytes.len())..].iter().take(limit);
        from + blanks.take_while(|&&b| b == b' ' || b == b'\t').count()
    }

    fn word(&mut self) -> Option<Finding> {
        let mut start = self.at;
        let before = self.before(start);
        if before == Some(b'-')
            && let Some(finding) = flag::value_of(self, start)
        {
            return Some(finding);
        }
        if let Some(finding) = rule::find(self, start) {
            return Some(finding);
        }
        let escape = match before {
            Some(b'\\' | b'%' | b'[' | b';') => self.escape_length(start),
            _ => 0,
        };
        if escape > 0 {
            start += escape;
            return rule::find(self, start);
        }
        None
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
        while let Some(byte) = self.byte(self.at) {
            let found = match byte {
                b'=' | b':' => assignment::value_at(self, self.at),
                b'[' => {
                    if let Some(end) = marker::end_at(self.bytes, self.at) {
                        self.at = end;
                        self.floor = end;
                        continue;
                    }
                    None
                }
                _ if Class::Alnum.holds(byte) => self.word(),
                _ => None,
            };
            if let Some(finding) = found {
                return Some(self.leave(finding));
            }
            self.at += 1;
            if Class::Alnum.holds(byte) {
                while self.byte(self.at).is_some_and(|b| Class::Alnum.holds(b)) {
                    self.at += 1;
                }
            }
        }
        None
    }
}
