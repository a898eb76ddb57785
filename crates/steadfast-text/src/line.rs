//! One-line texts, and shortened texts.

use std::borrow::Cow;

const MORE: char = '…';

/// Joins the words of a text with single spaces.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Makes a text safe for one line of a terminal: control characters become spaces. Spaces inside the text stay.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim_end().to_owned()
}

/// Shortens a text to `most` characters, including the `…` at its end.
#[must_use]
pub fn truncate(text: &str, most: usize) -> Cow<'_, str> {
    // A text has at least as many bytes as characters.
    if text.len() <= most {
        return text.into();
    }
    let mut ends = text.char_indices().map(|(end, _)| end);
    let end = ends.nth(most.saturating_sub(1)).unwrap_or(text.len());
    if ends.next().is_none() { text.into() } else { shortened(text, end) }
}

/// Applies [`one_line`], then [`truncate`].
#[must_use]
pub fn truncate_line(text: &str, most: usize) -> String {
    let line = one_line(text);
    match truncate(&line, most) {
        Cow::Owned(cut) => cut,
        Cow::Borrowed(_) => line,
    }
}

/// Shortens a text to `most` bytes, for limits that another program counts in bytes.
#[must_use]
pub fn truncate_bytes(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    shortened(text, text.floor_char_boundary(most.saturating_sub(MORE.len_utf8())))
}

fn shortened(text: &str, end: usize) -> Cow<'_, str> {
    let mut cut = String::with_capacity(end + MORE.len_utf8());
    cut.push_str(&text[..end]);
    cut.push(MORE);
    cut.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_becomes_single_spaces() {
        assert_eq!(one_line("  a\n\tb  c\r\n"), "a b c");
        assert_eq!(one_line(" \n"), "");
    }

    #[test]
    fn a_text_of_an_agent_does_not_move_the_cursor() {
        assert_eq!(printable("a\n\u{1b}[2Jb\r\n"), "a  [2Jb");
    }

    #[test]
    fn the_ellipsis_counts_as_a_character() {
        let cut = |text, most| truncate(text, most).into_owned();
        assert_eq!([cut("abcd", 4), cut("abcd", 3), cut("éüßø", 4), cut("éüßø", 3)], ["abcd", "ab…", "éüßø", "éü…"]);
        assert_eq!([cut("", 0), cut("ab", 1), cut("ab", 0)], ["", "…", "…"]);
        assert_eq!(truncate_line(" ab\n cd", 4), "ab …");
        assert_eq!(truncate_line("ab\ncd", 5), "ab cd");
    }

    #[test]
    fn bytes_are_cut_between_characters() {
        let cut = |text, most| truncate_bytes(text, most).into_owned();
        assert_eq!([cut("abcdef", 6), cut("abcdef", 5), cut("éüßø", 7)], ["abcdef", "ab…", "éü…"]);
    }
}
