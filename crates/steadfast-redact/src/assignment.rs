//! `name=value` and `name: value` in shell, JSON, YAML, code, query strings and connection strings.

use crate::class::Class;
use crate::name::{self, Kind, Name};
use crate::scan::{Finding, Scanner};
use crate::value::{self, Setting};
use crate::{header, url};

const LONGEST_NAME: usize = 48;
const LONGEST_TYPE: usize = 32;
const MOST_BLANKS: usize = 16;

/// Finds the secret that the `=` or `:` at `at` assigns to a name.
pub(crate) fn value_at(scan: &mut Scanner<'_>, at: usize) -> Option<Finding> {
    let separator = Separator::at(scan, at)?;
    let left = Left::of(scan, at);
    if !separator.equals
        && let Some(finding) = url::password_after(scan, at, left.start)
    {
        return Some(finding);
    }
    let identifier = &scan.bytes[left.start..left.end];
    let name = match left.before {
        Some(b';') => name::announced_in_connection_string(identifier),
        _ => name::announced_by(identifier),
    }?;
    let start = scan.skip_blanks(separator.end, MOST_BLANKS);
    match name.kind {
        Kind::Authorization => return header::credentials(scan, start, name),
        Kind::Cookie => return header::cookies(scan, start, name),
        Kind::Password | Kind::Token | Kind::Harmless => {}
    }
    if left.is_closed_at(scan, start) || left.is_chosen(scan) || (!separator.equals && is_verdict(scan, &left, start)) {
        return None;
    }
    let spaced = left.spaced || start > separator.end;
    let given = separator.equals && !spaced && !left.quoted;
    let (setting, class) = match left.before {
        Some(b'?' | b'&') if given => (Setting::Given, Class::Query),
        Some(b';') if given => (Setting::Given, Class::Shell),
        _ if given && (left.is_flag || is_upper(&scan.bytes[left.start..left.end])) => (Setting::Given, Class::Shell),
        _ => (Setting::Bare, Class::Bare),
    };
    let found = value::value_at(scan, start, class);
    value::finding_for(scan, found, name, setting).or_else(|| initial_value(scan, start, name))
}

/// Finds the value behind a type: `password: &str = "x"`. `from` is the start of the type.
fn initial_value(scan: &mut Scanner<'_>, from: usize, name: &Name) -> Option<Finding> {
    // Letters only: other text here might be a key, which the scanner finds by itself.
    let named = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'&' | b'<' | b'>' | b':' | b'.' | b'\'' | b'_' | b' ');
    let equals = from + scan.bytes[from..].iter().take(LONGEST_TYPE).take_while(|b| named(b)).count();
    if equals == from || scan.byte(equals) != Some(b'=') {
        return None;
    }
    let literal = value::quoted_at(scan, scan.skip_blanks(equals + 1, MOST_BLANKS))?;
    value::finding_for(scan, literal, name, Setting::Quoted)
}

struct Separator {
    /// A plain `=`, the only separator in shells, queries and connection strings.
    equals: bool,
    end: usize,
}

impl Separator {
    /// Reads `=`, `:`, `:=` or `=>`, but no operator that contains one of them.
    fn at(scan: &Scanner<'_>, at: usize) -> Option<Self> {
        let next = scan.byte(at + 1);
        let before = scan.before(at);
        match scan.byte(at)? {
            b':' if next == Some(b':') || before == Some(b':') => None,
            b':' if next == Some(b'=') => Some(Self { equals: false, end: at + 2 }),
            b':' => Some(Self { equals: false, end: at + 1 }),
            _ if matches!(next, Some(b'=' | b'~')) => None,
            _ if matches!(before, Some(b'=' | b'!' | b'<' | b'>' | b':' | b'+' | b'-' | b'*' | b'/' | b'~' | b'^')) => {
                None
            }
            _ if next == Some(b'>') => Some(Self { equals: false, end: at + 2 }),
            _ => Some(Self { equals: true, end: at + 1 }),
        }
    }
}

/// The name left of the separator, and its surroundings.
struct Left {
    start: usize,
    end: usize,
    before: Option<u8>,
    spaced: bool,
    quoted: bool,
    is_flag: bool,
}

impl Left {
    fn of(scan: &Scanner<'_>, at: usize) -> Self {
        let mut end = at;
        while at - end < MOST_BLANKS && matches!(scan.before(end), Some(b' ' | b'\t')) {
            end -= 1;
        }
        let spaced = end < at;
        // `token?: string`, `env["TOKEN"] =`
        if matches!(scan.before(end), Some(b'?' | b']')) {
            end -= 1;
        }
        let quoted = matches!(scan.before(end), Some(b'"' | b'\'' | b'`'));
        if quoted {
            end -= 1;
            if scan.before(end) == Some(b'\\') {
                end -= 1;
            }
        }
        let mut start = end;
        while end - start < LONGEST_NAME && scan.before(start).is_some_and(|b| Class::Dotted.holds(b)) {
            start -= 1;
        }
        let is_flag = scan.bytes[start..end].starts_with(b"-");
        Self { start, end, before: scan.before(start), spaced, quoted, is_flag }
    }

    /// Returns true if the name is one of two values: `ok ? 'pass' : 'fail'`.
    fn is_chosen(&self, scan: &Scanner<'_>) -> bool {
        let mut opening = self.start.saturating_sub(1);
        while self.start - opening < MOST_BLANKS && matches!(scan.before(opening), Some(b' ' | b'\t' | b'\\')) {
            opening -= 1;
        }
        self.quoted && self.spaced && scan.before(opening) == Some(b'?')
    }

    /// Returns true if the quote at `start` closes one that opened before the name: `"DB_PASSWORD=" + x`.
    fn is_closed_at(&self, scan: &Scanner<'_>, start: usize) -> bool {
        let quote = match scan.bytes.get(start..) {
            Some([b'\\', quote @ (b'"' | b'\''), ..] | [quote @ (b'"' | b'\''), ..]) => *quote,
            _ => return false,
        };
        !self.quoted && self.before == Some(quote)
    }
}

/// `--- PASS: TestLogin`, as test runners print it.
fn is_verdict(scan: &Scanner<'_>, left: &Left, start: usize) -> bool {
    scan.bytes[left.start..left.end].eq_ignore_ascii_case(b"pass") && !value::opens_quoted(scan, start)
}

fn is_upper(name: &[u8]) -> bool {
    !name.iter().any(u8::is_ascii_lowercase)
}
