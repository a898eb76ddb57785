use std::ops::Range;

use super::{Kind, Member, Node};
use crate::install::error::SettingsError;
use crate::install::position::line_and_column;

pub(super) const BOM: char = '\u{feff}';

/// Below `serde_json`'s 128, so that whoever reads the result with it can.
const MAX_DEPTH: usize = 100;

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

pub(super) fn parse(text: &str) -> Result<Node, SettingsError> {
    let at = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let mut parser = Parser { text, at };
    parser.skip_space();
    let root = parser.value(0)?;
    parser.skip_space();
    match parser.peek() {
        None => Ok(root),
        Some(_) => Err(parser.unexpected("the end of the file")),
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn error(&self, at: usize, problem: impl Into<String>) -> SettingsError {
        let (line, column) = line_and_column(self.text, at);
        SettingsError::Syntax { line, column, problem: problem.into() }
    }

    fn unexpected(&self, expected: &str) -> SettingsError {
        let found = self.text[self.at..].chars().next();
        let problem = match found {
            None => format!("the file ends, expected {expected}"),
            Some('/') => format!("comments are not JSON, expected {expected}"),
            Some(found) => format!("unexpected `{}`, expected {expected}", found.escape_default()),
        };
        self.error(self.at, problem)
    }

    fn value(&mut self, depth: usize) -> Result<Node, SettingsError> {
        if depth > MAX_DEPTH {
            return Err(self.error(self.at, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Kind::Bool)?,
            Some(b'f') => self.word("false", Kind::Bool)?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, SettingsError> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            self.skip_space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.at += 1;
            self.skip_space();
            let value = self.value(depth + 1)?;
            members.push(Member { start, key, value });
            if self.closes(b'}', "`,` or `}`")? {
                return Ok(Kind::Object(members));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, SettingsError> {
        self.at += 1;
        let mut elements = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(elements));
        }
        loop {
            self.skip_space();
            elements.push(self.value(depth + 1)?);
            if self.closes(b']', "`,` or `]`")? {
                return Ok(Kind::Array(elements));
            }
        }
    }

    /// After a member or an element: the closing bracket, or a comma and more.
    fn closes(&mut self, bracket: u8, expected: &str) -> Result<bool, SettingsError> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(found) if found == bracket => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, SettingsError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn string(&mut self) -> Result<String, SettingsError> {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.text.as_bytes()[start + 1..].iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at = start + offset + 2;
                    return self.scalar(start..self.at, "string");
                }
                b'\n' => break,
                _ => {}
            }
        }
        Err(self.error(start, "a string without its closing quote"))
    }

    fn number(&mut self) -> Result<Kind, SettingsError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(Kind::Number(self.scalar(start..self.at, "number")?))
    }

    /// Escapes, control characters and the spelling of numbers are judged by `serde_json`.
    fn scalar<T: serde::de::DeserializeOwned>(
        &self,
        span: Range<usize>,
        what: &'static str,
    ) -> Result<T, SettingsError> {
        serde_json::from_str(&self.text[span.clone()]).map_err(|_| self.error(span.start, format!("invalid {what}")))
    }
}
