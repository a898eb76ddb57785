//! Words: text, quotes and expansions up to the next blank or operator.

use super::cursor::{Extended, Parser, is_identifier, is_name_byte};
use super::quote::Quotes;
use super::{Read, Stop};
use crate::tree::{Assign, Element, Mode, Part, Value, Word};

/// The place of a word, which decides the meaning of parentheses in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Argument,
    /// The value of an assignment, where `~` is also expanded after `:`.
    Value,
    /// To the right of `==` in `[[`: extended patterns.
    Pattern,
    /// To the right of `=~` in `[[`: parentheses and bars belong to the regex.
    Regex,
}

/// Parts of a word, with adjacent text merged.
#[derive(Debug, Default)]
pub(super) struct Buffer(Vec<Part>);

impl Buffer {
    pub(super) fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Quoted(before)) => before.push_str(text),
            _ => self.0.push(Part::Quoted(text.to_owned())),
        }
    }

    pub(super) fn push(&mut self, part: Part) {
        self.0.push(part);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the last byte if it was not quoted.
    fn last_byte(&self) -> Option<u8> {
        match self.0.last() {
            Some(Part::Text(text)) => text.bytes().last(),
            _ => None,
        }
    }

    /// Removes the `@` or `!` before the parenthesis of an extended pattern.
    fn drop_operator(&mut self) {
        if let Some(Part::Text(text)) = self.0.last_mut() {
            text.pop();
        }
    }

    pub(super) fn finish(self) -> Vec<Part> {
        self.0
    }
}

