//! One side of a change: its files, their tests, and the assertions.

use std::collections::HashSet;

use super::FileChange;
use super::assertion::{Assertion, Word, Words, assertions, word};
use super::language::{Language, Place};
use super::lex::{Lexed, lex};
use super::region::{Region, RegionKind, innermost, regions};

/// The number of tokens that identify a renamed test.
const MOST_TOKENS: usize = 500;

#[derive(Debug)]
pub(super) struct Source<'a> {
    /// The path after the change.
    pub(super) path: &'a str,
    /// The path on this side.
    pub(super) own_path: &'a str,
    pub(super) place: Place,
    pub(super) lexed: Lexed<'a>,
    pub(super) language: &'static Language,
    pub(super) regions: Vec<Region<'a>>,
    /// The innermost region around each token.
    innermost: Vec<Option<usize>>,
    pub(super) assertions: Vec<Assertion>,
}

#[derive(Debug)]
pub(super) struct Test<'a> {
    pub(super) source: usize,
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) words: Words,
    /// The line that skips it.
    pub(super) skipped: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Held<'a> {
    pub(super) source: usize,
    /// The index of its test in `Side::tests`.
    pub(super) test: Option<usize>,
    pub(super) assertion: &'a Assertion,
}

#[derive(Debug)]
pub(super) struct Side<'a> {
    pub(super) sources: &'a [Source<'a>],
    pub(super) tests: Vec<Test<'a>>,
    pub(super) held: Vec<Held<'a>>,
}

impl<'a> Source<'a> {
    pub(super) fn before(change: &FileChange<'a>) -> Option<Self> {
        Self::read(change.path, change.was.unwrap_or(change.path), change.before?)
    }

    pub(super) fn after(change: &FileChange<'a>) -> Option<Self> {
        Self::read(change.path, change.path, change.after?)
    }

    fn read(path: &'a str, own_path: &'a str, text: &'a str) -> Option<Self> {
        let language = Language::of(own_path)?;
        let place = language.place(own_path);
        let lexed = lex(text, language);
        let regions = regions(&lexed, language, place);
        let innermost = innermost(&regions, lexed.tokens.len());
        let plain = assertions(&lexed, language, &HashSet::new());
        let around = |assertion: &Assertion| innermost.get(assertion.span.start).copied().flatten();
        let functions = plain.iter().filter(|plain| !plain.is_opaque).filter_map(around).map(|at| &regions[at]);
        let helpers =
            functions.filter(|region| region.kind == RegionKind::Function).map(|region| region.name).collect();
        let mut assertions = assertions(&lexed, language, &helpers);
        assertions.retain(|assertion| match around(assertion) {
            Some(region) => regions[region].is_tested,
            None => place > Place::Program,
        });
        Some(Self { path, own_path, place, lexed, language, regions, innermost, assertions })
    }

    fn region_at(&self, token: usize) -> Option<usize> {
        self.innermost.get(token).copied().flatten()
    }

    /// Returns the lines that skip tests: of the whole file, and of each region.
    fn skips(&self) -> (Option<usize>, Vec<Option<usize>>) {
        let (mut file, mut own) = (None, vec![None; self.regions.len()]);
        for (at, token) in self.lexed.tokens.iter().enumerate() {
            if self.language.skips.end(&self.lexed.tokens, at).is_some() {
                let slot = self.region_at(at).map_or(&mut file, |region| &mut own[region]);
                slot.get_or_insert(token.line);
            }
        }
        for at in 0..own.len() {
            let region = &self.regions[at];
            let suite = region.parent.filter(|&parent| self.regions[parent].kind == RegionKind::Suite);
            own[at] = own[at].or_else(|| suite.and_then(|suite| own[suite]));
        }
        (file.filter(|_| self.place > Place::Program), own)
    }

    /// Finds marks that restrict the run to some tests: the name of the test, and the line.
    pub(super) fn focuses(&self) -> Vec<(&'a str, usize)> {
        let name = |at: usize| self.region_at(at).map(|region| self.regions[region].name);
        let tokens = &self.lexed.tokens;
        let marks = (0..tokens.len()).filter(|&at| self.language.focuses.end(tokens, at).is_some());
        marks.filter_map(|at| Some((name(at)?, tokens[at].line))).collect()
    }

    pub(super) fn quote(&self, assertion: &Assertion) -> &'a str {
        let tokens = &self.lexed.tokens[assertion.span.clone()];
        let ends = tokens.first().zip(tokens.last()).map(|(first, last)| first.start..last.start + last.text.len());
        ends.and_then(|ends| self.lexed.text.get(ends)).unwrap_or_default()
    }

    /// Returns the names that this file defines, outside of tests.
    pub(super) fn defined(&self) -> impl Iterator<Item = Word> {
        let pairs = self.lexed.tokens.windows(2).enumerate();
        pairs.filter_map(|(at, pair)| {
            let is_test = self.region_at(at).is_some_and(|region| self.regions[region].is_tested);
            let defines = pair[0].is_word() && self.language.definitions.iter().any(|word| pair[0].is(word));
            (defines && !is_test && pair[1].is_word()).then(|| word(&pair[1]))
        })
    }
}

impl<'a> Side<'a> {
    pub(super) fn of(sources: &'a [Source<'a>]) -> Self {
        let (mut tests, mut held) = (Vec::new(), Vec::new());
        for (source, file) in sources.iter().enumerate() {
            let mut index = vec![None; file.regions.len()];
            let (skipped, own) = file.skips();
            for (at, region) in file.regions.iter().enumerate().filter(|(_, region)| region.kind == RegionKind::Test) {
                index[at] = Some(tests.len());
                let end = region.end.min(region.start + MOST_TOKENS);
                tests.push(Test {
                    source,
                    name: region.name,
                    line: region.line,
                    words: Words::of(&file.lexed.tokens[region.start..end]),
                    skipped: own[at].or(skipped),
                });
            }
            held.extend(file.assertions.iter().map(|assertion| {
                let region = file.region_at(assertion.span.start);
                let test = region.and_then(|region| file.regions[region].test).and_then(|test| index[test]);
                Held { source, test, assertion }
            }));
        }
        Self { sources, tests, held }
    }
}
