//! Secrets after flags: `--password x`, `-u user:x`, `mysql -px`.

use crate::class::Class;
use crate::name::{self, Kind, Name, Where};
use crate::scan::{Finding, Scanner};
use crate::value::{self, Setting, Value};
use crate::{command, header};

const LONGEST_FLAG: usize = 48;
const LONGEST_USER: usize = 64;
const MOST_BLANKS: usize = 16;
static PASSWORD: Name = Name { ending: "", place: Where::Word, kind: Kind::Password, rule: "password" };

/// Finds the secret given to the flag whose letters begin at `at`, directly after `-`.
pub(crate) fn value_of(scan: &mut Scanner<'_>, at: usize) -> Option<Finding> {
    let long = scan.before(at - 1) == Some(b'-');
    let dashes = if long { at - 2 } else { at - 1 };
    if scan.before(dashes).is_some_and(|b| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b'[' | b'('))
    {
        return None;
    }
    let letters = scan.bytes[at..].iter().take(LONGEST_FLAG + 1).take_while(|&&b| Class::Slug.holds(b)).count();
    let flag = &scan.bytes[at..at + letters];
    if matches!(flag, b"u" | b"U" | b"user" | b"proxy-user") {
        return password_of_user(scan, at + letters);
    }
    if !long && let Some(finding) = short(scan, at) {
        return Some(finding);
    }
    let name = if long { name::announced_by(flag) } else { name::announced_wholly_by(flag) }?;
    if flag.starts_with(b"no-") {
        return None;
    }
    let start = argument(scan, at + letters)?;
    match name.kind {
        Kind::Cookie => header::cookies(scan, start, name),
        Kind::Authorization => header::credentials(scan, start, name),
        Kind::Password | Kind::Token | Kind::Harmless => {
            let found = value::value_at(scan, start, Class::Shell);
            value::finding_for(scan, found, name, Setting::Given)
        }
    }
}

/// Returns the start of the argument of a flag that ends at `end`: after blanks, or after `",` in a list.
fn argument(scan: &Scanner<'_>, end: usize) -> Option<usize> {
    let listed = match scan.bytes.get(end..)? {
        [b'"' | b'\'', b',', ..] => end + 2,
        [b'\\', b'"', b',', ..] => end + 3,
        _ => end,
    };
    let start = scan.skip_blanks(listed, MOST_BLANKS);
    // A backtick opens a command in a shell, and a quotation in prose ("-Pass `x` to it", in a diff).
    (start > end && scan.byte(start).is_some_and(|b| b != b'`')).then_some(start)
}

/// `-u user:password`; not `-u 1000:1000`, `-u host:/path`, `-u https://…`.
fn password_of_user(scan: &mut Scanner<'_>, end: usize) -> Option<Finding> {
    let start = if scan.byte(end) == Some(b'=') { end + 1 } else { argument(scan, end)? };
    let pair = value::value_at(scan, start, Class::Shell);
    let text = &scan.bytes[pair.start..pair.end];
    let colon = text.iter().take(LONGEST_USER).position(|&b| b == b':')?;
    let (user, password) = (&text[..colon], &text[colon + 1..]);
    let place = matches!(password.first(), Some(b'/' | b'~' | b'.' | b'\\'));
    let numbers = password.iter().all(u8::is_ascii_digit) && user.iter().all(u8::is_ascii_digit);
    if place || numbers || user == password || user.iter().any(|b| matches!(b, b'$' | b'{' | b'/' | b'<')) {
        return None;
    }
    let password = Value { start: pair.start + colon + 1, ..pair };
    value::finding_for(scan, Value { quoted: false, ..password }, &PASSWORD, Setting::Given)
}

/// Finds the value of a one-letter flag that means a password to the command before it.
fn short(scan: &mut Scanner<'_>, at: usize) -> Option<Finding> {
    let letter = scan.byte(at)?;
    if !command::uses(letter) {
        return None;
    }
    let attached = scan.byte(at + 1).is_some_and(|b| !b.is_ascii_whitespace());
    let command = command::before(scan, at - 1, letter)?;
    let start = match (attached, command.argument) {
        (true, command::Argument::Attached | command::Argument::Either) => at + 1,
        (false, command::Argument::Separate | command::Argument::Either) => argument(scan, at + 1)?,
        _ => return None,
    };
    let found = value::value_at(scan, start, Class::Shell);
    // `docker run --name mysql -p3306:3306`
    let ports = scan.bytes[found.start..found.end].iter().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'))
        && scan.bytes[found.start..found.end].contains(&b':');
    if ports { None } else { value::finding_for(scan, found, &PASSWORD, Setting::Given) }
}
