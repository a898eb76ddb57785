//! Sets of bytes, and the runs of bytes within one set.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Alnum,
    Digit,
    Hex,
    /// Upper-case letters and digits.
    Upper,
    /// Letters, digits, `_`.
    Word,
    /// Letters, digits, `_`, `-`: base64url.
    Slug,
    /// A slug with dots.
    Dotted,
    /// Base64 with `+`, `/` and `=`.
    Base64,
    /// Bytes of a bearer token, and of base64 in a URL (`%3D`).
    Credential,
    /// An unquoted value in a file, a log or code.
    Bare,
    /// An unquoted word of a shell command.
    Shell,
    Query,
    /// The part of a URL up to the path.
    Authority,
    Line,
}

const CLASSES: usize = 14;

impl Class {
    pub(crate) const fn holds(self, byte: u8) -> bool {
        MEMBERS[byte as usize] & (1 << self as u16) != 0
    }

    const fn includes(self, byte: u8) -> bool {
        let quote = matches!(byte, b'"' | b'\'' | b'`');
        let space = byte <= b' ' || byte == 0x7f;
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Slug => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Credential => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=' | b'%')
            }
            Self::Bare => {
                !space && !quote && !matches!(byte, b';' | b',' | b'&' | b'|' | b'<' | b'>' | b')' | b'}' | b']')
            }
            Self::Shell => !space && !quote && !matches!(byte, b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'),
            Self::Query => !space && !quote && !matches!(byte, b'&' | b'#' | b';' | b'<' | b'>' | b')' | b',' | b'|'),
            Self::Authority => !space && !quote && !matches!(byte, b'/' | b'?' | b'#' | b'<' | b'>' | b'\\'),
            Self::Line => !quote && !matches!(byte, b'\n' | b'\r'),
        }
    }
}

static MEMBERS: [u16; 256] = members();

const fn members() -> [u16; 256] {
    use Class::*;
    const ALL: [Class; CLASSES] =
        [Alnum, Digit, Hex, Upper, Word, Slug, Dotted, Base64, Credential, Bare, Shell, Query, Authority, Line];
    let mut table = [0; 256];
    let mut class = 0;
    while class < CLASSES {
        let mut byte = 0;
        while byte < 256 {
            if ALL[class].includes(byte as u8) {
                table[byte] |= 1 << ALL[class] as u16;
            }
            byte += 1;
        }
        class += 1;
    }
    table
}

/// The last run found for each class, so that a run is walked once even if many secrets seem to begin in it.
///
/// Without it `sk-sk-sk-…` takes quadratic time: every `sk-` starts a run to the end of the text.
#[derive(Debug)]
pub(crate) struct Runs {
    /// Indexed by part of the rule, then by class: start and end of the run.
    last: [[(usize, usize); CLASSES]; Self::PARTS],
}

impl Runs {
    pub(crate) const PARTS: usize = 3;

    pub(crate) const fn new() -> Self {
        Self { last: [[(0, 0); CLASSES]; Self::PARTS] }
    }

    /// Returns the end of the run of `class` that begins at `from`. `part` is the position of this run in its rule.
    pub(crate) fn end(&mut self, bytes: &[u8], part: usize, class: Class, from: usize) -> usize {
        let (entered, end) = &mut self.last[part][class as usize];
        if *entered <= from && from < *end {
            return *end;
        }
        let length = bytes[from..].iter().take_while(|&&b| class.holds(b)).count();
        (*entered, *end) = (from, from + length);
        *end
    }
}
