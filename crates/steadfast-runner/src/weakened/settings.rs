//! Finds thresholds and commands in settings, scripts and CI files, by the words of their lines.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;
use steadfast_text::glob;

use super::language::{Language, Pattern, file_name, words};
use super::lex::{Token, lex};
use super::{FileChange, MOST, Weakening, WeakeningKind, say};

static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| toml::from_str(CHECKS).unwrap_or_default());
const CHECKS: &str = include_str!("checks.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vocabulary {
    files: Vec<String>,
    thresholds: Vec<String>,
    measures: Vec<String>,
    coverage: Vec<String>,
    ceilings: Vec<String>,
    #[serde(deserialize_with = "words")]
    checks: HashSet<String>,
    #[serde(deserialize_with = "words")]
    others: HashSet<String>,
    swallows: Vec<Pattern>,
    ignores: Vec<Pattern>,
    language: Language,
}

impl Vocabulary {
    fn is_read(&self, path: &str) -> bool {
        self.files.iter().any(|known| glob::name(known, file_name(path)))
    }
}

pub(super) fn compare(changes: &[FileChange<'_>]) -> Vec<Weakening> {
    let mut found = Vec::new();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for change in changes {
        let was = change.was.unwrap_or(change.path);
        let (before, after) =
            (change.before.filter(|_| WORDS.is_read(was)), change.after.filter(|_| WORDS.is_read(change.path)));
        old.extend(before.into_iter().flat_map(|text| demands(change.path, &lines(text))));
        new.extend(after.into_iter().flat_map(|text| demands(change.path, &lines(text))));
        if let (Some(before), Some(after)) = (before, after) {
            found.extend(swallowed(change.path, before, after));
        }
    }
    found.extend(lowered(&old, &new));
    found
}

/// A line without its comment.
struct Line<'a> {
    text: &'a str,
    number: usize,
    tokens: Vec<Token<'a>>,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let lines = text.lines().enumerate();
    lines.map(|(at, text)| Line { text, number: at + 1, tokens: lex(text, &WORDS.language).tokens }).collect()
}

/// A threshold of a check. Where a lower number is stricter, the value is negative.
struct Demand<'a> {
    path: &'a str,
    name: &'a str,
    value: f64,
    line: usize,
    text: &'a str,
}

fn demands<'a>(path: &'a str, lines: &[Line<'a>]) -> Vec<Demand<'a>> {
    let is_coverage_word = |word: &str| {
        let word = word.to_ascii_lowercase();
        WORDS.coverage.iter().any(|known| glob::name(known, &word))
    };
    let mut words = lines.iter().flat_map(|line| &line.tokens).filter(|token| token.is_word());
    let measures = is_coverage_word(file_name(path)) || words.any(|word| is_coverage_word(word.text));
    let mut found = Vec::new();
    for line in lines {
        for (at, token) in line.tokens.iter().enumerate().filter(|(_, token)| token.is_word()) {
            let is_in = |words: &[String]| words.iter().any(|word| token.is(word));
            let is_ceiling = is_in(&WORDS.ceilings);
            let is_threshold = is_in(&WORDS.thresholds) || measures && is_in(&WORDS.measures);
            let between = |token: &&Token<'_>| matches!(token.text, "=" | ":" | "\"" | "'");
            let value = line.tokens[at + 1..].iter().take(5).find(|token| !between(token));
            let number = value.and_then(|value| value.text.replace('_', "").parse::<f64>().ok());
            if let Some(number) = number.filter(|_| is_ceiling || is_threshold) {
                let value = if is_ceiling { -number } else { number };
                found.push(Demand { path, name: token.text, value, line: line.number, text: line.text });
            }
        }
    }
    found
}

fn lowered(old: &[Demand<'_>], new: &[Demand<'_>]) -> Vec<Weakening> {
    let (old, new) = (&old[..old.len().min(MOST)], &new[..new.len().min(MOST)]);
    let mut left: Vec<&Demand<'_>> = new.iter().collect();
    let mut found = Vec::new();
    let mut moved = Vec::new();
    for was in old {
        let same = |now: &&Demand<'_>| now.path == was.path && now.name == was.name;
        match left.iter().position(same).map(|at| left.remove(at)) {
            Some(now) => found.extend((now.value < was.value).then_some(now)),
            None => moved.push(was),
        }
    }
    for was in moved {
        // The threshold may have moved to another file or to another tool's word.
        match left.iter().position(|now| now.value >= was.value) {
            Some(at) => drop(left.remove(at)),
            None => found.push(was),
        }
    }
    let say = |demand: &Demand<'_>| say(WeakeningKind::ThresholdLowered, demand.path, demand.line, demand.text);
    found.into_iter().map(say).collect()
}

/// A command that checks something.
struct Command<'a> {
    words: Vec<&'a str>,
    /// The line that hides its status, if there is one.
    hidden_by: Option<&'a Line<'a>>,
}

