//! `${…}`.

use super::cursor::{Parser, is_name_byte};
use super::quote::Quotes;
use super::word::Buffer;
use super::{Read, Stop};
use crate::tree::{Case, Change, Index, Parameter, Part, Reach, Where};

impl Parser<'_> {
    /// Reads a parameter after `${`. A substitution that bash refuses only when it runs is still read to its end.
    pub(super) fn parameter(&mut self, quotes: Quotes) -> Read<Parameter> {
        let length = self.peek() == Some(b'#') && !matches!(self.second(), Some(b'}' | b':' | b'%' | b'/' | b'='));
        let indirect = self.peek() == Some(b'!') && self.second() != Some(b'}');
        if length || indirect {
            self.at += 1;
        }
        let name = self.braced_name();
        let index = if self.raw() == Some(b'[') && !name.is_empty() {
            self.at += 1;
            Some(self.index()?)
        } else {
            None
        };
        let change =
            if name.is_empty() || indirect { Change::Other(self.operand(b"", quotes)?) } else { self.change(quotes)? };
        self.expect("}")?;
        let change = match change {
            Change::Nothing if length => Change::Length,
            change if length => Change::Other(inner(change)),
            change => change,
        };
        Ok(Parameter { name, index, change })
    }

    fn braced_name(&mut self) -> String {
        let rest = &self.text[self.at..];
        let Some(first) = self.peek() else { return String::new() };
        let end = if first.is_ascii_digit() {
            rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len())
        } else if is_name_byte(first) {
            rest.bytes().position(|b| !is_name_byte(b)).unwrap_or(rest.len())
        } else {
            // `${$(…}`: a substitution in place of a name.
            usize::from(b"@*#?-!".contains(&first) || (first == b'$' && !matches!(self.second(), Some(b'(' | b'{'))))
        };
        self.at += end;
        rest[..end].to_owned()
    }

    /// Reads an index after `[`. Bash reports an unclosed bracket only when it runs.
    fn index(&mut self) -> Read<Index> {
        let parts = self.operand(b"]", Quotes::None)?;
        self.eat("]");
        Ok(match parts.as_slice() {
            [Part::Text(all)] if all == "@" || all == "*" => Index::All,
            _ => Index::One(parts),
        })
    }

    fn change(&mut self, quotes: Quotes) -> Read<Change> {
        let colon = self.peek() == Some(b':') && matches!(self.second(), Some(b'-' | b'=' | b'?' | b'+'));
        if colon {
            self.at += 1;
        }
        let Some(operator) = self.peek() else { return Err(Stop::Syntax) };
        if operator == b'}' {
            return Ok(Change::Nothing);
        }
        self.at += 1;
        let reach = |parser: &mut Self| {
            if parser.peek() == Some(operator) {
                parser.at += 1;
                Reach::Longest
            } else {
                Reach::Shortest
            }
        };
        Ok(match operator {
            b'-' | b'?' => Change::Default(self.operand(b"", quotes)?),
            b'=' => Change::Assign(self.operand(b"", quotes)?),
            b'+' => Change::Alternative(self.operand(b"", quotes)?),
            b'#' => Change::CutPrefix(reach(self), self.operand(b"", Quotes::None)?),
            b'%' => Change::CutSuffix(reach(self), self.operand(b"", Quotes::None)?),
            b'^' => Change::Case(Case::Upper, reach(self), self.operand(b"", Quotes::None)?),
            b',' => Change::Case(Case::Lower, reach(self), self.operand(b"", Quotes::None)?),
            b'/' => {
                let place = match self.peek() {
                    Some(b'/') => Where::Everywhere,
                    Some(b'#') => Where::Start,
                    Some(b'%') => Where::End,
                    _ => Where::First,
                };
                self.at += usize::from(place != Where::First);
                let pattern = self.operand(b"/", Quotes::None)?;
                let with = if self.eat("/") { self.operand(b"", Quotes::None)? } else { Vec::new() };
                Change::Replace(place, pattern, with)
            }
            b':' => {
                let from = self.operand(b":", quotes)?;
                let length = if self.eat(":") { Some(self.operand(b"", quotes)?) } else { None };
                Change::Slice(from, length)
            }
            _ => {
                self.at -= 1;
                Change::Other(self.operand(b"", quotes)?)
            }
        })
    }

    /// Reads up to `}` or one of `stops`, without consuming it. The first closing brace ends it, even after several
    /// opening ones.
    fn operand(&mut self, stops: &[u8], quotes: Quotes) -> Read<Vec<Part>> {
        let mut parts = Buffer::default();
        loop {
            match self.peek().ok_or(Stop::Syntax)? {
                b'}' => return Ok(parts.finish()),
                byte if stops.contains(&byte) => return Ok(parts.finish()),
                b'\\' if quotes != Quotes::None && self.second() != Some(b'}') => {
                    self.escape_in_double(&mut parts, quotes);
                }
                b'\\' => {
                    self.at += 1;
                    let text = self.escaped().to_owned();
                    parts.quoted(&text);
                }
                b'\'' => {
                    self.at += 1;
                    let text = self.single()?;
                    // In double quotes, single quotes come in pairs and are kept.
                    let text = if quotes == Quotes::None { text } else { format!("'{text}'") };
                    parts.push(Part::Quoted(text));
                }
                b'"' => {
                    self.at += 1;
                    let inner = self.double()?;
                    parts.push(Part::Double(inner));
                }
                b'$' | b'`' => self.expansion(quotes, &mut parts)?,
                byte @ (b'<' | b'>') if self.second() == Some(b'(') => {
                    self.expect(if byte == b'<' { "<(" } else { ">(" })?;
                    let body = self.substitution()?;
                    parts.push(Part::Process(body));
                }
                b'~' if quotes == Quotes::None && parts.is_empty() => {
                    self.at += 1;
                    parts.push(Part::Tilde(String::new()));
                }
                _ => {
                    let rest = &self.text[self.at..];
                    let stop = |b: u8| b"}\\'\"$`<>".contains(&b) || stops.contains(&b);
                    let end = rest.bytes().position(stop).unwrap_or(rest.len()).max(1);
                    let text = &rest[..end];
                    self.at += end;
                    if quotes == Quotes::None {
                        parts.text(text);
                    } else {
                        parts.quoted(text);
                    }
                }
            }
        }
    }
}

/// Returns the parts that are expanded.
fn inner(change: Change) -> Vec<Part> {
    match change {
        Change::Nothing | Change::Length => Vec::new(),
        Change::Default(parts)
        | Change::Assign(parts)
        | Change::Alternative(parts)
        | Change::CutPrefix(_, parts)
        | Change::CutSuffix(_, parts)
        | Change::Case(_, _, parts)
        | Change::Other(parts) => parts,
        Change::Replace(_, a, b) => [a, b].concat(),
        Change::Slice(a, b) => [a, b.unwrap_or_default()].concat(),
    }
}
