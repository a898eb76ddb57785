//! A piece of a text.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    Word,
    Number,
    Text,
    Mark,
    /// A line for a preprocessor.
    Directive,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) lexeme: Lexeme,
    pub(super) text: &'a str,
    pub(super) line: usize,
    pub(super) column: usize,
    /// Nothing but blanks stands before it in its line.
    pub(super) is_first: bool,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && !matches!(self.lexeme, Lexeme::Text | Lexeme::Directive)
    }

    pub(super) fn is_word(&self) -> bool {
        self.lexeme == Lexeme::Word
    }

    /// As it is compared: quotes and separators of digits are manner.
    pub(super) fn plain(&self) -> String {
        match self.lexeme {
            Lexeme::Text => format!("\"{}\"", inside(self.text)),
            Lexeme::Number => self.text.replace('_', ""),
            _ => self.text.to_owned(),
        }
    }
}

/// A string without its prefix and its quotes.
pub(super) fn inside(text: &str) -> &str {
    if !text.ends_with(['"', '\'', '`', '#']) {
        return text;
    }
    let text = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic() || "@$#".contains(letter));
    text.trim_end_matches('#').trim_matches(['"', '\'', '`'])
}
