//! Redirections.

use super::cursor::{Parser, is_identifier, is_name_byte};
use super::heredoc::Tabs;
use super::word::Place;
use super::{Read, Stop};
use crate::tree::{Redirect, Word};

impl Parser<'_> {
    /// Reads a redirection. `None`: there is none here.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        self.skip_blanks();
        let start = self.at;
        self.descriptor();
        let operator = self.peek().filter(|byte| matches!(byte, b'<' | b'>' | b'&'));
        let is_process = operator != Some(b'&') && self.second() == Some(b'(');
        if operator.is_none() || is_process {
            self.at = start;
            return Ok(None);
        }
        Ok(Some(if self.eat("<<<") {
            Redirect::HereString(self.target()?)
        } else if self.eat("<<-") {
            Redirect::Heredoc(self.heredoc(Tabs::Cut)?)
        } else if self.eat("<<") {
            Redirect::Heredoc(self.heredoc(Tabs::Kept)?)
        } else if self.eat("<>") {
            Redirect::Write(self.target()?)
        } else if self.eat("<&") {
            Redirect::Read(self.expect_word(Place::Argument)?)
        } else if self.eat(">&") {
            Redirect::Duplicate(self.expect_word(Place::Argument)?)
        } else if self.eat("<") {
            Redirect::Read(self.target()?)
        } else if self.eat(">>") || self.eat(">|") || self.eat(">") || self.eat("&>>") || self.eat("&>") {
            Redirect::Write(self.target()?)
        } else {
            self.at = start;
            return Ok(None);
        }))
    }

    pub(super) fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(redirects)
    }

    /// Skips `2` of `2>` and `{fd}` of `{fd}>`. Otherwise the cursor stays.
    fn descriptor(&mut self) {
        let Some(first) = self.peek().filter(|b| b.is_ascii_digit() || *b == b'{') else { return };
        let start = self.at;
        let rest = &self.text[start..];
        let end = if first == b'{' {
            let name = rest[1..].bytes().position(|b| !is_name_byte(b)).unwrap_or(rest.len() - 1);
            (is_identifier(&rest[1..1 + name]) && rest[1 + name..].starts_with('}')).then_some(name + 2)
        } else {
            rest.bytes().position(|b| !b.is_ascii_digit())
        };
        self.at += end.unwrap_or(0);
        if end.is_none() || !matches!(self.peek(), Some(b'<' | b'>')) {
            self.at = start;
        }
    }

    /// Reads the file. A `2` before another operator is not a file name.
    fn target(&mut self) -> Read<Word> {
        self.skip_blanks();
        let start = self.at;
        self.descriptor();
        if self.at > start && self.second() != Some(b'(') {
            return Err(Stop::Syntax);
        }
        self.at = start;
        self.expect_word(Place::Argument)
    }
}
