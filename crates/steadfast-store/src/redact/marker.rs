//! `[redacted:<rule>]`, written and recognised again.

const OPENING: &[u8] = b"[redacted:";
const LONGEST_RULE: usize = 40;

pub(super) fn write(out: &mut String, rule: &str) {
    out.push_str("[redacted:");
    out.push_str(rule);
    out.push(']');
}

pub(super) fn opens_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(OPENING))
}

/// Where a whole marker that begins at `at` ends.
pub(super) fn end_at(bytes: &[u8], at: usize) -> Option<usize> {
    if !opens_at(bytes, at) {
        return None;
    }
    let rule = &bytes[at + OPENING.len()..];
    let length = rule
        .iter()
        .take(LONGEST_RULE + 1)
        .position(|&b| !(b.is_ascii_lowercase() || b == b'-' || b.is_ascii_digit()))?;
    (length > 0 && rule[length] == b']').then_some(at + OPENING.len() + length + 1)
}

/// Whether a marker opens in the first `window` bytes of `from..end`.
///
/// A value is judged by its beginning; were a secret inside it already taken out, the judgement would be about other
/// bytes than before, and a second pass could differ from the first. So such a value is never judged.
pub(super) fn opens_within(bytes: &[u8], from: usize, end: usize, window: usize) -> bool {
    let last = end.min(from.saturating_add(window));
    (from..last).any(|at| bytes[at] == b'[' && opens_at(bytes, at))
}
