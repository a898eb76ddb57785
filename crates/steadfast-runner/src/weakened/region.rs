//! Finds where the tests, suites and functions of a file begin and end.

use steadfast_text::glob;

use super::language::{Language, Place};
use super::lex::{Lexed, Token, TokenKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionKind {
    Test,
    Suite,
    Function,
}

#[derive(Clone, Debug)]
pub(super) struct Region<'a> {
    pub(super) kind: RegionKind,
    pub(super) name: &'a str,
    pub(super) line: usize,
    /// The index of the first token, attributes included.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) parent: Option<usize>,
    /// The innermost test around it, or itself.
    pub(super) test: Option<usize>,
    /// It is inside a test, a suite of tests or a test file.
    pub(super) is_tested: bool,
}

/// The most tokens between a name and its body.
const LONGEST_HEAD: usize = 300;
const LONGEST_ATTRIBUTE: usize = 20;

pub(super) fn regions<'a>(lexed: &Lexed<'a>, language: &Language, place: Place) -> Vec<Region<'a>> {
    let mut reader = Reader { lexed, language, regions: Vec::new(), attributes: None };
    let has_calls = place > Place::Program && language.has_tests(place);
    let mut at = 0;
    while at < lexed.tokens.len() {
        at = reader.attribute(at).unwrap_or_else(|| reader.head(at, has_calls));
    }
    let mut regions = reader.regions;
    regions.sort_by_key(|region| (region.start, std::cmp::Reverse(region.end)));
    nest(&mut regions, place > Place::Program);
    regions
}

