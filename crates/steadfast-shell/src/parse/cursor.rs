//! The position in the text, and the skipping of blanks, comments and newlines.

use std::collections::HashSet;
use std::ops::Range;

use super::heredoc::Pending;
use super::origin::Origin;
use super::{MAX_DEPTH, Read, Stop};

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) origin: Origin,
    pub(super) depth: usize,
    /// Heredocs whose bodies come after the next newline.
    pub(super) pending: Vec<Pending>,
    pub(super) inside: Inside,
    /// An earlier line turned on `shopt -s extglob`.
    pub(super) extended: Extended,
    /// Positions where `((` turned out to be two parentheses. Without this memory nested ones would be read twice per
    /// level.
    pub(super) not_arithmetic: HashSet<usize>,
}

/// Decides whether a closing parenthesis ends the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Script,
    Substitution,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extended {
    Off,
    On,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            origin: Origin::default(),
            depth: 0,
            pending: Vec::new(),
            inside: Inside::Script,
            extended: Extended::Off,
            not_arithmetic: HashSet::new(),
        }
    }

    /// Creates a parser for text that was taken out of this one's text.
    pub(super) fn within<'b>(&self, text: &'b str, origin: Origin) -> Parser<'b> {
        Parser { origin, depth: self.depth, extended: self.extended, ..Parser::new(text) }
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Stop::TooDeep);
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Returns the range of the command line for the text from `start` to here.
    pub(super) fn span(&self, start: usize) -> Range<usize> {
        self.origin.place(start)..self.origin.place(self.at.max(start + 1) - 1) + usize::from(self.at > start)
    }

    /// Returns the next byte. A backslash before a newline is skipped.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes[self.at..].starts_with(b"\\\n") {
            self.at += 2;
        }
        bytes.get(self.at).copied()
    }

    /// Returns the byte after the next one.
    pub(super) fn second(&self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        while bytes.get(at..).is_some_and(|rest| rest.starts_with(b"\\\n")) {
            at += 2;
        }
        bytes.get(at).copied()
    }

    /// Returns the next byte without skipping anything.
    pub(super) fn raw(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let before = self.at;
        for byte in wanted.bytes() {
            if self.peek() != Some(byte) {
                self.at = before;
                return false;
            }
            self.at += 1;
        }
        true
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Read<()> {
        if self.eat(wanted) { Ok(()) } else { Err(Stop::Syntax) }
    }

    /// Skips blanks, and a comment up to the end of its line.
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.raw() == Some(b'#') {
            self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end);
        }
    }

    /// Reads a newline, and the bodies of pending heredocs.
    pub(super) fn newline(&mut self) -> Read<bool> {
        if self.peek() != Some(b'\n') {
            return Ok(false);
        }
        self.at += 1;
        self.heredoc_bodies()?;
        Ok(true)
    }

    pub(super) fn skip_newlines(&mut self) -> Read<()> {
        self.skip_blanks();
        while self.newline()? {
            self.skip_blanks();
        }
        Ok(())
    }

    /// Returns the word at the cursor if no part of it is quoted or expanded.
    pub(super) fn bare(&mut self) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest.find(ENDS).unwrap_or(rest.len());
        let mut behind = &rest[end..];
        while let Some(next) = behind.strip_prefix("\\\n") {
            behind = next;
        }
        let goes_on = behind.starts_with(['\'', '"', '`', '$', '\\'])
            || (behind.len() < rest.len() - end && !behind.starts_with(ENDS));
        if goes_on && !behind.is_empty() { "" } else { &rest[..end] }
    }

    pub(super) fn eat_keyword(&mut self, keyword: &str) -> bool {
        let found = self.bare() == keyword;
        if found {
            self.at += keyword.len();
        }
        found
    }

    pub(super) fn expect_keyword(&mut self, keyword: &str) -> Read<()> {
        if self.eat_keyword(keyword) { Ok(()) } else { Err(Stop::Syntax) }
    }
}

/// Characters that end a bare word.
const ENDS: [char; 15] = [' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>', '\'', '"', '`', '$', '\\'];

pub(super) fn is_identifier(text: &str) -> bool {
    text.bytes().all(is_name_byte) && !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty()
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
