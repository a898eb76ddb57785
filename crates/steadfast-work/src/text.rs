//! Texts in one line.

/// A text with single spaces between its words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text in one line, without what a terminal would obey.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_an_agent_does_not_move_the_cursor() {
        assert_eq!(printable("a\n\u{1b}[2Jb\r\n"), "a  [2Jb");
    }
}
