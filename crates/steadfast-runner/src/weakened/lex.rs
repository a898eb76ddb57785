//! A text as words, numbers, strings and marks, with the comments apart. Every byte is looked at a bounded number of
//! times, and no text is too broken: what does not end, ends with its line or with the file.

use super::language::Language;
pub(super) use super::token::{Lexeme, Token, inside};

#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
}

#[derive(Debug, Default)]
pub(super) struct Lexed<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) comments: Vec<Comment<'a>>,
    /// For an opening bracket the place of its closing one; the end of the file where there is none.
    pub(super) closes: Vec<usize>,
}

const LONGEST_REGEX: usize = 300;
const LONGEST_HEREDOC: usize = 10_000;
/// How often the end of something is looked for in vain, before it is no longer looked for.
const MOST_VAIN: usize = 200;

const OPERATORS: [&str; 17] =
    ["===", "!==", "...", "==", "!=", "<=", ">=", "=>", "->", "&&", "||", "::", ":=", "=~", "..", "?.", "!~"];

pub(super) fn lex(text: &str, language: Language) -> Lexed<'_> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        language,
        at: 0,
        line: 1,
        line_start: 0,
        is_first: true,
        vain: 0,
        lexed: Lexed::default(),
    };
    while lexer.at < lexer.bytes.len() {
        lexer.step();
    }
    let mut lexed = lexer.lexed;
    lexed.closes = closes(&lexed.tokens);
    lexed
}

