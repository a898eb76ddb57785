//! Finds the assertions of a file: statements that contain the word of an assertion.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::language::{Language, is_helper, is_manner};
use super::lex::{Lexed, Token};

#[derive(Clone, Debug)]
pub(super) struct Assertion {
    pub(super) line: usize,
    pub(super) span: Range<usize>,
    /// A hash of its tokens, without layout and style of quotes. Assertions with equal keys are the same.
    pub(super) key: u64,
    pub(super) words: Words,
    /// It calls an asserting function, or compares a snapshot, so the number of its assertions is unknown.
    pub(super) is_opaque: bool,
}

/// The subject of some tokens: names and values, sorted and unique.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(Vec<Word>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Word {
    is_value: bool,
    hash: u64,
}

/// Limits for files that are one long line.
const MOST_TOKENS: usize = 400;
const LONGEST_START: usize = 60;

impl Words {
    pub(super) fn of(tokens: &[Token<'_>]) -> Self {
        let is_about = |token: &&Token<'_>| token.is_value() || token.is_word() && !is_manner(token.text);
        let mut words: Vec<Word> = tokens.iter().filter(is_about).map(word).collect();
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &Word> {
        self.0.iter().filter(|word| !word.is_value)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Word> {
        self.0.iter().filter(|word| word.is_value)
    }

    pub(super) fn shares_name(&self, other: &Self) -> bool {
        self.names().any(|name| other.0.binary_search(name).is_ok())
    }

    /// Returns the fraction of these words that `other` has, too.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let shared = self.0.iter().filter(|word| other.0.binary_search(word).is_ok()).count();
        count(shared) / count(self.0.len().max(1))
    }
}

/// Ignores quotes, and separators of digits.
pub(super) fn word(token: &Token<'_>) -> Word {
    let mut hasher = DefaultHasher::new();
    let is_value = token.is_value();
    let text = if is_value { token.inside() } else { token.text };
    text.bytes().filter(|&byte| !is_value || byte != b'_').for_each(|byte| byte.hash(&mut hasher));
    Word { is_value, hash: hasher.finish() }
}

fn key(tokens: &[Token<'_>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (at, token) in tokens.iter().enumerate() {
        let closes_next = tokens.get(at + 1).is_none_or(|next| matches!(next.text, ")" | "]" | "}"));
        if !(token.is(",") && closes_next) {
            word(token).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// `helpers` are functions that assert, whatever their name.
pub(super) fn assertions(lexed: &Lexed<'_>, language: &Language, helpers: &HashSet<&str>) -> Vec<Assertion> {
    let finder = Finder { lexed, language, helpers };
    let mut found = Vec::new();
    let mut at = 0;
    while at < lexed.tokens.len() {
        let (end, assertion) = finder.find(at).unwrap_or((at + 1, None));
        found.extend(assertion);
        at = end;
    }
    found
}

struct Finder<'a> {
    lexed: &'a Lexed<'a>,
    language: &'a Language,
    helpers: &'a HashSet<&'a str>,
}

impl Finder<'_> {
    /// Returns the assertion with its word at `at`, if it asserts anything, and the next position to search.
    fn find(&self, at: usize) -> Option<(usize, Option<Assertion>)> {
        let tokens = &self.lexed.tokens;
        let is_plain = self.language.assertions.end(tokens, at).is_some();
        if self.is_definition(at) || !is_plain && !self.is_helper_call(at) {
            return None;
        }
        let mut span = self.start(at)..self.end(at);
        // A block inside it may hold other assertions.
        let has_block = tokens[at..span.end].iter().any(|token| token.is("{"));
        let next = if has_block { at + 1 } else { span.end.max(at + 1) };
        if let Some(condition) = self.condition(&span) {
            span = condition;
        }
        let tokens = &tokens[span.clone()];
        let words = Words::of(tokens);
        let is_constant = tokens.iter().any(|token| matches!(token.text, "true" | "True"));
        let is_snapshot = tokens.iter().any(|token| token.is_word() && token.text.contains("napshot"));
        let assertion = Assertion {
            line: tokens.first().map_or(1, |token| token.line),
            key: key(tokens),
            is_opaque: !is_plain || is_snapshot,
            span,
            words,
        };
        // `assert!(true)` asserts nothing.
        Some((next, (!is_constant || !assertion.words.0.is_empty()).then_some(assertion)))
    }

    fn is_definition(&self, at: usize) -> bool {
        at > 0 && self.language.functions.iter().any(|word| self.lexed.is(at - 1, word))
    }

    fn is_helper_call(&self, at: usize) -> bool {
        let token = &self.lexed.tokens[at];
        if !token.is_word() {
            return false;
        }
        let open = if self.lexed.is(at + 1, "!") { at + 2 } else { at + 1 };
        let is_method = at > 0 && self.lexed.is(at - 1, ".");
        let is_own = at > 1 && (self.lexed.is(at - 2, "self") || self.lexed.is(at - 2, "this"));
        let is_named = self.helpers.contains(token.text) || is_helper(token.text);
        let is_call = self.lexed.is(open, "(") && !self.lexed.is(self.lexed.skip(open), "{");
        (!is_method || is_own) && is_named && is_call
    }

    /// Returns the start of the statement.
    fn start(&self, at: usize) -> usize {
        let tokens = &self.lexed.tokens;
        let (mut start, mut depth) = (at, 0usize);
        while start > 0 && at - start < LONGEST_START {
            let (token, before) = (&tokens[start], &tokens[start - 1]);
            if depth == 0 && token.is_first && !token.is(".") {
                break;
            }
            match before.text {
                _ if before.is_value() => {}
                ")" | "]" => depth += 1,
                "(" | "[" if depth > 0 => depth -= 1,
                "(" | "[" | "," | ";" | "{" | "}" if depth == 0 => break,
                ">" if depth == 0 && start > 1 && matches!(tokens[start - 2].text, "=" | "-") => break,
                _ => {}
            }
            start -= 1;
        }
        start
    }

    /// Returns the end of the statement: the end of its line, outside of brackets.
    fn end(&self, from: usize) -> usize {
        let tokens = &self.lexed.tokens;
        let mut at = from;
        while let Some(token) = tokens.get(at).filter(|_| at < from + MOST_TOKENS) {
            let is_over = !token.is_value() && matches!(token.text, ";" | "," | ")" | "]" | "}");
            if at > from && (is_over || token.is_first && !token.is(".")) {
                break;
            }
            at = self.lexed.skip(at);
        }
        at.min(tokens.len()).min(from + MOST_TOKENS)
    }

    /// Returns the `if` before a block that begins with the statement.
    fn condition(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let open = span.start.checked_sub(1).filter(|&open| self.language.conditions && self.lexed.is(open, "{"))?;
        let first = (open.saturating_sub(LONGEST_START)..open).rev().find(|&at| self.lexed.tokens[at].is_first)?;
        (first..open).find(|&at| self.lexed.is(at, "if")).map(|start| start..open)
    }
}