impl Parser<'_> {
    pub(super) fn word(&mut self, place: Place) -> Read<Option<Word>> {
        self.skip_blanks();
        let start = self.at;
        let mut parts = Buffer::default();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b')' => break,
                b'|' if place == Place::Regex => self.run(&mut parts, 1),
                b'|' => break,
                b'(' if self.opens_pattern(&parts, place) => {
                    self.at += 1;
                    if place != Place::Regex {
                        parts.drop_operator();
                    }
                    let inner = self.deeper(|parser| parser.parenthesized())?;
                    parts.push(Part::Extended(inner));
                }
                b'(' => break,
                b'<' | b'>' if self.second() == Some(b'(') => {
                    self.eat("<");
                    self.eat(">");
                    self.expect("(")?;
                    let body = self.substitution()?;
                    parts.push(Part::Process(body));
                }
                b'<' | b'>' => break,
                b'~' if self.is_tilde(&parts, place) => self.tilde(&mut parts),
                _ => self.piece(&mut parts)?,
            }
        }
        let parts = parts.finish();
        Ok((!parts.is_empty() || self.at > start).then(|| Word { parts, span: self.span(start) }))
    }

    pub(super) fn expect_word(&mut self, place: Place) -> Read<Word> {
        self.word(place)?.ok_or(Stop::Syntax)
    }

    /// Reads quotes, expansions and plain text, which have the same meaning in every place.
    fn piece(&mut self, parts: &mut Buffer) -> Read<()> {
        match self.raw() {
            Some(b'\\') => {
                self.at += 1;
                let text = self.escaped().to_owned();
                parts.quoted(&text);
            }
            Some(b'\'') => {
                self.at += 1;
                let text = self.single()?;
                parts.push(Part::Quoted(text));
            }
            Some(b'"') => {
                self.at += 1;
                let inner = self.double()?;
                parts.push(Part::Double(inner));
            }
            Some(b'$' | b'`') => self.expansion(Quotes::None, parts)?,
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.bytes().position(is_special).unwrap_or(rest.len()).max(1);
                self.run(parts, end);
            }
        }
        Ok(())
    }

    fn run(&mut self, parts: &mut Buffer, length: usize) {
        parts.text(&self.text[self.at..self.at + length]);
        self.at += length;
    }

    fn opens_pattern(&self, parts: &Buffer, place: Place) -> bool {
        let extended = place == Place::Pattern || self.extended == Extended::On;
        place == Place::Regex || (extended && matches!(parts.last_byte(), Some(b'?' | b'*' | b'+' | b'@' | b'!')))
    }

    /// After `(`: reads up to the matching `)`.
    fn parenthesized(&mut self) -> Read<Vec<Part>> {
        let mut parts = Buffer::default();
        let mut open = 1;
        loop {
            match self.peek().ok_or(Stop::Syntax)? {
                b'(' => open += 1,
                b')' if open == 1 => {
                    self.at += 1;
                    return Ok(parts.finish());
                }
                b')' => open -= 1,
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'~' => {}
                _ => {
                    self.piece(&mut parts)?;
                    continue;
                }
            }
            self.run(&mut parts, 1);
        }
    }

    fn is_tilde(&self, parts: &Buffer, place: Place) -> bool {
        parts.is_empty() || (place == Place::Value && parts.last_byte() == Some(b':'))
    }

    fn tilde(&mut self, parts: &mut Buffer) {
        let rest = &self.text[self.at + 1..];
        let end = rest.bytes().position(|b| !(is_name_byte(b) || b"+-.".contains(&b))).unwrap_or(rest.len());
        if rest[end..].starts_with(['\'', '"', '\\', '$', '`']) {
            return self.run(parts, 1);
        }
        self.at += 1 + end;
        parts.push(Part::Tilde(rest[..end].to_owned()));
    }

    /// Reads `name=…`, `name+=…`, `name[…]=…`, each with a word or `(…)` after it.
    pub(super) fn assign(&mut self) -> Read<Option<Assign>> {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.bytes().position(|b| !is_name_byte(b)).unwrap_or(rest.len());
        let name = &rest[..end];
        if !is_identifier(name) {
            return Ok(None);
        }
        self.at += end;
        let mut mode = Mode::Set;
        let mut index = Vec::new();
        if self.raw() == Some(b'[') {
            self.at += 1;
            index = self.deeper(|parser| parser.bracketed())?;
            mode = Mode::Element;
        }
        if self.eat("+=") {
            mode = if mode == Mode::Set { Mode::Append } else { mode };
        } else if !self.eat("=") {
            self.at = start;
            return Ok(None);
        }
        let value = if self.peek() == Some(b'(') {
            self.at += 1;
            Value::Array(self.array()?)
        } else {
            Value::One(self.value()?)
        };
        Ok(Some(Assign { name: name.to_owned(), index, value, mode }))
    }

    /// Reads the word after `=`, which may be empty.
    fn value(&mut self) -> Read<Word> {
        let empty = Word { parts: Vec::new(), span: self.span(self.at) };
        if matches!(self.peek(), Some(b' ' | b'\t' | b'#')) && self.raw() != Some(b'#') {
            return Ok(empty);
        }
        // After `=` a `#` does not begin a comment.
        if self.raw() == Some(b'#') {
            let start = self.at;
            self.at += 1;
            let mut word = self.word_behind(Place::Value)?;
            word.parts.insert(0, Part::Text("#".to_owned()));
            word.span = self.span(start);
            return Ok(word);
        }
        Ok(self.word(Place::Value)?.unwrap_or(empty))
    }

    /// Reads the rest of a word that was partly read: empty if a blank follows.
    fn word_behind(&mut self, place: Place) -> Read<Word> {
        match self.peek() {
            Some(b' ' | b'\t' | b'#') | None => Ok(Word { parts: Vec::new(), span: self.span(self.at) }),
            _ => Ok(self.word(place)?.unwrap_or_default()),
        }
    }

    /// Reads an array after `(`.
    fn array(&mut self) -> Read<Vec<Element>> {
        let mut values = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.eat(")") {
                return Ok(values);
            }
            let start = self.at;
            if self.raw() == Some(b'[') {
                self.at += 1;
                let index = self.deeper(|parser| parser.bracketed())?;
                if self.eat("=") || self.eat("+=") {
                    values.push(Element { index, value: self.value()? });
                    continue;
                }
                self.at = start;
            }
            values.push(Element { index: Vec::new(), value: self.expect_word(Place::Argument)? });
        }
    }

    /// After `[`: reads up to the matching `]`, including blanks.
    pub(super) fn bracketed(&mut self) -> Read<Vec<Part>> {
        self.balanced(b'[', b']')
    }

    /// Reads up to the closing byte, skipping quotes and expansions.
    pub(super) fn balanced(&mut self, opens: u8, closes: u8) -> Read<Vec<Part>> {
        let mut parts = Buffer::default();
        let mut open = 1;
        loop {
            match self.peek().ok_or(Stop::Syntax)? {
                byte if byte == opens => open += 1,
                byte if byte == closes && open == 1 => {
                    self.at += 1;
                    return Ok(parts.finish());
                }
                byte if byte == closes => open -= 1,
                // In arithmetic bash does not search for the matching brace.
                b'$' if opens == b'(' && self.second() == Some(b'{') => {
                    let before = self.at;
                    match self.piece(&mut parts) {
                        Err(Stop::Syntax) => self.at = before,
                        other => {
                            other?;
                            continue;
                        }
                    }
                }
                b'\\' | b'\'' | b'"' | b'$' | b'`' => {
                    self.piece(&mut parts)?;
                    continue;
                }
                _ => {
                    let rest = &self.text[self.at..];
                    let stop = |b: u8| is_special(b) || b == opens || b == closes;
                    let end = rest.bytes().position(stop).unwrap_or(rest.len()).max(1);
                    self.run(&mut parts, end);
                    continue;
                }
            }
            self.run(&mut parts, 1);
        }
    }
}

/// Reports whether a byte ends plain text.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b';'
            | b'&'
            | b'|'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'\''
            | b'"'
            | b'`'
            | b'$'
            | b'\\'
            | b'~'
    )
}
