//! Made-up key material: `{36}` in an example becomes 36 random-looking bytes.

use crate::class::Class;

/// The bytes of a class from which keys are made, with five of each needed sort in front.
fn alphabet(class: Class) -> (&'static [u8], &'static [u8]) {
    match class {
        Class::Digit => (b"17420", b"0123456789"),
        Class::Hex => (b"a7c3e", b"0123456789abcdef"),
        Class::Upper => (b"A7KQ2", b"ABCDEFGHJKLMNPQRSTUVWYZ234567"),
        Class::Slug | Class::Dotted => (b"a7Kq2", b"abcdefghijkmnpqrstuvwyzABCDEFGHJKLMNPQRSTUVWYZ23456789_-"),
        _ => (b"a7Kq2", b"abcdefghijkmnpqrstuvwyzABCDEFGHJKLMNPQRSTUVWYZ23456789"),
    }
}

/// `length` bytes of the class; ends with a letter or digit.
pub(super) fn fill(class: Class, length: usize, seed: u64) -> String {
    let (first, all) = alphabet(class);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text: Vec<u8> = (0..length)
        .map(|at| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            first.get(at).copied().unwrap_or(all[(state >> 33) as usize % all.len()])
        })
        .collect();
    if let Some(last) = text.last_mut()
        && !last.is_ascii_alphanumeric()
    {
        *last = b'9';
    }
    String::from_utf8(text).unwrap()
}

/// The example with every `{36}`, `{36h}`, `{36d}`, `{36u}`, `{36s}` filled in.
pub(super) fn filled(example: &str) -> String {
    let mut text = String::new();
    let mut rest = example;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|close| open + close) else { break };
        let hole = &rest[open + 1..close];
        let digits = hole.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let Ok(length) = digits.parse() else {
            text.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
            continue;
        };
        let class = match &hole[digits.len()..] {
            "h" => Class::Hex,
            "d" => Class::Digit,
            "u" => Class::Upper,
            "s" => Class::Slug,
            _ => Class::Alnum,
        };
        text.push_str(&rest[..open]);
        text.push_str(&fill(class, length, text.len() as u64 + 7));
        rest = &rest[close + 1..];
    }
    text + rest
}
