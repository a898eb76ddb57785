//! Tables in text files, parsed and sorted at compile time. A hook lives for one command line, and would spend more
//! time building a table than using it.

/// Returns the text between two byte positions.
pub(crate) const fn cut(text: &'static str, from: usize, to: usize) -> &'static str {
    text.split_at(to).0.split_at(from).1
}

/// Returns the end of the line that begins at `from`.
const fn line_end(text: &str, from: usize) -> usize {
    let (bytes, length) = (text.as_bytes(), text.len());
    let mut at = from;
    while at < length && bytes[at] != b'\n' {
        at += 1;
    }
    at
}

/// Counts the lines without comments.
pub(crate) const fn count_lines(text: &str) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        if text.as_bytes()[at] != b'#' {
            count += 1;
        }
        at = line_end(text, at) + 1;
    }
    count
}

/// Returns the lines without comments.
pub(crate) const fn lines<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut lines = [""; N];
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        let end = line_end(text, at);
        if text.as_bytes()[at] != b'#' {
            lines[count] = cut(text, at, end);
            count += 1;
        }
        at = end + 1;
    }
    lines
}

/// Returns the part of a line before its first ` | `; `behind_bar` returns the part after it.
pub(crate) const fn before_bar(line: &'static str) -> &'static str {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at + 2 < bytes.len() && !(bytes[at] == b' ' && bytes[at + 1] == b'|' && bytes[at + 2] == b' ') {
        at += 1;
    }
    cut(line, 0, at)
}

pub(crate) const fn behind_bar(line: &'static str) -> &'static str {
    let from = before_bar(line).len() + 3;
    if from < line.len() { cut(line, from, line.len()) } else { "" }
}

/// Returns the words of the line of a kind.
pub(crate) const fn line_of(text: &'static str, kind: &str) -> &'static str {
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let line = cut(text, at, end);
        if text.as_bytes()[at] != b'#' && is_equal(before_bar(line), kind) {
            return behind_bar(line);
        }
        at = end + 1;
    }
    panic!("the file has no line of that kind");
}

pub(crate) const fn count_words(line: &str) -> usize {
    let (mut at, mut count) = (0, 1);
    while at < line.len() {
        if line.as_bytes()[at] == b' ' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// Returns the words of a line, sorted.
pub(crate) const fn words<const N: usize>(line: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut from, mut at, mut count) = (0, 0, 0);
    while at <= line.len() {
        if at == line.len() || line.as_bytes()[at] == b' ' {
            // Insert it at its place among the words before it.
            let word = cut(line, from, at);
            let mut place = count;
            while place > 0 && is_less(word, words[place - 1]) {
                words[place] = words[place - 1];
                place -= 1;
            }
            words[place] = word;
            count += 1;
            from = at + 1;
        }
        at += 1;
    }
    words
}

/// Counts the words in all lines.
pub(crate) const fn count_tagged(lines: &[&str]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < lines.len() {
        count += count_words(lines[at]);
        at += 1;
    }
    count
}

/// Returns the words of all lines, sorted, each with the bits of its lines.
pub(crate) const fn tagged<const N: usize>(lines: &[&'static str]) -> [(&'static str, u8); N] {
    let mut tagged = [("", 0); N];
    let (mut number, mut count) = (0, 0);
    while number < lines.len() {
        let line = lines[number];
        let (mut from, mut at) = (0, 0);
        while at <= line.len() {
            if at == line.len() || line.as_bytes()[at] == b' ' {
                let word = cut(line, from, at);
                let mut place = count;
                while place > 0 && is_less(word, tagged[place - 1].0) {
                    tagged[place] = tagged[place - 1];
                    place -= 1;
                }
                tagged[place] = (word, 1 << number);
                count += 1;
                from = at + 1;
            }
            at += 1;
        }
        number += 1;
    }
    tagged
}

/// Returns the bits of a word.
pub(crate) fn bits_of(tagged: &[(&str, u8)], word: &str) -> u8 {
    /// The maximum length of a word in a table.
    const LONGEST: usize = 12;
    if word.len() > LONGEST {
        return 0;
    }
    let from = tagged.partition_point(|(known, _)| *known < word);
    tagged[from..].iter().take_while(|(known, _)| *known == word).fold(0, |bits, (_, bit)| bits | bit)
}

pub(crate) const fn is_less(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let least = if one.len() < other.len() { one.len() } else { other.len() };
    let mut at = 0;
    while at < least {
        if one[at] != other[at] {
            return one[at] < other[at];
        }
        at += 1;
    }
    one.len() < other.len()
}

pub(crate) const fn is_equal(one: &str, other: &str) -> bool {
    !is_less(one, other) && !is_less(other, one)
}

/// Reports whether a word is in a sorted table.
pub(crate) fn has(words: &[&str], word: &str) -> bool {
    words.binary_search(&word).is_ok()
}

/// Returns the sorted words of a kind in a file: `kind | word word`.
macro_rules! words_of {
    ($text:expr, $kind:literal) => {{
        const LINE: &str = $crate::table::data::line_of($text, $kind);
        static WORDS: [&str; $crate::table::data::count_words(LINE)] = $crate::table::data::words(LINE);
        &WORDS
    }};
}
pub(crate) use words_of;

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\none | b a c\ntwo | x\n";

    #[test]
    fn a_file_is_cut_into_sorted_words() {
        assert_eq!(words_of!(TEXT, "one"), &["a", "b", "c"]);
        assert_eq!(words_of!(TEXT, "two"), &["x"]);
        assert!(has(words_of!(TEXT, "one"), "b") && !has(words_of!(TEXT, "one"), "x"));
    }

    #[test]
    fn comments_are_no_lines() {
        assert_eq!(lines::<{ count_lines(TEXT) }>(TEXT), ["one | b a c", "two | x"]);
        assert_eq!((before_bar("a b | c"), behind_bar("a b | c | d")), ("a b", "c | d"));
    }
}
