//! The password in `scheme://user:password@host`.

use crate::class::Class;
use crate::name::{Kind, Name, Where};
use crate::scan::{Finding, Scanner};
use crate::value::{self, Setting, Value};

const LONGEST_USER: usize = 64;
static PASSWORD: Name = Name { ending: "", place: Where::Word, kind: Kind::Password, rule: "url-password" };

/// Finds the password after the `:` at `colon`, if the colon is in the user part of a URL. `word` is the start of the
/// name left of the colon.
pub(crate) fn password_after(scan: &mut Scanner<'_>, colon: usize, word: usize) -> Option<Finding> {
    if !matches!(scan.before(word), Some(b'/' | b'%' | b'+' | b'~' | b'$' | b'}')) {
        return None;
    }
    let user = user_start(scan, colon)?;
    let end = scan.run_end(Class::Authority, colon + 1);
    let at_sign = colon + 1 + scan.bytes[colon + 1..end].iter().rposition(|&b| b == b'@')?;
    let password = Value { start: colon + 1, end: at_sign, quoted: false, last_read: end };
    // `postgres:postgres@localhost` is a default, not a secret.
    if scan.bytes[user..colon] == scan.bytes[password.start..password.end] {
        return None;
    }
    value::finding_for(scan, password, &PASSWORD, Setting::Given)
}

fn user_start(scan: &Scanner<'_>, colon: usize) -> Option<usize> {
    let reach = &scan.bytes[scan.floor.max(colon.saturating_sub(LONGEST_USER))..colon];
    let user = reach.iter().rev().take_while(|&&b| Class::Authority.holds(b) && b != b':' && b != b'@').count();
    reach[..reach.len() - user].ends_with(b"://").then(|| colon - user)
}
