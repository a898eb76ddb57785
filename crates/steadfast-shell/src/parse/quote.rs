//! All kinds of quotes.

use std::iter::Peekable;
use std::str::Chars;

use super::cursor::Parser;
use super::word::Buffer;
use super::{Read, Stop};
use crate::text::ANY;
use crate::tree::Part;

/// The kind of quotes around a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Double,
    /// In an expanded heredoc: as in double quotes, but `"` is a plain character.
    Heredoc,
}

impl Parser<'_> {
    /// Reads up to the next `'`.
    pub(super) fn single(&mut self) -> Read<String> {
        let rest = &self.text[self.at..];
        let end = rest.find('\'').ok_or(Stop::Syntax)?;
        self.at += end + 1;
        Ok(rest[..end].to_owned())
    }

    /// Reads up to the closing `"`.
    pub(super) fn double(&mut self) -> Read<Vec<Part>> {
        let parts = self.double_text(Quotes::Double)?;
        if self.raw() == Some(b'"') {
            self.at += 1;
            Ok(parts)
        } else {
            Err(Stop::Syntax)
        }
    }

    /// Reads the contents of double quotes; stops before `"` or at the end of the text.
    pub(super) fn double_text(&mut self, quotes: Quotes) -> Read<Vec<Part>> {
        let mut parts = Buffer::default();
        while let Some(byte) = self.raw() {
            match byte {
                b'"' if quotes == Quotes::Double => break,
                b'\\' => self.escape_in_double(&mut parts, quotes),
                b'$' | b'`' => self.expansion(quotes, &mut parts)?,
                _ => {
                    let rest = &self.text[self.at..];
                    let special = |byte: u8| matches!(byte, b'"' | b'\\' | b'$' | b'`');
                    let end = rest.bytes().position(special).unwrap_or(rest.len()).max(1);
                    parts.quoted(&rest[..end]);
                    self.at += end;
                }
            }
        }
        Ok(parts.finish())
    }

    pub(super) fn escape_in_double(&mut self, parts: &mut Buffer, quotes: Quotes) {
        self.at += 1;
        match self.raw() {
            Some(b'\n') => self.at += 1,
            Some(b'"') if quotes == Quotes::Heredoc => parts.quoted("\\"),
            Some(byte @ (b'$' | b'`' | b'"' | b'\\')) => {
                parts.quoted(char::from(byte).encode_utf8(&mut [0; 4]));
                self.at += 1;
            }
            _ => parts.quoted("\\"),
        }
    }

    /// Returns the character after an unquoted backslash. At the end of the text it is the backslash.
    pub(super) fn escaped(&mut self) -> &str {
        match self.text[self.at..].chars().next() {
            Some(c) => {
                let start = self.at;
                self.at += c.len_utf8();
                &self.text[start..self.at]
            }
            None => "\\",
        }
    }

    /// Reads the text after `$'`.
    pub(super) fn ansi_c(&mut self) -> Read<String> {
        let rest = &self.text[self.at..];
        let mut chars = rest.char_indices();
        let end = loop {
            match chars.next().ok_or(Stop::Syntax)? {
                (end, '\'') => break end,
                (_, '\\') => {
                    chars.next();
                }
                _ => {}
            }
        };
        self.at += end + 1;
        Ok(ansi_c(&rest[..end]))
    }
}

/// Returns the character after the next backslash. Copies the text before it, and a backslash at the end.
pub(crate) fn next_escape(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<char> {
    out.extend(std::iter::from_fn(|| chars.next_if(|c| *c != '\\')));
    chars.next()?;
    if chars.peek().is_none() {
        out.push('\\');
    }
    chars.next()
}

/// Reads up to `most` further digits of a number.
pub(crate) fn digits(chars: &mut Peekable<Chars<'_>>, radix: u32, first: u32, most: u32) -> u32 {
    let mut code = first;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        code = code.wrapping_mul(radix).wrapping_add(digit);
        chars.next();
    }
    code
}

/// Returns the text of `$'…'`. A NUL byte ends it.
fn ansi_c(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(next) = next_escape(&mut chars, &mut out) {
        let (radix, most) = match next {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            _ => (0, 0),
        };
        if radix == 0 {
            match next {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'a' => out.push('\x07'),
                'b' => out.push('\x08'),
                'e' | 'E' => out.push('\x1b'),
                'f' => out.push('\x0c'),
                'v' => out.push('\x0b'),
                'c' => out.extend(chars.next().map(|c| char::from(c.to_ascii_uppercase() as u8 ^ 0x40))),
                '\\' | '\'' | '"' | '?' => out.push(next),
                other => out.extend(['\\', other]),
            }
            continue;
        }
        let first = if radix == 8 { next.to_digit(8) } else { None };
        let code = digits(&mut chars, radix, first.unwrap_or(0), most - u32::from(radix == 8));
        match char::from_u32(code) {
            Some('\0') => break,
            // Bytes above 127 are parts of a character and have no meaning alone.
            Some(c) if code < 128 || matches!(next, 'u' | 'U') => out.push(c),
            _ => out.push(ANY),
        }
    }
    out
}
