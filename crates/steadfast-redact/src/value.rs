//! The value after a name: its extent, and whether it is a secret.

use crate::class::Class;
use crate::name::{Kind, Name};
use crate::placeholder::{is_placeholder, reads_as_words};
use crate::rule;
use crate::scan::{Finding, Scanner};

/// The certainty, from the surroundings, that a value is literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    /// `password: x`, `token=x`: as often code or prose as a value.
    Bare,
    /// `"password": "x"`, `token = 'x'`.
    Quoted,
    /// `FOO_TOKEN=x`, `--password x`, `?token=x`: always a value.
    Given,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) quoted: bool,
    /// The last byte that was read to find the end of the value.
    pub(crate) last_read: usize,
}

/// The part of a value that is judged, in bytes.
const READ: usize = 128;

/// Reads the value that begins at `at`: quoted, or a run of the class `unquoted`.
pub(crate) fn value_at(scan: &mut Scanner<'_>, at: usize, unquoted: Class) -> Value {
    if let Some(value) = quoted_at(scan, at) {
        return value;
    }
    let run_end = scan.run_end(unquoted, at.min(scan.bytes.len()));
    Value { start: at, end: before_backslash(scan, at, run_end), quoted: false, last_read: run_end }
}

/// Returns the end of a run without the backslash of an escaped closing quote: `"{\"token\": …\"}"`.
pub(crate) fn before_backslash(scan: &Scanner<'_>, start: usize, end: usize) -> usize {
    if end > start && scan.bytes[end - 1] == b'\\' { end - 1 } else { end }
}

/// Returns the quote that opens a value, true if a backslash precedes it, and the start of the value.
fn opening_quote(scan: &Scanner<'_>, at: usize) -> Option<(u8, bool, usize)> {
    match scan.bytes.get(at..)? {
        [quote @ (b'"' | b'\'' | b'`'), ..] => Some((*quote, false, at + 1)),
        [b'\\', quote @ (b'"' | b'\''), ..] => Some((*quote, true, at + 2)),
        [b'b' | b'r' | b'f' | b'u', quote @ (b'"' | b'\''), ..] => Some((*quote, false, at + 2)),
        _ => None,
    }
}

pub(crate) fn opens_quoted(scan: &Scanner<'_>, at: usize) -> bool {
    opening_quote(scan, at).is_some()
}

/// Reads a quoted value on one line, also `b"…"` and `\"…\"`.
pub(crate) fn quoted_at(scan: &Scanner<'_>, at: usize) -> Option<Value> {
    let (quote, escaped, start) = opening_quote(scan, at)?;
    let mut end = start;
    loop {
        match scan.bytes.get(end..) {
            Some([b'\\', byte, ..]) if escaped && *byte == quote => break,
            Some([b'\\', byte, ..]) if *byte != b'\n' && byte.is_ascii() => end += 2,
            Some([b'\n', ..] | []) | None => return None,
            Some([byte, ..]) if *byte == quote => break,
            Some(_) => end += 1,
        }
    }
    let last_read = if escaped { end + 1 } else { end };
    Some(Value { start, end, quoted: true, last_read })
}

/// Returns the finding if `value` is the kind of secret that `name` announces. If the value matches a token rule, the
/// finding gets that rule's more specific label.
pub(crate) fn finding_for(scan: &mut Scanner<'_>, value: Value, name: &Name, setting: Setting) -> Option<Finding> {
    if value.start >= value.end {
        return None;
    }
    if let Some(finding) = rule::find(scan, value.start).filter(|f| f.start == value.start && f.end >= value.end) {
        return scan.untouched(value.last_read).then_some(finding);
    }
    let text = &scan.bytes[value.start..value.end.min(value.start + READ)];
    let setting = if value.quoted { setting.max(Setting::Quoted) } else { setting };
    let secret = is_secret(text, name.kind, setting) && (setting == Setting::Given || !repeats_name(text, name));
    (secret && scan.untouched(value.last_read)).then_some(Finding {
        start: value.start,
        end: value.end,
        rule: name.rule,
    })
}

