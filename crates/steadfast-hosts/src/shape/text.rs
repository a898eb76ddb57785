//! Shortens texts: everything stored or printed has a limit.

use steadfast_text::truncate_bytes;

/// Returns the beginning of a text, at most `bytes` long.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    truncate_bytes(text, bytes).into_owned()
}

/// Returns the end of a text, at most `bytes` long.
pub(crate) fn cut_front(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let start = text.ceil_char_boundary(text.len() - bytes.saturating_sub('…'.len_utf8()));
    format!("…{}", &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_whole_characters_and_its_bound() {
        let text = "aäöü€".repeat(10);
        for bytes in 3..text.len() + 2 {
            assert!(cut(&text, bytes).len() <= bytes.max(text.len().min(bytes)));
            assert!(cut_front(&text, bytes).len() <= bytes.max(text.len().min(bytes)));
        }
        assert_eq!(cut("abcdef", 5), "ab…");
        assert_eq!(cut_front("abcdef", 5), "…ef");
        assert_eq!(cut("abc", 3), "abc");
    }
}
