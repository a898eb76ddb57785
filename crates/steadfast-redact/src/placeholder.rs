//! Placeholders: values that are not secrets although their name announces one.

/// The part of a value that is read, in bytes.
const READ: usize = 64;

/// Whole values, in lower case and without `-`, `_` and spaces.
///
/// The second block holds default passwords that every README prints. Some containers accept them, but hiding them
/// protects nothing.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "any", "auto", "bearer", "bool", "boolean", "bytes", "default", "disabled", "dummy", "empty", "enabled", "env",
    "fake", "false", "fixme", "foo", "foobar", "hidden", "inherit", "int", "invalid", "masked", "mock", "mypassword",
    "mysecret", "mytoken", "nil", "no", "none", "null", "number", "object", "off", "on", "optional", "pass", "passwd",
    "password", "prompt", "pwd", "read", "redacted", "required", "sample", "secret", "stdin", "str", "string", "tbd",
    "test", "testing", "text", "todo", "token", "true", "undefined", "unset", "value", "write", "yes",

    "admin", "changeit", "changeme", "guest", "minioadmin", "postgres", "root",
];

/// First words of placeholders that only words follow: `your-token`, `e2e_test_secret`.
const FIRST_WORDS: &[&str] = &[
    "your", "my", "test", "testing", "e2e", "dummy", "fake", "mock", "sample", "insert", "replace", "enter", "some",
    "dev", "local", "invalid",
];

/// Returns true if the value is a reference, a filler or a well-known default.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let value = &value[..value.len().min(READ)];
    is_reference(value) || is_filler(value) || is_sample(value) || is_word(value)
}

/// `$TOKEN`, `${X}`, `$(cmd)`, `{{ x }}`, `<x>`, `%s`, `@file`, `[x]`, `*****`, `--flag`.
fn is_reference(value: &[u8]) -> bool {
    let has_opening = match *value {
        [b'$' | b'%', second, ..] => second.is_ascii_alphabetic() || matches!(second, b'_' | b'{' | b'(' | b'$'),
        [b'$' | b'<' | b'{' | b'[' | b'(' | b'*' | b'-' | b'@', ..] => true,
        _ => false,
    };
    has_opening
        || value.starts_with("…".as_bytes())
        || value.windows(2).any(|pair| matches!(pair, b"${" | b"$(" | b"{{"))
}

/// One or two bytes over and over: `xxxx`, `....`, `x-x-x-x`.
fn is_filler(value: &[u8]) -> bool {
    let Some(&first) = value.first() else { return true };
    let second = value.iter().find(|&&b| b != first);
    second.is_none_or(|second| value.iter().all(|b| *b == first || b == second))
}

/// `AKIA…EXAMPLE`, `sk-ant-your-key`, `ghp_xxxxabcd`.
pub(crate) fn is_sample(value: &[u8]) -> bool {
    let contains = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    contains(b"EXAMPLE")
        || contains(b"example")
        || contains(b"xxxx")
        || contains(b"XXXX")
        || contains(b"...")
        || contains_your(value)
}

fn contains_your(value: &[u8]) -> bool {
    value.windows(5).any(|window| window[..4].eq_ignore_ascii_case(b"your") && matches!(window[4], b'-' | b'_'))
}

fn is_word(value: &[u8]) -> bool {
    let mut plain = [0; READ];
    let mut length = 0;
    for byte in value.iter().filter(|b| !matches!(b, b'-' | b'_' | b' ')) {
        plain[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = &plain[..length];
    WORDS.iter().any(|word| word.as_bytes() == plain) || begins_as_placeholder(value)
}

fn begins_as_placeholder(value: &[u8]) -> bool {
    let Some(end) = value.iter().position(|b| matches!(b, b'-' | b'_' | b'.' | b' ')) else { return false };
    FIRST_WORDS.iter().any(|word| value[..end].eq_ignore_ascii_case(word.as_bytes())) && reads_as_words(&value[end..])
}

/// Returns true if every part between `-`, `_`, `.`, `/`, `:`, `@` and spaces is a short number, or a word with at most
/// one short number in it: `db-credentials-v2`, `self.token`, `/run/secrets/db`, `Uint8Array`, but no random text.
pub(crate) fn reads_as_words(value: &[u8]) -> bool {
    let value = &value[..value.len().min(READ)];
    value.split(|b| matches!(b, b'-' | b'_' | b'.' | b'/' | b':' | b'@' | b' ')).all(reads_as_word)
}

fn reads_as_word(part: &[u8]) -> bool {
    const LONGEST_NUMBER: usize = 4;
    const SHORTEST_HALF: usize = 4;
    let head = part.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let digits = part[head..].iter().take_while(|b| b.is_ascii_digit()).count();
    let tail = &part[head + digits..];
    let whole = tail.is_empty() || (head >= SHORTEST_HALF && tail.len() >= SHORTEST_HALF);
    whole && digits <= LONGEST_NUMBER && is_spelled(&part[..head]) && is_spelled(tail)
}

/// Letters in a usual spelling of joined words: one case, or camel case.
fn is_spelled(word: &[u8]) -> bool {
    const LONGEST: usize = 24;
    const SHORTEST_HUMP: usize = 3;
    let capitals = word.iter().filter(|b| b.is_ascii_uppercase()).count();
    word.len() <= LONGEST
        && word.iter().all(u8::is_ascii_alphabetic)
        && (capitals == word.len() || word.len() >= SHORTEST_HUMP * capitals)
}