fn closes(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut closes = vec![0; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.lexeme != Lexeme::Mark {
            continue;
        }
        let opener = match token.text {
            "(" | "[" | "{" => {
                open.push(at);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        // A stray closing bracket closes nothing; one that skips an open one closes that, too. Looking a few levels up
        // is enough, and keeps this linear.
        let depth = open.iter().rev().take(4).position(|&was| tokens[was].text == opener);
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

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    language: Language,
    at: usize,
    line: usize,
    line_start: usize,
    is_first: bool,
    vain: usize,
    lexed: Lexed<'a>,
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest_starts(&self, with: &str) -> bool {
        self.bytes[self.at..].starts_with(with.as_bytes())
    }

    fn step(&mut self) {
        use Language::*;
        let byte = self.peek(0);
        let hash = matches!(self.language, Python | Ruby) || self.language == Shell && !self.after_word();
        let slashes = matches!(self.language, Rust | JavaScript | Go | Jvm | CSharp);
        match byte {
            b'\n' => self.newline(),
            byte if byte.is_ascii_whitespace() => self.at += 1,
            b'#' if hash => self.comment(|lexer| lexer.to_line_end()),
            b'#' if self.language == CSharp && self.is_first => {
                let end = self.line_end();
                self.push(Lexeme::Directive, end);
            }
            b'/' if slashes && self.peek(1) == b'/' => self.comment(|lexer| lexer.to_line_end()),
            b'/' if slashes && self.peek(1) == b'*' => self.comment(Self::to_comment_end),
            b'=' if self.language == Ruby && self.is_first && self.rest_starts("=begin") => {
                self.comment(|lexer| lexer.to_text("\n=end"));
            }
            b'"' | b'\'' | b'`' => self.quoted(0),
            b'/' if matches!(self.language, JavaScript | Ruby) && self.vain < MOST_VAIN && self.is_regex() => {
                self.regex();
            }
            b'<' if matches!(self.language, Ruby | Shell) && self.vain < MOST_VAIN && self.rest_starts("<<") => {
                self.heredoc();
            }
            byte if byte.is_ascii_digit() => self.number(),
            byte if is_word(byte) || matches!(self.language, Shell) && byte == b'$' => self.word(),
            _ => self.mark(),
        }
    }

    /// In a shell `a#b` is one word.
    fn after_word(&self) -> bool {
        self.at > 0 && !self.bytes[self.at - 1].is_ascii_whitespace() && !b";(&|".contains(&self.bytes[self.at - 1])
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
        self.is_first = true;
    }

    fn line_end(&self) -> usize {
        memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |found| self.at + found)
    }

    fn push(&mut self, lexeme: Lexeme, end: usize) {
        let end = end.clamp(self.at + 1, self.bytes.len());
        let Some(text) = self.text.get(self.at..end) else {
            // Within a character of several bytes: only a mark can be that, and marks are ASCII.
            self.at += 1;
            return;
        };
        let (line, column) = (self.line, self.at - self.line_start);
        self.lexed.tokens.push(Token { lexeme, text, line, column, is_first: self.is_first });
        self.is_first = false;
        self.pass(end);
    }

    /// Goes on to `end`, and counts the lines up to there.
    fn pass(&mut self, end: usize) {
        for at in self.at..end {
            if self.bytes[at] == b'\n' {
                self.line += 1;
                self.line_start = at + 1;
            }
        }
        self.at = end;
    }

    fn comment(&mut self, end: impl Fn(&Self) -> usize) {
        let end = end(self).clamp(self.at + 1, self.bytes.len());
        let text = self.text.get(self.at..end).unwrap_or_default();
        self.lexed.comments.push(Comment { text, line: self.line });
        self.pass(end);
    }

    fn to_line_end(&self) -> usize {
        self.line_end()
    }

    fn to_text(&self, end: &str) -> usize {
        let found = self.text.get(self.at..).and_then(|rest| rest.find(end));
        found.map_or(self.bytes.len(), |found| self.at + found + end.len())
    }

    /// In Rust comments nest.
    fn to_comment_end(&self) -> usize {
        let (mut at, mut depth) = (self.at + 2, 1);
        while at < self.bytes.len() {
            match (self.bytes[at], self.bytes.get(at + 1)) {
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return at;
                    }
                }
                (b'/', Some(b'*')) if self.language == Language::Rust => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        at
    }

    /// A string whose quote stands `prefix` bytes further on.
    fn quoted(&mut self, prefix: usize) {
        use Language::*;
        let quote = self.peek(prefix);
        let start = self.at + prefix;
        let triple = self.bytes[start..].starts_with(&[quote; 3]);
        let before = &self.bytes[self.at..start];
        if triple && matches!(self.language, Python | Jvm | CSharp) && quote != b'`' {
            let end = self.closing(start + 3, &[quote; 3]);
            return self.push(Lexeme::Text, end);
        }
        match (self.language, quote) {
            (Rust, b'\'') if prefix == 0 && !self.is_character() => return self.word(),
            (Jvm, b'`') => {
                let end = self.closing(start + 1, b"`");
                return self.push(Lexeme::Word, end);
            }
            (JavaScript, b'`') => {
                let end = self.template_end(start);
                return self.push(Lexeme::Text, end);
            }
            (Go, b'`') | (Shell, b'\'') => {
                let end = memchr(quote, &self.bytes[start + 1..]).map_or(self.bytes.len(), |found| start + found + 2);
                return self.push(Lexeme::Text, end);
            }
            (CSharp, b'"') if before.contains(&b'@') => {
                let end = memchr(quote, &self.bytes[start + 1..]).map_or(self.bytes.len(), |found| start + found + 2);
                return self.push(Lexeme::Text, end);
            }
            _ => {}
        }
        let is_long = matches!(self.language, Rust | Ruby | Shell);
        let mut at = start + 1;
        while at < self.bytes.len() {
            match self.bytes[at] {
                b'\\' => at += 2,
                b'\n' if !is_long => break,
                byte if byte == quote => {
                    at += 1;
                    break;
                }
                _ => at += 1,
            }
        }
        self.push(Lexeme::Text, at);
    }

    /// Past the closing quotes, from `at` on; an escaped one is none.
    fn closing(&self, mut at: usize, quotes: &[u8]) -> usize {
        while at < self.bytes.len() {
            if self.bytes[at] == b'\\' {
                at += 2;
            } else if self.bytes[at..].starts_with(quotes) {
                return at + quotes.len();
            } else {
                at += 1;
            }
        }
        at
    }

    /// A character of Rust, and no lifetime.
    fn is_character(&self) -> bool {
        if self.peek(1) == b'\\' {
            return true;
        }
        let end = self.text.get(self.at + 1..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        self.peek(1 + end) == b'\''
    }

    /// The end of a template, with the templates in it.
    fn template_end(&self, start: usize) -> usize {
        // `None` within a template, the depth of braces within `${…}`.
        let mut within: Vec<Option<usize>> = vec![None];
        let mut at = start + 1;
        while at < self.bytes.len() {
            let byte = self.bytes[at];
            match within.last_mut() {
                None => break,
                Some(None) => match byte {
                    b'\\' => at += 1,
                    b'`' => drop(within.pop()),
                    b'$' if self.bytes.get(at + 1) == Some(&b'{') => {
                        within.push(Some(0));
                        at += 1;
                    }
                    _ => {}
                },
                Some(Some(depth)) => match byte {
                    b'`' => within.push(None),
                    b'{' => *depth += 1,
                    b'}' if *depth == 0 => drop(within.pop()),
                    b'}' => *depth -= 1,
                    _ => {}
                },
            }
            at += 1;
        }
        at
    }

    /// What follows a value is a division.
    fn is_regex(&self) -> bool {
        self.lexed.tokens.last().is_none_or(|last| match last.lexeme {
            Lexeme::Word => matches!(last.text, "return" | "typeof" | "in" | "of" | "if" | "unless" | "when" | "match"),
            Lexeme::Mark => !matches!(last.text, ")" | "]" | "}"),
            _ => false,
        })
    }

    fn regex(&mut self) {
        // A bound, for files that are one line.
        let end = self.bytes.len().min(self.at + LONGEST_REGEX);
        let (mut at, mut class) = (self.at + 1, false);
        while at < end {
            match self.bytes[at] {
                b'\n' => break,
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    at += 1;
                    while at < end && self.bytes[at].is_ascii_alphabetic() {
                        at += 1;
                    }
                    return self.push(Lexeme::Text, at);
                }
                _ => {}
            }
            at += 1;
        }
        self.vain += 1;
        self.mark();
    }

    /// The whole of it is one string, which begins at its mark: what else stands in that line is lost.
    fn heredoc(&mut self) {
        let mut at = self.at + 2;
        while matches!(self.bytes.get(at), Some(b'-' | b'~' | b'"' | b'\'')) {
            at += 1;
        }
        let start = at;
        while self.bytes.get(at).is_some_and(|&byte| byte.is_ascii_uppercase() || byte == b'_') {
            at += 1;
        }
        let Some(name) = self.text.get(start..at).filter(|name| !name.is_empty()) else {
            return self.mark();
        };
        let last = self.bytes.len().min(self.at + LONGEST_HEREDOC);
        let mut line = memchr(b'\n', &self.bytes[self.at..last]).map_or(last, |found| self.at + found);
        while line < last {
            let next = memchr(b'\n', &self.bytes[line + 1..last]).map_or(last, |found| line + 1 + found);
            if self.text.get(line + 1..next).is_some_and(|text| text.trim() == name) {
                return self.push(Lexeme::Text, next);
            }
            line = next;
        }
        self.vain += 1;
        self.mark();
    }

    fn number(&mut self) {
        let mut at = self.at;
        while let Some(&byte) = self.bytes.get(at) {
            let next = self.bytes.get(at + 1).copied().unwrap_or(0);
            let is_part = match byte {
                b'.' => next.is_ascii_digit(),
                b'+' | b'-' => {
                    matches!(self.bytes[at - 1], b'e' | b'E') && next.is_ascii_digit() && self.peek(1) != b'x'
                }
                _ => byte.is_ascii_alphanumeric() || byte == b'_',
            };
            if !is_part {
                break;
            }
            at += 1;
        }
        self.push(Lexeme::Number, at);
    }

    fn word(&mut self) {
        let in_word = |byte: u8| {
            is_word(byte)
                || self.language == Language::Shell && b"$-./:+,%@".contains(&byte)
                || self.language == Language::Ruby && b"?!".contains(&byte)
        };
        let mut at = self.at + 1;
        while at < self.bytes.len() && in_word(self.bytes[at]) {
            at += 1;
        }
        if self.language == Language::Ruby && self.bytes.get(at) == Some(&b'=') {
            // `a != b` without a blank before it.
            while at > self.at + 1 && b"?!".contains(&self.bytes[at - 1]) {
                at -= 1;
            }
        }
        let length = at - self.at;
        if length <= 3 && matches!(self.bytes.get(at), Some(b'"' | b'\'')) && self.is_prefix(&self.bytes[self.at..at]) {
            return self.quoted(length);
        }
        if self.language == Language::Rust
            && length <= 2
            && self.is_prefix(&self.bytes[self.at..at])
            && let Some(end) = self.raw_end(at)
        {
            return self.push(Lexeme::Text, end);
        }
        self.push(Lexeme::Word, at);
    }

    fn is_prefix(&self, word: &[u8]) -> bool {
        match self.language {
            Language::Rust => matches!(word, b"b" | b"r" | b"br" | b"c" | b"cr"),
            Language::Python => word.iter().all(|letter| b"rRbBfFuUtT".contains(letter)),
            _ => false,
        }
    }

    /// The end of `r#"…"#`, where the `#` stand at `at`.
    fn raw_end(&self, at: usize) -> Option<usize> {
        let hashes = self.bytes[at..].iter().take_while(|&&byte| byte == b'#').count();
        if hashes == 0 || self.bytes.get(at + hashes) != Some(&b'"') {
            return None;
        }
        let end = format!("\"{}", "#".repeat(hashes.min(255)));
        let rest = self.text.get(at + hashes + 1..)?;
        Some(rest.find(&end).map_or(self.bytes.len(), |found| at + hashes + 1 + found + end.len()))
    }

    fn mark(&mut self) {
        if self.language == Language::CSharp {
            let prefix = self.bytes[self.at..].iter().take(2).take_while(|&&byte| b"@$".contains(&byte)).count();
            if prefix > 0 && self.peek(prefix) == b'"' {
                return self.quoted(prefix);
            }
        }
        let operator = OPERATORS.iter().find(|operator| self.rest_starts(operator));
        let length = operator.map_or(1, |operator| operator.len());
        self.push(Lexeme::Mark, self.at + length);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn memchr(byte: u8, bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&found| found == byte)
}
