//! Text in the columns of a terminal: wide characters take two, combining characters and [`MARKS`] take none.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Noncharacters, which Unicode keeps for the inside of a program. They carry styles through a text up to the place that
/// prints it.
pub const MARKS: RangeInclusive<char> = '\u{fdd0}'..='\u{fdef}';

/// The mark before the text that the following lines of a wrapped line are aligned with.
pub const HANG: char = '\u{fdef}';

/// The joiner between the characters of one emoji.
const JOINER: char = '\u{200d}';

/// The number of columns that a text takes.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.split(|c| MARKS.contains(&c)).map(UnicodeWidthStr::width).sum()
}

/// Shortens a text to `most` columns, including the `…` at its end. Keeps all marks.
#[must_use]
pub fn fit(text: &str, most: usize) -> Cow<'_, str> {
    if columns(text) <= most {
        return text.into();
    }
    let (mut cut, mut used, mut is_cut) = (String::with_capacity(text.len()), 0, false);
    for (at, c) in text.char_indices() {
        if MARKS.contains(&c) {
            cut.push(c);
            continue;
        }
        if is_cut {
            continue;
        }
        // The width of an emoji of several characters is not the sum of their widths.
        let end = at + c.len_utf8();
        used = columns(&text[..end]).max(used);
        if used + 1 > most {
            is_cut = true;
            while cut.ends_with([' ', JOINER]) {
                cut.pop();
            }
            cut.extend((most > 0).then_some('…'));
        } else {
            cut.push(c);
        }
    }
    cut.into()
}

/// Fills a text up with spaces.
#[must_use]
pub fn pad(text: &str, width: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', width.saturating_sub(columns(text))));
    padded
}

/// Wraps each line of a text between words. The following lines begin at [`HANG`], else two columns right of the first
/// one. A command in backticks and a word stay whole: one that does not fit gets a line of its own.
#[must_use]
pub fn wrap(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len() + text.len() / 16);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            wrapped.push('\n');
        }
        if columns(line) <= width {
            wrapped.push_str(line);
        } else {
            wrap_line(line, width, &mut wrapped);
        }
    }
    wrapped
}

fn wrap_line(line: &str, width: usize, wrapped: &mut String) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let hang = match line.find(HANG) {
        Some(at) => columns(&line[..at]),
        None => indent + 2,
    };
    // In a narrow terminal a deep indentation leaves no room for words.
    let hang = hang.min(width / 2);
    let (mut column, mut is_begun) = (0, false);
    for piece in pieces(line, width - hang) {
        let taken = columns(piece);
        if is_begun && column + taken > width && !piece.trim_start_matches(' ').is_empty() {
            let rest = piece.trim_start_matches(' ');
            wrapped.truncate(wrapped.trim_end_matches(' ').len());
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', hang));
            wrapped.push_str(rest);
            column = hang + columns(rest);
        } else {
            wrapped.push_str(piece);
            column += taken;
        }
        is_begun |= column > indent;
    }
}

/// Cuts a line where it may be wrapped. Each piece but the first begins with the spaces before it.
fn pieces(line: &str, longest: usize) -> Vec<&str> {
    let is_wide = |c: char| UnicodeWidthChar::width(c) == Some(2);
    let (mut pieces, mut start, mut quoted_to) = (Vec::new(), 0, 0);
    let (mut before, mut is_word) = (' ', false);
    for (at, c) in line.char_indices().filter(|(_, c)| !MARKS.contains(c)) {
        let is_joined = at < quoted_to || before == JOINER || UnicodeWidthChar::width(c) == Some(0);
        if is_word && !is_joined && (c == ' ' || is_wide(c) || is_wide(before)) {
            pieces.push(&line[start..at]);
            (start, is_word) = (at, false);
        }
        if c == '`' && at >= quoted_to {
            // A command in backticks, if it fits into a line.
            let end = line[at + 1..].find('`').map(|length| at + length + 2);
            quoted_to = end.filter(|end| columns(&line[at..*end]) <= longest).unwrap_or(at + 1);
        }
        is_word |= c != ' ';
        before = c;
    }
    pieces.push(&line[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        let widths = ["abc", "トークン", "é", "👩‍💻", "\u{fdd1}ab\u{fdd0}", ""].map(columns);
        assert_eq!(widths, [3, 8, 1, 2, 2, 0]);
    }

    #[test]
    fn a_cut_text_fits_and_keeps_its_marks() {
        let cut = |text, most| fit(text, most).into_owned();
        assert_eq!([cut("abcd", 4), cut("abcd", 3), cut("abcd", 0)], ["abcd", "ab…", ""]);
        assert_eq!([cut("トークン", 7), cut("トークン", 6), cut("one two", 5)], ["トーク…", "トー…", "one…"]);
        assert_eq!(cut("\u{fdd1}abcd\u{fdd0}", 3), "\u{fdd1}ab…\u{fdd0}");
        assert_eq!(cut("a 👩‍💻 b", 4), "a…", "an emoji is kept whole or not at all");
        assert_eq!(pad("ク", 4), "ク  ");
    }

    #[test]
    fn a_line_is_wrapped_between_words() {
        assert_eq!(wrap("one two three", 7), "one two\n  three");
        assert_eq!(wrap("one two three", 13), "one two three");
        assert_eq!(wrap("one\ntwo three four", 9), "one\ntwo three\n  four");
        assert_eq!(wrap("a  b  cc", 5), "a  b\n  cc", "spaces of a table stay");
        assert_eq!(wrap("", 5), "");
    }

    #[test]
    fn the_following_lines_are_aligned() {
        assert_eq!(wrap("  1.1   \u{fdef}one two three", 15), "  1.1   \u{fdef}one two\n       three");
        assert_eq!(wrap("  [x] \u{fdef}one two three", 15), "  [x] \u{fdef}one two\n      three");
        assert_eq!(wrap("    one two three", 13), "    one two\n      three");
    }

    #[test]
    fn a_command_stays_whole_if_it_fits() {
        assert_eq!(wrap("see `task add TITLE`, then go", 20), "see\n  `task add TITLE`,\n  then go");
        assert_eq!(
            wrap("run `a very long command of many words` now", 16),
            "run `a very long\n  command of\n  many words`\n  now"
        );
        assert_eq!(wrap("one ` two three", 9), "one ` two\n  three", "one alone quotes nothing");
    }

    #[test]
    fn a_word_that_does_not_fit_gets_its_own_line() {
        assert_eq!(wrap("a incomprehensible b", 8), "a\n  incomprehensible\n  b");
        assert_eq!(wrap("incomprehensible", 8), "incomprehensible");
    }

    #[test]
    fn text_without_spaces_is_wrapped_between_wide_characters() {
        assert_eq!(wrap("1 トークンを回す", 8), "1 トーク\n  ンを回\n  す");
        assert_eq!(wrap("ab 👩‍💻👩‍💻👩‍💻", 6), "ab 👩‍💻\n  👩‍💻👩‍💻");
    }
}
