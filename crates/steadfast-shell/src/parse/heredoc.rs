//! Heredocs: the operator first, the body after the line.

use std::cell::OnceCell;
use std::rc::Rc;

use super::cursor::{Inside, Parser};
use super::origin::Derived;
use super::quote::Quotes;
use super::word::Place;
use super::{Read, Stop};
use crate::tree::{Heredoc, Part};

/// A heredoc whose body was not read yet.
pub(super) struct Pending {
    heredoc: Rc<Heredoc>,
    delimiter: String,
    tabs: Tabs,
    expands: Expands,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tabs {
    Kept,
    /// The operator `<<-`.
    Cut,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expands {
    Yes,
    /// The delimiter is quoted.
    No,
}

impl Parser<'_> {
    /// Reads the delimiter after `<<` or `<<-`.
    pub(super) fn heredoc(&mut self, tabs: Tabs) -> Read<Rc<Heredoc>> {
        self.skip_blanks();
        let start = self.at;
        let word = self.expect_word(Place::Argument)?;
        let raw = &self.text[start..self.at];
        let (delimiter, expands) = unquoted(raw);
        let heredoc = Rc::new(Heredoc { span: word.span, body: OnceCell::new() });
        self.pending.push(Pending { heredoc: Rc::clone(&heredoc), delimiter, tabs, expands });
        Ok(heredoc)
    }

    /// Reads bodies after a newline. A body without its delimiter extends to the end of the text: bash warns and
    /// accepts it.
    pub(super) fn heredoc_bodies(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.body(&pending)?;
            // The cell is new, so this cannot fail.
            let _ = pending.heredoc.body.set(body);
        }
        Ok(())
    }

    fn body(&mut self, pending: &Pending) -> Read<Vec<Part>> {
        let mut body = Derived::new(&self.origin);
        let mut continued = false;
        let mut next = self.at;
        while next < self.text.len() {
            let start = next;
            let rest = &self.text[start..];
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            let cut = if pending.tabs == Tabs::Cut { line.len() - line.trim_start_matches('\t').len() } else { 0 };
            let content = line[cut..].strip_suffix('\n').unwrap_or(&line[cut..]);
            next = start + line.len();
            if !continued {
                if content == pending.delimiter {
                    break;
                }
                // In `$(cat <<E … E)` the closing parenthesis may be on the line of the delimiter.
                if self.inside == Inside::Substitution
                    && content.strip_prefix(pending.delimiter.as_str()).is_some_and(|rest| rest.contains(')'))
                {
                    next = start + cut + pending.delimiter.len();
                    break;
                }
            }
            continued = pending.expands == Expands::Yes
                && line.ends_with('\n')
                && content.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
            body.push(&line[cut..], start + cut);
        }
        if pending.expands == Expands::No {
            self.at = next;
            return Ok(vec![Part::Quoted(body.text)]);
        }
        let mut inner = self.within(&body.text, body.origin.clone());
        let parts = match inner.double_text(Quotes::Heredoc) {
            Err(Stop::TooDeep) => return Err(Stop::TooDeep),
            // Bash reports the error only when it runs the heredoc.
            Err(Stop::Syntax) => vec![Part::Unread],
            Ok(parts) => parts,
        };
        self.at = next;
        Ok(parts)
    }
}

/// Removes the quotes of a delimiter. It is never expanded.
fn unquoted(raw: &str) -> (String, Expands) {
    let mut out = String::new();
    let mut quote = None;
    let mut expands = Expands::Yes;
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'' | '"', None) => {
                expands = Expands::No;
                quote = Some(c);
            }
            (c, Some(open)) if c == open => quote = None,
            ('\\', None) => {
                expands = Expands::No;
                out.extend(chars.next().filter(|c| *c != '\n'));
            }
            ('\\', Some('"')) if chars.peek().is_some_and(|c| "\"\\$`".contains(*c)) => out.extend(chars.next()),
            ('$', None) if matches!(chars.peek(), Some('\'' | '"')) => {}
            (c, _) => out.push(c),
        }
    }
    (out, expands)
}
