//! Splits a text into words, numbers, strings and marks, without comments. One lexer reads all languages of the table.
//! It accepts any text: an unclosed string ends with its line or with the file.

use super::language::{Language, Quotes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    Text,
    Mark,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    /// Only white space comes before it in its line.
    pub(super) is_first: bool,
}

impl<'a> Token<'a> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != TokenKind::Text
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }

    pub(super) fn is_value(&self) -> bool {
        matches!(self.kind, TokenKind::Number | TokenKind::Text)
    }

    /// Returns the text without quotes.
    pub(super) fn inside(&self) -> &'a str {
        self.text.trim_matches(['"', '\'', '`'])
    }
}

#[derive(Debug)]
pub(super) struct Lexed<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token<'a>>,
    /// The index of the closing bracket for each opening one, or the number of tokens if it is missing; 0 for other
    /// tokens.
    closes: Vec<usize>,
}

impl Lexed<'_> {
    pub(super) fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    /// Returns the position after the closing bracket if one opens at `at`, else after the token.
    pub(super) fn skip(&self, at: usize) -> usize {
        let close = self.closes.get(at).copied().filter(|close| *close > at);
        close.map_or(at, |close| close.min(self.tokens.len())) + 1
    }
}

pub(super) fn lex<'a>(text: &'a str, language: &Language) -> Lexed<'a> {
    let mut lexer = Lexer { text, language, at: 0, line: 1, line_start: 0, is_first: true, tokens: Vec::new() };
    while lexer.at < text.len() {
        lexer.step();
    }
    let closes = closes(&lexer.tokens);
    Lexed { text, tokens: lexer.tokens, closes }
}

const BRACKETS: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("{", "}")];

fn closes(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut closes = vec![0; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Mark) {
        if BRACKETS.iter().any(|(opener, _)| token.is(opener)) {
            open.push(at);
        }
        let Some((opener, _)) = BRACKETS.iter().find(|(_, closer)| token.is(closer)) else { continue };
        // A stray closing bracket closes nothing. One that skips an open bracket closes that one, too. Searching four
        // levels is enough, and keeps this linear.
        let depth = open.iter().rev().take(4).position(|&was| tokens[was].is(opener));
        for _ in 0..depth.map_or(0, |depth| depth + 1) {
            if let Some(was) = open.pop() {
                closes[was] = at;
            }
        }
    }
    for was in open {
        closes[was] = tokens.len();
    }
    closes
}

struct Lexer<'a, 'l> {
    text: &'a str,
    language: &'l Language,
    at: usize,
    line: usize,
    line_start: usize,
    is_first: bool,
    tokens: Vec<Token<'a>>,
}

impl<'a, 'l> Lexer<'a, 'l> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        let language = self.language;
        if first.is_whitespace() {
            return self.pass(first.len_utf8());
        }
        if !language.line_comment.is_empty() && rest.starts_with(&language.line_comment) {
            return self.pass(rest.find('\n').unwrap_or(rest.len()));
        }
        if let Some((open, close)) = &language.block_comment
            && rest.starts_with(open)
        {
            let length = self.length_to(open.len(), close);
            return self.pass(length);
        }
        let opens = |quotes: &&Quotes| rest.starts_with(&quotes.0);
        if let Some(quotes) = language.raw_strings.iter().find(opens) {
            let length = self.length_to(quotes.0.len(), &quotes.1);
            return self.push(TokenKind::Text, length);
        }
        if let Some(quotes) = language.strings.iter().find(opens) {
            if language.characters && quotes.0 == "'" && !is_character(rest) {
                return self.push(TokenKind::Mark, 1);
            }
            let length = string_length(rest, quotes, language.long_strings || quotes.0.len() == 3);
            return self.push(TokenKind::Text, length);
        }
        if first.is_ascii_digit() {
            let ends = |(at, letter): &(usize, char)| match letter {
                '.' => !rest[at + 1..].starts_with(|next: char| next.is_ascii_digit()),
                letter => !letter.is_ascii_alphanumeric() && *letter != '_',
            };
            let length = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
            return self.push(TokenKind::Number, length);
        }
        let in_word = |letter: char| {
            letter.is_alphanumeric() || letter == '_' || letter == '$' || language.word_marks.contains(letter)
        };
        let length = rest.find(|letter| !in_word(letter)).unwrap_or(rest.len());
        if length > 0 { self.push(TokenKind::Word, length) } else { self.push(TokenKind::Mark, first.len_utf8()) }
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let text = self.rest().get(..length).unwrap_or(self.rest());
        let (start, line, column) = (self.at, self.line, self.at - self.line_start);
        self.tokens.push(Token { kind, text, start, line, column, is_first: self.is_first });
        self.is_first = false;
        self.pass(text.len());
    }

    fn pass(&mut self, length: usize) {
        let passed = self.rest().get(..length).unwrap_or(self.rest());
        if let Some(last) = passed.rfind('\n') {
            self.line += passed.matches('\n').count();
            self.line_start = self.at + last + 1;
            self.is_first = true;
        }
        self.at += passed.len();
    }

    /// Returns the length up to a closing mark, or to the end of the text.
    fn length_to(&self, from: usize, close: &str) -> usize {
        let rest = self.rest();
        rest.get(from..).and_then(|text| text.find(close)).map_or(rest.len(), |found| from + found + close.len())
    }
}

fn string_length(text: &str, quotes: &Quotes, is_long: bool) -> usize {
    let mut at = quotes.0.len();
    while let Some(next) = text[at..].chars().next() {
        if text[at..].starts_with(&quotes.1) {
            return at + quotes.1.len();
        }
        if next == '\n' && !is_long {
            break;
        }
        at += next.len_utf8();
        if next == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    at
}

/// Returns whether the text is a character of Rust, not a lifetime.
fn is_character(text: &str) -> bool {
    let mut letters = text.chars().skip(1);
    letters.next() == Some('\\') || letters.next() == Some('\'')
}