/// Finds checks whose status counted before the change and is ignored after it.
fn swallowed(path: &str, before: &str, after: &str) -> Vec<Weakening> {
    let (before, after) = (lines(before), lines(after));
    let (old, new) = (commands(path, &before), commands(path, &after));
    let counting = |commands: &[Command<'_>]| commands.iter().filter(|command| command.hidden_by.is_none()).count();
    let known: HashSet<&[&str]> =
        old.iter().filter(|command| command.hidden_by.is_some()).map(|command| command.words.as_slice()).collect();
    let hidden = new.iter().filter(|command| !known.contains(command.words.as_slice()));
    let mut found: Vec<_> = hidden
        .filter_map(|command| command.hidden_by)
        .map(|line| say(WeakeningKind::StatusIgnored, path, line.number, line.text))
        .collect();
    found.truncate(counting(&old).saturating_sub(counting(&new)));
    found
}

fn commands<'a>(path: &str, lines: &'a [Line<'a>]) -> Vec<Command<'a>> {
    let hidden_by = ignored(lines);
    let is_make = path.ends_with("akefile") || path.ends_with(".mk");
    let is_json = path.ends_with(".json");
    let mut found = Vec::new();
    for (line, ignored) in lines.iter().zip(hidden_by) {
        // A line of JSON may hold several commands, each a string.
        for part in line.tokens.split(|token| is_json && token.is("\"")) {
            let swallow =
                (0..part.len()).find(|&at| WORDS.swallows.iter().any(|swallow| swallow.end(part, at).is_some()));
            let command = &part[..swallow.unwrap_or(part.len())];
            if !is_check(command) {
                continue;
            }
            let first = command.iter().find(|token| !token.is("@"));
            let is_dashed =
                is_make && line.text.starts_with('\t') && first.is_some_and(|first| first.text.starts_with('-'));
            let own = (swallow.is_some() || is_dashed).then_some(line);
            found.push(Command { words: command.iter().map(|token| token.text).collect(), hidden_by: own.or(ignored) });
        }
    }
    found
}

/// Returns whether a command in a line runs tests or analyses the source.
fn is_check(tokens: &[Token<'_>]) -> bool {
    tokens.split(|token| matches!(token.text, ";" | "|" | "&")).any(|command| {
        let words = command.iter().filter(|token| token.is_word()).map(|token| token.text.trim_start_matches('-'));
        let mut words = words.skip_while(|word| matches!(*word, "" | "run" | "script")).peekable();
        let is_other = words.peek().is_some_and(|first| WORDS.others.contains(*first)) && command.len() > 2;
        !is_other && words.any(|word| WORDS.checks.contains(word))
    })
}

/// Returns for each line the setting in its block that lets its step or job continue after a failure.
fn ignored<'a>(lines: &'a [Line<'a>]) -> Vec<Option<&'a Line<'a>>> {
    let mut of = vec![None; lines.len()];
    // The column of a line's key, and whether the line opens a list item.
    let column = |line: &Line<'_>| {
        let opens_item = line.tokens.first().is_some_and(|first| first.is("-"));
        let key = line.tokens.get(usize::from(opens_item));
        key.map(|key| (key.column, opens_item))
    };
    for (at, line) in lines.iter().enumerate() {
        let key = line.tokens.iter().position(|token| !token.is("-")).unwrap_or(0);
        let (Some((own, opens)), true) =
            (column(line), WORDS.ignores.iter().any(|ignore| ignore.end(&line.tokens, key).is_some()))
        else {
            continue;
        };
        let starts =
            |&at: &usize| column(&lines[at]).is_some_and(|(column, opens)| column < own || opens && column == own);
        let from = if opens { at } else { (at.saturating_sub(MOST)..at).rev().find(starts).unwrap_or(at) };
        let to = (at + 1..lines.len()).take(MOST).find(starts).unwrap_or(lines.len().min(at + MOST));
        of[from..to].fill(Some(line));
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_can_be_read() {
        let words: Vocabulary = toml::from_str(CHECKS).unwrap();
        assert!(words.is_read("ci/.gitlab-ci.yml") && words.is_read("Makefile") && words.is_read(".coveragerc"));
        assert!(!words.is_read("README.md") && !words.is_read("src/main.rs"));
    }
}
