//! Texts in which a second pass once found what the first had left, each with what went wrong.

use super::filler::filled;
use crate::{contains_secret, redact};

fn becomes_at_once(text: &str, clean: &str) {
    let (text, clean) = (filled(text), filled(clean));
    assert_eq!(redact(&text), clean, "from {text}");
    assert_eq!(redact(&clean), clean, "the second time");
    assert!(!contains_secret(&clean));
}

/// The scanner went on behind the password of `-u` and never saw the user. Found by fuzzing.
#[test]
fn a_secret_between_a_flag_and_its_value() {
    becomes_at_once("mysql -u 'a -phunter22 b:hunter33'", "mysql -u 'a -p[redacted:password] b:[redacted:password]'");
}

/// The key's line breaks kept the quotes from closing; the marker has none, and lies behind what is read of a value.
#[test]
fn a_quotation_that_closes_once_a_key_is_gone() {
    becomes_at_once(
        "password=\"{130}-----BEGIN PRIVATE KEY-----\n{64}\n-----END PRIVATE KEY-----\"",
        "password=\"{130}[redacted:private-key]\"",
    );
}

/// As above, but whether the quotes close decided only if `pass:` is what a test runner prints.
#[test]
fn a_verdict_that_is_none_once_a_key_is_gone() {
    becomes_at_once(
        "pass: 'a=\"hunter22\" -----BEGIN PRIVATE KEY-----\n{64}\n-----END PRIVATE KEY-----'",
        "pass: 'a=\"[redacted:password]\" [redacted:private-key]'",
    );
}

/// The last `@` ends the password of a URL, and it was in the other password.
#[test]
fn a_password_that_ends_earlier_once_another_is_gone() {
    becomes_at_once("x://u:hunter2@example;PASSWORD=a1b2c3@d4", "x://u:hunter2@example;PASSWORD=[redacted:password]");
}

/// So many bytes of the line are read, and the marker is shorter than the password was.
#[test]
fn a_label_that_is_short_enough_once_a_password_is_gone() {
    becomes_at_once(
        "-----BEGIN password='{50}' PRIVATE KEY-----\nabcdefghijklmnopqrst",
        "-----BEGIN password='[redacted:password]' PRIVATE KEY-----\nabcdefghijklmnopqrst",
    );
}