fn nest(regions: &mut [Region<'_>], is_test_file: bool) {
    let mut around: Vec<usize> = Vec::new();
    for at in 0..regions.len() {
        while around.last().is_some_and(|&outer| regions[outer].end <= regions[at].start) {
            around.pop();
        }
        let parent = around.last().copied();
        let outer = parent.map(|parent| (regions[parent].test, regions[parent].is_tested));
        let (test, is_tested) = outer.unwrap_or((None, is_test_file));
        let region = &mut regions[at];
        let is_test = region.kind == RegionKind::Test;
        region.parent = parent;
        region.test = if is_test { Some(at) } else { test };
        region.is_tested |= is_test || is_tested;
        around.push(at);
    }
}

/// Returns the innermost region around each token.
pub(super) fn innermost(regions: &[Region<'_>], tokens: usize) -> Vec<Option<usize>> {
    let (mut inner, mut next) = (None, 0);
    let around = |at: usize| {
        while regions.get(next).is_some_and(|region| region.start <= at) {
            inner = Some(next);
            next += 1;
        }
        while let Some(region) = inner.map(|inner: usize| &regions[inner]).filter(|region| region.end <= at) {
            inner = region.parent;
        }
        inner
    };
    (0..tokens).map(around).collect()
}

/// The attributes before a definition.
#[derive(Clone, Copy)]
struct Attributes {
    start: usize,
    /// An attribute marks a test.
    is_test: bool,
    /// An attribute mentions tests: `#[cfg(test)]`.
    is_tested: bool,
}

struct Reader<'a, 'l> {
    lexed: &'l Lexed<'a>,
    language: &'l Language,
    regions: Vec<Region<'a>>,
    attributes: Option<Attributes>,
}

impl<'a> Reader<'a, '_> {
    /// Reads an attribute, and returns the position after it.
    fn attribute(&mut self, at: usize) -> Option<usize> {
        let open = match self.language.attribute.as_str() {
            "#[" if self.lexed.is(at, "#") && self.lexed.is(at + 1, "[") => at + 1,
            "[" if self.lexed.is(at, "[")
                && (self.lexed.tokens.get(at)?.is_first || at > 0 && self.lexed.is(at - 1, "]")) =>
            {
                at
            }
            "@" if self.lexed.is(at, "@") && self.lexed.tokens.get(at + 1)?.is_word() => at,
            _ => return None,
        };
        let mut end = open + 2;
        if self.language.attribute == "@" {
            while self.lexed.is(end, ".") {
                end += 2;
            }
            if self.lexed.is(end, "(") {
                end = self.lexed.skip(end);
            }
        } else {
            end = self.lexed.skip(open);
        }
        let known = |at: usize| {
            self.lexed
                .tokens
                .get(at)
                .is_some_and(|token| self.language.test_attributes.iter().any(|known| token.is(known)))
        };
        let is_tested = (open + 1..end.min(open + LONGEST_ATTRIBUTE)).any(known);
        let is_test = is_tested && !self.lexed.is(open + 1, "cfg");
        let attributes = self.attributes.get_or_insert(Attributes { start: at, is_test, is_tested });
        attributes.is_test |= is_test;
        attributes.is_tested |= is_tested;
        Some(end)
    }

    /// Reads the head of a region, if one begins here, and returns the next position.
    fn head(&mut self, at: usize, has_calls: bool) -> usize {
        let (lexed, language) = (self.lexed, self.language);
        let token = lexed.tokens[at];
        let is_in = |words: &[String]| token.is_word() && words.iter().any(|word| token.is(word));
        let calls = [(&language.test_calls, RegionKind::Test), (&language.suite_calls, RegionKind::Suite)];
        let mut calls = calls.into_iter().filter(|_| has_calls && !(at > 0 && lexed.is(at - 1, ".")));
        if let Some((end, kind)) = calls.find_map(|(calls, kind)| Some((calls.end(&lexed.tokens, at)?, kind))) {
            self.call(kind, at, end);
            return end;
        }
        if is_in(&language.functions) {
            // A method in Go has its receiver before its name.
            let has_receiver = self.lexed.is(at + 1, "(");
            let name = if has_receiver { lexed.skip(at + 1) } else { at + 1 };
            let is_name = self.lexed.tokens.get(name).is_some_and(|name| name.kind != TokenKind::Mark);
            if !is_name || has_receiver && !self.lexed.is(name + 1, "(") {
                return at + 1;
            }
            let attributes = self.attributes.take();
            let text = lexed.tokens[name].inside();
            let is_named = language.test_names.iter().any(|known| glob::name(known, text)) && has_calls;
            let is_test = is_named || attributes.is_some_and(|attributes| attributes.is_test);
            let kind = if is_test { RegionKind::Test } else { RegionKind::Function };
            self.define(kind, attributes, at, name);
            return name + 1;
        }
        if is_in(&language.suites) && self.lexed.tokens.get(at + 1).is_some_and(Token::is_word) {
            let attributes = self.attributes.take();
            self.define(RegionKind::Suite, attributes, at, at + 1);
            return at + 2;
        }
        let is_marked = language.bare_names && self.attributes.is_some_and(|attributes| attributes.is_test);
        if is_marked && token.is_word() && lexed.is(at + 1, "(") {
            let attributes = self.attributes.take();
            self.define(RegionKind::Test, attributes, at, at);
            return at + 1;
        }
        if matches!(token.text, ";" | "{" | "}") {
            self.attributes = None;
        }
        at + 1
    }

    fn define(&mut self, kind: RegionKind, attributes: Option<Attributes>, at: usize, name: usize) {
        let end = self.end(at, name + 1);
        let is_tested = attributes.is_some_and(|attributes| attributes.is_tested);
        self.push(kind, attributes.map_or(at, |attributes| attributes.start), name, end, is_tested);
    }

    /// Reads `it("name", …)`, `it.each(…)("name", …)`, `it "name" do` or `@test "name" {`.
    fn call(&mut self, kind: RegionKind, at: usize, end: usize) {
        let mut open = end;
        loop {
            if self.lexed.is(open, ".") {
                open += 2;
            } else if self.lexed.is(open, "(") && self.lexed.is(self.lexed.skip(open), "(") {
                open = self.lexed.skip(open);
            } else if self.lexed.is(open + 1, "(")
                && self.lexed.tokens.get(open).is_some_and(|table| table.text.starts_with('`'))
            {
                open += 1;
            } else {
                break;
            }
        }
        let is_braced = self.lexed.is(open, "(");
        let name = if is_braced { open + 1 } else { open };
        let is_call = is_braced && !self.language.indented;
        let end = if is_call { self.lexed.skip(open) } else { self.end(at, name + 1) };
        self.push(kind, at, name, end, false);
    }

    fn push(&mut self, kind: RegionKind, start: usize, name: usize, end: usize, is_tested: bool) {
        let Some(token) = self.lexed.tokens.get(name) else { return };
        let (name, line) = (token.inside(), token.line);
        let end = end.min(self.lexed.tokens.len());
        self.regions.push(Region { kind, name, line, start, end, parent: None, test: None, is_tested });
    }

    /// Returns the end of the body: its brace, or the next line that is indented no further than the head.
    fn end(&self, head: usize, from: usize) -> usize {
        let tokens = &self.lexed.tokens;
        let first = (0..=head).rev().take(20).find(|&at| tokens[at].is_first).unwrap_or(head);
        let is_indented = self.language.indented;
        let mut at = from;
        while let Some(token) = tokens.get(at).filter(|_| is_indented || at < from + LONGEST_HEAD) {
            let is_over = if is_indented {
                token.is_first && token.column <= tokens[first].column
            } else {
                token.is(";") || token.is("}")
            };
            if is_over {
                break;
            }
            let is_body = token.is("{") && !is_indented;
            at = self.lexed.skip(at);
            if is_body {
                break;
            }
        }
        at
    }
}
