//! Expands words to fields: quotes, variables, braces and substitutions, before a command gets them.

mod braces;
mod parameter;

use std::ops::Range;

use crate::effect::Op;
use crate::expand::braces::braces;
use crate::text::{ANY, SPLIT, STAR, mark_globs, settle_brackets};
use crate::tree::{Heredoc, Part, Word};
use crate::walk::Walk;

/// The maximum number of fields from one word. More become unknown.
const MAX_FIELDS: usize = 64;

/// The maximum length of text from one word. Longer text becomes unknown.
const MAX_LENGTH: usize = 1 << 20;

/// An argument as the command gets it.
#[derive(Clone, Debug)]
pub(crate) struct Arg {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    Without,
    Within,
}

impl Walk {
    /// Returns the fields of an argument.
    pub(crate) fn fields(&mut self, word: &Word) -> Vec<Arg> {
        let span = self.span(&word.span);
        if let Some(text) = word.literal().filter(|text| !text.contains(['*', '?', '[', '{'])) {
            return vec![Arg { text: text.to_owned(), span }];
        }
        let Some(words) = braces(&word.parts, MAX_FIELDS) else {
            return self.split(&word.parts, &span);
        };
        let mut args = Vec::new();
        for parts in words {
            args.extend(self.split(&parts, &span));
            if args.len() > MAX_FIELDS {
                args.truncate(MAX_FIELDS);
                args.push(Arg { text: ANY.to_string(), span });
                break;
            }
        }
        args
    }

    fn split(&mut self, parts: &[Part], span: &Range<usize>) -> Vec<Arg> {
        let mut whole = String::new();
        self.parts(parts, Quotes::Without, span, &mut whole);
        settle_brackets(&mut whole);
        if whole.is_empty() {
            // An empty expansion is not an argument, but `''` is.
            let quoted = parts.iter().any(|part| matches!(part, Part::Quoted(_) | Part::Double(_)));
            return if quoted { vec![Arg { text: whole, span: span.clone() }] } else { Vec::new() };
        }
        let fields = whole.split(SPLIT).filter(|field| !field.is_empty());
        fields.map(|field| Arg { text: field.to_owned(), span: span.clone() }).collect()
    }

    /// Returns the value of an assignment, or of a word in `[[` or `case`: not split, without patterns.
    pub(crate) fn value(&mut self, word: &Word) -> String {
        let mut out = String::new();
        let span = self.span(&word.span);
        self.parts(&word.parts, Quotes::Within, &span, &mut out);
        out.replace(SPLIT, " ")
    }

    /// Returns the text of a pattern after `#`, `%` or `/`.
    pub(crate) fn pattern(&mut self, parts: &[Part], span: &Range<usize>) -> String {
        let mut out = String::new();
        self.parts(parts, Quotes::Without, span, &mut out);
        settle_brackets(&mut out);
        out.replace(SPLIT, " ")
    }

    pub(crate) fn text_of(&mut self, parts: &[Part], span: &Range<usize>) -> String {
        let mut out = String::new();
        self.parts(parts, Quotes::Within, span, &mut out);
        out
    }

    /// Returns the expanded body of a heredoc.
    pub(crate) fn heredoc(&mut self, heredoc: &Heredoc) -> String {
        let span = self.span(&heredoc.span);
        heredoc.body.get().map(|body| self.text_of(body, &span)).unwrap_or_default()
    }

    pub(crate) fn parts(&mut self, parts: &[Part], quotes: Quotes, span: &Range<usize>, out: &mut String) {
        for part in parts {
            if out.len() > MAX_LENGTH {
                out.clear();
                out.push(ANY);
            }
            match part {
                Part::Text(text) => match quotes {
                    Quotes::Without => mark_globs(text, out),
                    Quotes::Within => out.push_str(text),
                },
                Part::Quoted(text) => out.push_str(text),
                Part::Double(inner) => self.parts(inner, Quotes::Within, span, out),
                Part::Tilde(name) => match name.as_str() {
                    "" => out.push_str(&self.context.home),
                    "+" => out.push_str(&self.state.cwd),
                    _ => out.push(ANY),
                },
                Part::Parameter(parameter) => self.parameter(parameter, quotes, span, out),
                Part::Command(list) => {
                    let output = self.output_of(list);
                    push_value(&output, quotes, out);
                }
                Part::Unread => {
                    self.push(Op::Exec, &ANY.to_string(), "substitution", span);
                    out.push(ANY);
                }
                Part::Arithmetic(inner) => {
                    self.text_of(inner, span);
                    out.push(STAR);
                }
                Part::Process(list) => {
                    let file = self.process(list);
                    out.push_str(&file);
                }
                Part::Extended(inner) => {
                    self.text_of(inner, span);
                    out.push(STAR);
                }
            }
        }
    }
}

/// Appends an expanded value; without quotes it is split at blanks.
pub(crate) fn push_value(value: &str, quotes: Quotes, out: &mut String) {
    if quotes == Quotes::Within {
        out.push_str(value);
        return;
    }
    let mut rest = value;
    while let Some(at) = rest.find(char::is_whitespace) {
        mark_globs(&rest[..at], out);
        out.push(SPLIT);
        rest = rest[at..].trim_start();
    }
    mark_globs(rest, out);
}
