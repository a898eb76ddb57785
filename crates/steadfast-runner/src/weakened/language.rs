//! The table of languages: comments, strings, tests and assertions of each.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};
use steadfast_text::glob;

use super::lex::{Token, TokenKind};

static TABLE: LazyLock<Table> = LazyLock::new(|| toml::from_str(LANGUAGES).unwrap_or_default());
const LANGUAGES: &str = include_str!("languages.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    #[serde(deserialize_with = "words")]
    manner: HashSet<String>,
    #[serde(deserialize_with = "words")]
    helpers: HashSet<String>,
    folders: Vec<String>,
    language: Vec<Language>,
}

pub(super) type Quotes = (String, String);

/// Patterns, indexed by their first token if it has no `*`.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub(super) struct Patterns {
    by_first: HashMap<String, Vec<Pattern>>,
    others: Vec<Pattern>,
}

impl From<BTreeMap<String, String>> for Patterns {
    fn from(examples: BTreeMap<String, String>) -> Self {
        let mut patterns = Self::default();
        for pattern in examples.into_keys().map(Pattern::from) {
            match pattern.tokens.first().filter(|first| !first.contains('*')) {
                Some(first) => patterns.by_first.entry(first.clone()).or_default().push(pattern),
                None => patterns.others.push(pattern),
            }
        }
        patterns
    }
}

impl Patterns {
    /// Returns the position after the tokens that a pattern matches at `at`.
    pub(super) fn end(&self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let known = self.by_first.get(tokens.get(at)?.text).into_iter().flatten();
        known.chain(&self.others).find_map(|pattern| pattern.end(tokens, at))
    }
}

/// The head of the data file documents the fields.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Language {
    name: String,
    extensions: Vec<String>,
    pub(super) line_comment: String,
    pub(super) block_comment: Option<Quotes>,
    pub(super) strings: Vec<Quotes>,
    pub(super) raw_strings: Vec<Quotes>,
    pub(super) long_strings: bool,
    pub(super) characters: bool,
    pub(super) word_marks: String,
    files: Vec<String>,
    by_file: bool,
    pub(super) indented: bool,
    pub(super) attribute: String,
    pub(super) test_attributes: Vec<String>,
    pub(super) functions: Vec<String>,
    pub(super) bare_names: bool,
    pub(super) suites: Vec<String>,
    pub(super) definitions: Vec<String>,
    pub(super) test_names: Vec<String>,
    pub(super) test_calls: Patterns,
    pub(super) suite_calls: Patterns,
    pub(super) assertions: Patterns,
    pub(super) conditions: bool,
    pub(super) skips: Patterns,
    pub(super) focuses: Patterns,
    pub(super) silent: Vec<String>,
}

/// The evidence in a path that a file holds tests, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Program,
    /// In a folder of tests.
    Beside,
    /// By its own name.
    Named,
}

impl Language {
    pub(super) fn of(path: &str) -> Option<&'static Self> {
        let (_, extension) = file_name(path).rsplit_once('.')?;
        TABLE.language.iter().find(|language| language.extensions.iter().any(|known| known == extension))
    }

    pub(super) fn place(&self, path: &str) -> Place {
        let name = file_name(path);
        let folders = path.strip_suffix(name).unwrap_or_default().to_ascii_lowercase();
        let is_test = |folder: &str| TABLE.folders.iter().any(|known| glob::name(known, folder));
        if self.files.iter().any(|known| glob::name(known, name)) {
            Place::Named
        } else if folders.split('/').any(is_test) {
            Place::Beside
        } else {
            Place::Program
        }
    }

    /// Returns whether the test runner looks for tests in a file.
    pub(super) fn has_tests(&self, place: Place) -> bool {
        !self.test_attributes.is_empty() || place == Place::Named || place == Place::Beside && !self.by_file
    }
}

pub(super) fn words<'de, D: Deserializer<'de>>(from: D) -> Result<HashSet<String>, D::Error> {
    Ok(String::deserialize(from)?.split_whitespace().map(str::to_owned).collect())
}

pub(super) fn is_manner(word: &str) -> bool {
    TABLE.manner.contains(word) || ["assert", "toBe", "toEqual"].iter().any(|start| word.starts_with(start))
}

/// Returns whether the name of a function says that it asserts.
pub(super) fn is_helper(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let lower = name.to_ascii_lowercase();
    let ends =
        |start: &String| !name[start.len()..].starts_with(|next: char| next != '_' && !next.is_ascii_uppercase());
    TABLE.helpers.iter().any(|start| lower.starts_with(start) && ends(start))
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A sequence of tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct Pattern {
    tokens: Vec<String>,
    at_start: bool,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        let (at_start, text) = text.strip_prefix("^ ").map_or((false, text.as_str()), |text| (true, text));
        Self { tokens: text.split(' ').map(str::to_owned).collect(), at_start }
    }
}

impl Pattern {
    /// Returns the position after the tokens that it matches at `at`.
    pub(super) fn end(&self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let end = at + self.tokens.len();
        let found = tokens.get(at..end)?;
        let is_start = |at: usize| {
            tokens[at].is_first || at.checked_sub(1).is_some_and(|last| matches!(tokens[last].text, ";" | "{" | ":"))
        };
        let same =
            |(pattern, token): (&String, &Token<'_>)| token.kind != TokenKind::Text && glob::name(pattern, token.text);
        (self.tokens.iter().zip(found).all(same) && (!self.at_start || is_start(at))).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lex::lex;
    use super::*;

    #[test]
    fn every_pattern_matches_its_example_and_no_silent_line() {
        let table: Table = toml::from_str(LANGUAGES).unwrap();
        let texts: toml::Table = toml::from_str(LANGUAGES).unwrap();
        assert_eq!(table.language.len(), 8);
        for (language, texts) in table.language.iter().zip(texts["language"].as_array().unwrap()) {
            let groups = ["assertions", "skips", "focuses", "test_calls", "suite_calls"];
            let patterns = groups.iter().filter_map(|group| texts.get(group)?.as_table()).flatten();
            for (pattern, example) in patterns {
                let lexed = lex(example.as_str().unwrap(), language);
                let pattern = Pattern::from(pattern.clone());
                let seen = (0..lexed.tokens.len()).any(|at| pattern.end(&lexed.tokens, at).is_some());
                assert!(seen, "{}: {pattern:?} does not match {example:?}", language.name);
            }
            for line in &language.silent {
                let lexed = lex(line, language);
                let groups = [&language.assertions, &language.skips, &language.focuses];
                let seen = (0..lexed.tokens.len())
                    .find(|&at| groups.into_iter().any(|group| group.end(&lexed.tokens, at).is_some()));
                assert_eq!(seen, None, "{}: {line}", language.name);
            }
        }
    }
}
