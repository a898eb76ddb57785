//! Splits a text into sentences.

/// The longest quotation or code, in bytes, inside which a mark ends no sentence.
const QUOTE: usize = 2_000;

/// Abbreviations: their dot ends no sentence.
const SHORT: [&str; 3] = ["e.g.", "i.e.", "vs."];

/// Returns the sentences of a line, which end at any of these marks. A mark inside a path, a name, quotes or backticks
/// ends none.
pub fn split<'t>(line: &'t str, marks: &str) -> Vec<&'t str> {
    split_at(line, marks).into_iter().map(|(_, sentence)| sentence).collect()
}

/// Like [`split`], with the position of each sentence, in bytes.
pub fn split_at<'t>(text: &'t str, marks: &str) -> Vec<(usize, &'t str)> {
    let (mut parts, mut start, mut code, mut quoted) = (Vec::new(), 0, false, false);
    let mut chars = text.char_indices().peekable();
    let mut push = |from: usize, to: usize| {
        let part = &text[from..to];
        let bare = part.trim();
        if !bare.is_empty() {
            parts.push((from + part.len() - part.trim_start().len(), bare));
        }
    };
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        match c {
            '`' => code = !code && closes(&text[end..], '`'),
            '"' => quoted = !quoted && closes(&text[end..], '"'),
            '“' => quoted = closes(&text[end..], '”'),
            '”' => quoted = false,
            _ if !code && !quoted && marks.contains(c) => {
                let ends = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
                if ends && !SHORT.iter().any(|short| text[start..end].ends_with(short)) {
                    push(start, end);
                    start = end;
                }
            }
            _ => {}
        }
    }
    push(start, text.len());
    parts
}

/// Returns true if a quotation or code is closed soon.
fn closes(rest: &str, close: char) -> bool {
    rest[..rest.floor_char_boundary(QUOTE)].contains(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_in_a_path_a_quote_or_an_abbreviation_ends_no_sentence() {
        assert_eq!(split("Fix src/a.rs. See `b. c`! One, e.g. this. ok", ".!?").len(), 4);
        assert_eq!(split_at("a. \"b. c\"; d", ".;"), [(0, "a."), (3, "\"b. c\";"), (11, "d")]);
    }
}
