//! Values of headers that carry credentials.

use crate::class::Class;
use crate::name::{Kind, Name};
use crate::placeholder::{is_placeholder, reads_as_words};
use crate::scan::{Finding, Scanner};
use crate::value::{self, Setting, Value};

const SCHEMES: &[&str] = &["bearer", "basic", "token", "apikey", "bot", "negotiate", "digest"];
const LONGEST_SCHEME: usize = 12;
const SHORTEST_CREDENTIALS: usize = 6;
const SHORTEST_COOKIE: usize = 16;
const MOST_BLANKS: usize = 4;
/// The part of a cookie line that is searched for a session id, in bytes.
const READ: usize = 512;

/// Finds the credentials of `Authorization: <scheme> <credentials>`, whose value begins at `at`.
pub(crate) fn credentials(scan: &mut Scanner<'_>, at: usize, name: &Name) -> Option<Finding> {
    let start = after_quote(scan, at);
    let scheme = scan.bytes[start..].iter().take(LONGEST_SCHEME + 1).take_while(|b| b.is_ascii_alphabetic()).count();
    let known = SCHEMES.iter().any(|s| scan.bytes[start..start + scheme].eq_ignore_ascii_case(s.as_bytes()));
    let value = scan.skip_blanks(start + scheme, MOST_BLANKS);
    if !known || value == start + scheme {
        let whole = value::value_at(scan, at, Class::Bare);
        let token = Name { kind: Kind::Token, ..*name };
        return value::finding_for(scan, whole, &token, Setting::Quoted);
    }
    let run_end = scan.run_end(Class::Shell, value);
    let end = value::before_backslash(scan, value, run_end);
    let text = &scan.bytes[value..end];
    // "Authorization: Basic authentication is off" is a sentence.
    let prose = text.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_punctuation()) && reads_as_words(text);
    if text.len() < SHORTEST_CREDENTIALS || prose || is_placeholder(text) {
        return None;
    }
    let token = Name { kind: Kind::Token, ..*name };
    value::finding_for(scan, Value { start: value, end, quoted: false, last_read: run_end }, &token, Setting::Given)
}

/// Returns the whole value of `Cookie: a=b; c=d` if one of its parts may be a session.
pub(crate) fn cookies(scan: &mut Scanner<'_>, at: usize, name: &Name) -> Option<Finding> {
    let start = after_quote(scan, at);
    let end = scan.run_end(Class::Line, start);
    let line = &scan.bytes[start..end.min(start + READ)];
    let first_name = line.iter().take_while(|&&b| Class::Dotted.holds(b)).count();
    if first_name == 0 || line.get(first_name) != Some(&b'=') || !line.split(|&b| b == b';').any(may_hold_session) {
        return None;
    }
    scan.untouched(end).then_some(Finding { start, end, rule: name.rule })
}

fn may_hold_session(pair: &[u8]) -> bool {
    let Some(equals) = pair.iter().position(|&b| b == b'=') else { return false };
    let value = &pair[equals + 1..];
    value.len() >= SHORTEST_COOKIE && !is_placeholder(value) && !reads_as_words(value)
}

fn after_quote(scan: &Scanner<'_>, at: usize) -> usize {
    match scan.bytes.get(at..) {
        Some([b'\\', b'"' | b'\'', ..]) => at + 2,
        Some([b'"' | b'\'' | b'`', ..]) => at + 1,
        _ => at.min(scan.bytes.len()),
    }
}