fn is_secret(text: &[u8], kind: Kind, setting: Setting) -> bool {
    let spaced = text.iter().any(u8::is_ascii_whitespace);
    let shaped = match (kind, setting) {
        (Kind::Password, Setting::Given) => text.len() >= 4,
        (Kind::Password, Setting::Quoted) => text.len() >= 4 && !spaced && !is_label(text) && !is_expression(text),
        (Kind::Password, Setting::Bare) => {
            text.len() >= 6
                && !spaced
                && !text.iter().all(u8::is_ascii_alphabetic)
                && !is_code(text)
                && !is_path_of_names(text)
        }
        (_, Setting::Given) => text.len() >= 6 && !spaced && !is_option_list(text),
        (_, Setting::Quoted) => text.len() >= 8 && !spaced && !reads_as_words(text) && !is_expression(text),
        (_, Setting::Bare) => {
            text.len() >= 8 && !spaced && has_letter_and_digit(text) && !reads_as_words(text) && !is_code(text)
        }
    };
    shaped && !is_placeholder(text) && !is_location(text)
}

/// `privateKey: ed25519PrivateKey`, `PASSWORD: 'passwordShare'`: the value is another name that contains the announcing
/// one.
fn repeats_name(text: &[u8], name: &Name) -> bool {
    let ending = name.ending.as_bytes();
    let holds = |text: &[u8]| !ending.is_empty() && text.windows(ending.len()).any(|w| w.eq_ignore_ascii_case(ending));
    match name.kind {
        Kind::Password => text.iter().all(u8::is_ascii_alphabetic) && holds(text),
        _ => text.iter().all(u8::is_ascii_alphanumeric) && holds(text),
    }
}

/// Paths, URLs and names that secret managers give to secrets.
fn is_location(text: &[u8]) -> bool {
    let path = [b"/".as_slice(), b"./", b"../", b"~/"].iter().any(|root| text.starts_with(root));
    path && reads_as_words(text.strip_prefix(b"~").unwrap_or(text))
        || text.windows(3).any(|window| window == b"://")
        || text.starts_with(b"arn:")
}

/// `"password": "Passwort"`: the caption of a field.
fn is_label(text: &[u8]) -> bool {
    let [first, rest @ ..] = text else { return false };
    first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_lowercase)
}

/// `"password": "user.password"`, `"^(token)$"`, `"%(password)s"`.
fn is_expression(text: &[u8]) -> bool {
    is_path_of_names(text)
        || contains_any_pair(text, &[b".*", b".+", b"\\s", b"\\w", b"\\d", b"\\b", b"\\|", b"()", b"[^", b"(?"])
}

/// Brackets, operators, `enable=true`. A `=` at the end belongs to base64.
fn is_code(text: &[u8]) -> bool {
    text.iter().any(|b| matches!(b, b'(' | b'[' | b'{' | b'\\'))
        || matches!(text.first(), Some(b'&' | b'!' | b'#' | b'|' | b'>' | b'=' | b'?' | b'/' | b':' | b'.'))
        || contains_any_pair(text, &[b"::", b"->", b"?.", b".*", b".+"])
        || text.iter().rev().skip_while(|b| **b == b'=').any(|b| *b == b'=')
}

/// `self.password2`, `snake_case_name1`: several words and nothing else.
fn is_path_of_names(text: &[u8]) -> bool {
    text.iter().any(|b| matches!(b, b'.' | b'_' | b'-' | b'/' | b':')) && reads_as_words(text)
}

/// `docker build --secret id=npmrc,src=.npmrc`.
fn is_option_list(text: &[u8]) -> bool {
    [b"id=".as_slice(), b"src=", b"source=", b"type=", b"env="].iter().any(|option| text.starts_with(option))
}

fn has_letter_and_digit(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic)
}

fn contains_any_pair(text: &[u8], pairs: &[&[u8; 2]]) -> bool {
    text.windows(2).any(|window| pairs.iter().any(|pair| pair.as_slice() == window))
}
