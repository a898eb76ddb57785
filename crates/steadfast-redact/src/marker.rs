//! Writes and recognises `[redacted:<rule>]`.

const OPENING: &[u8] = b"[redacted:";
const LONGEST_RULE: usize = 40;

pub(crate) fn write(out: &mut String, rule: &str) {
    out.push_str("[redacted:");
    out.push_str(rule);
    out.push(']');
}

/// Returns the end of the complete marker that begins at `at`.
pub(crate) fn end_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rule = bytes.get(at..)?.strip_prefix(OPENING)?;
    let length = rule
        .iter()
        .take(LONGEST_RULE + 1)
        .position(|&b| !(b.is_ascii_lowercase() || b == b'-' || b.is_ascii_digit()))?;
    (length > 0 && rule[length] == b']').then_some(at + OPENING.len() + length + 1)
}

/// Returns the start of the first complete marker at or after `from`.
pub(crate) fn first_from(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|&b| b == b'[')?;
        if end_at(bytes, at).is_some() {
            return Some(at);
        }
        at += 1;
    }
}
