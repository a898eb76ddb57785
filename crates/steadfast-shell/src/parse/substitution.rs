//! Expansions after `$` and backticks: commands, parameters, arithmetic.

use super::cursor::{Inside, Parser, is_name_byte};
use super::origin::Derived;
use super::quote::Quotes;
use super::word::Buffer;
use super::{Read, Stop};
use crate::tree::{Change, List, Parameter, Part};

impl Parser<'_> {
    /// Reads an expansion at `$` or a backtick. A `$` that begins none is a plain character.
    pub(super) fn expansion(&mut self, quotes: Quotes, parts: &mut Buffer) -> Read<()> {
        if self.raw() == Some(b'`') {
            self.at += 1;
            parts.push(self.backticks(quotes)?);
            return Ok(());
        }
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.second() == Some(b'(') => {
                self.at += 1;
                parts.push(self.double_parenthesis()?);
            }
            Some(b'(') => {
                self.at += 1;
                parts.push(Part::Command(self.substitution()?));
            }
            Some(b'{') => {
                self.at += 1;
                let parameter = self.deeper(|parser| parser.parameter(quotes))?;
                parts.push(Part::Parameter(Box::new(parameter)));
            }
            Some(b'[') => {
                self.at += 1;
                let inner = self.deeper(|parser| parser.bracketed())?;
                parts.push(Part::Arithmetic(inner));
            }
            Some(b'\'') if quotes == Quotes::None => {
                self.at += 1;
                let text = self.ansi_c()?;
                parts.push(Part::Quoted(text));
            }
            Some(b'"') if quotes == Quotes::None => {
                self.at += 1;
                let inner = self.double()?;
                parts.push(Part::Double(inner));
            }
            Some(byte) if is_name_byte(byte) || b"@*#?-$!".contains(&byte) => {
                let name = self.name();
                parts.push(Part::Parameter(Box::new(Parameter { name, index: None, change: Change::Nothing })));
            }
            _ if quotes == Quotes::None => parts.text("$"),
            _ => parts.quoted("$"),
        }
        Ok(())
    }

    /// Reads a name, one digit, or a special parameter.
    fn name(&mut self) -> String {
        let rest = &self.text[self.at..];
        let first = rest.as_bytes()[0];
        let end = if first.is_ascii_digit() || !is_name_byte(first) {
            1
        } else {
            rest.bytes().position(|b| !is_name_byte(b)).unwrap_or(rest.len())
        };
        self.at += end;
        rest[..end].to_owned()
    }

    /// Reads commands after `$(`, `<(` or `>(`, up to `)`.
    pub(super) fn substitution(&mut self) -> Read<List> {
        self.deeper(|parser| {
            // A newline inside does not begin the bodies of heredocs from the outer line.
            let outer = std::mem::take(&mut parser.pending);
            let inside = std::mem::replace(&mut parser.inside, Inside::Substitution);
            let list = parser.list()?;
            parser.expect(")")?;
            parser.inside = inside;
            // A heredoc opened inside without a newline after it stays pending with the outer ones.
            let inner = std::mem::replace(&mut parser.pending, outer);
            parser.pending.extend(inner);
            Ok(list)
        })
    }

    /// After `$((`: arithmetic, or a subshell in a substitution. Like bash it finds the closing parenthesis first and
    /// decides afterwards.
    fn double_parenthesis(&mut self) -> Read<Part> {
        let start = self.at;
        let inner = self.deeper(|parser| parser.balanced(b'(', b')'))?;
        let body = &self.text[start..self.at - 1];
        if is_wrapped(body) {
            return Ok(Part::Arithmetic(inner));
        }
        let end = self.at;
        self.at = start;
        match self.substitution() {
            Ok(list) if self.at == end => return Ok(Part::Command(list)),
            Err(Stop::TooDeep) => return Err(Stop::TooDeep),
            _ => {}
        }
        self.at = end;
        Ok(Part::Unread)
    }

    /// Reads backticks. Bash parses their contents only when it runs them.
    fn backticks(&mut self, quotes: Quotes) -> Read<Part> {
        let bytes = self.text.as_bytes();
        let mut body = Derived::new(&self.origin);
        let mut from = self.at;
        let mut at = self.at;
        loop {
            match bytes.get(at).ok_or(Stop::Syntax)? {
                b'`' => break,
                b'\\' => {
                    let next = *bytes.get(at + 1).ok_or(Stop::Syntax)?;
                    if matches!(next, b'`' | b'\\' | b'$') || (next == b'"' && quotes == Quotes::Double) {
                        body.push(&self.text[from..at], from);
                        from = at + 1;
                    }
                    at += 2;
                }
                _ => at += 1,
            }
        }
        body.push(&self.text[from..at], from);
        let part = self.deeper(|parser| {
            let mut inner = parser.within(&body.text, body.origin.clone());
            match inner.program() {
                (list, None) => Ok(Part::Command(list)),
                (_, Some(Stop::TooDeep)) => Err(Stop::TooDeep),
                (_, Some(Stop::Syntax)) => Ok(Part::Unread),
            }
        })?;
        self.at = at + 1;
        Ok(part)
    }

    /// After `((`: reads the expression if `))` closes it. Otherwise the cursor stays.
    pub(super) fn arithmetic(&mut self) -> Read<Option<Vec<Part>>> {
        let start = self.at;
        if self.not_arithmetic.contains(&start) {
            return Ok(None);
        }
        let parts = self.deeper(|parser| parser.balanced(b'(', b')'))?;
        if self.raw() == Some(b')') {
            self.at += 1;
            return Ok(Some(parts));
        }
        self.at = start;
        self.not_arithmetic.insert(start);
        Ok(None)
    }
}

/// Reports whether the last parenthesis closes the first.
fn is_wrapped(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return false };
    let mut open = 0usize;
    for byte in inner.bytes() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return false,
            b')' => open -= 1,
            _ => {}
        }
    }
    true
}
