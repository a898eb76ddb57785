//! Effects of calls, by the words in their names.

use crate::table::data::{has, words_of};

pub(super) const TEXT: &str = include_str!("words.txt");
static WRITES: &[&str] = words_of!(TEXT, "writes");
static COPIES: &[&str] = words_of!(TEXT, "copies");
static MOVES: &[&str] = words_of!(TEXT, "moves");
static READS: &[&str] = words_of!(TEXT, "reads");
static SHELLS: &[&str] = words_of!(TEXT, "shells");
static MODES: &[&str] = words_of!(TEXT, "modes");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEffect {
    Writes,
    /// Writes the last path.
    Copies,
    Moves,
    Opens,
    Prints,
    Runs,
    Reads,
}

/// Returns the effect of a call. `None`: unknown.
pub(super) fn effect_of(name: &str) -> Option<CallEffect> {
    let lower = name.to_ascii_lowercase();
    if matches!(lower.as_str(), "open" | "fopen" | "openfile" | "file_open" | "fileopen") {
        return Some(CallEffect::Opens);
    }
    if matches!(lower.as_str(), "cat" | "print" | "dput" | "message") {
        return Some(CallEffect::Prints);
    }
    let kinds = [
        (WRITES, CallEffect::Writes),
        (COPIES, CallEffect::Copies),
        (MOVES, CallEffect::Moves),
        (SHELLS, CallEffect::Runs),
        (READS, CallEffect::Reads),
    ];
    if let Some((_, effect)) = kinds.iter().find(|(kind, _)| has(kind, &lower)) {
        return Some(*effect);
    }
    let mut found = None;
    for part in parts(name) {
        let part = lower[part].trim_end_matches(|c: char| c.is_ascii_digit());
        match kinds.iter().find(|(kind, effect)| *effect != CallEffect::Runs && has(kind, part)) {
            Some((_, CallEffect::Reads)) => found = found.or(Some(CallEffect::Reads)),
            Some((_, effect)) if found != Some(CallEffect::Writes) => found = Some(*effect),
            _ => {}
        }
    }
    // Names such as `file_set_contents`, `setText`.
    let is_content = |word: &str| matches!(word, "contents" | "content" | "text" | "bytes");
    let sets =
        parts(name).windows(2).any(|pair| &lower[pair[0].clone()] == "set" && is_content(&lower[pair[1].clone()]));
    if sets { Some(CallEffect::Writes) } else { found }
}

/// Reports whether a word beside a path opens it for writing.
pub(super) fn is_mode(word: &str) -> bool {
    has(MODES, &word.to_ascii_lowercase())
}

/// Returns the ranges of the words in a name: `writeLines`, `open_out`, `WriteAllText`.
fn parts(name: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = name.as_bytes();
    let mut parts = Vec::new();
    let mut from = 0;
    for at in 1..=bytes.len() {
        let ends = at == bytes.len()
            || bytes[at] == b'_'
            || (bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase());
        if ends {
            parts.push(from..at);
            from = if bytes.get(at) == Some(&b'_') { at + 1 } else { at };
        }
    }
    parts.retain(|part| part.start < part.end && name.is_char_boundary(part.start) && name.is_char_boundary(part.end));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_by_its_name() {
        for (name, expected) in [
            ("writeLines", Some(CallEffect::Writes)),
            ("saveRDS", Some(CallEffect::Writes)),
            ("WriteAllText", Some(CallEffect::Writes)),
            ("remove", Some(CallEffect::Writes)),
            ("removeFile", Some(CallEffect::Writes)),
            ("readLines", Some(CallEffect::Reads)),
            ("ReadAllText", Some(CallEffect::Reads)),
            ("copyFile", Some(CallEffect::Copies)),
            ("rename", Some(CallEffect::Moves)),
            ("open", Some(CallEffect::Opens)),
            ("sqrt", None),
            ("_", None),
        ] {
            assert_eq!(effect_of(name), expected, "{name}");
        }
    }
}
