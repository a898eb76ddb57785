//! The evaluator of `rules.txt`, which lists the rules of the five dimensions.
//!
//! A rule is `POINTS NAME :: CONDITION, CONDITION, …` in the section of its dimension. The first rule whose conditions
//! all hold gives a sentence its points: 2 if a human could act on it, 1 for half of that, 0 to skip the later rules. In
//! the section `conditions` a line gives a name to its conditions. If lines have the same name, one of them must hold.
//!
//! A condition; `not` before it denies it:
//!
//! - `says PATTERN`: anywhere. `starts PATTERN`: at the first word. `begins PATTERN`: after polite words. `clause
//!   PATTERN`: at the beginning of a clause.
//! - `under PART|PART`: the heading above. `is FORM`: its form. `4 words`: it has at least so many words.
//! - a name: a function below, or the name of a condition.

use std::collections::HashMap;
use std::sync::LazyLock;

use steadfast_words::{Pattern, Slot, Word};

use super::names::{commands, is_presence, names_code, names_path, tests_something};
use super::sentence::{Form, LISTS, Part, Said, is_code};
use super::{Dimension, Worth, stated};

const RULES: &str = include_str!("rules.txt");

enum Test {
    Says(Pattern),
    Starts(Pattern),
    Begins(Pattern),
    Clause(Pattern),
    Under(Vec<Part>),
    Is(Form),
    Words(usize),
    Function(fn(&Said) -> bool),
    Condition(&'static str),
}

struct Rule {
    points: u8,
    name: &'static str,
    /// Each with the result that it must have.
    tests: Vec<(Test, bool)>,
}

static SECTIONS: LazyLock<HashMap<&'static str, Vec<Rule>>> = LazyLock::new(|| parse().unwrap_or_default());

pub(super) fn worth(dimension: Dimension, said: &Said) -> Worth {
    let mut rules = SECTIONS.get(dimension.as_str())?.iter();
    rules.find(|rule| rule.holds(said)).map(|rule| (rule.points, rule.name))
}

/// Reports whether a sentence meets the conditions with this name.
pub(super) fn holds(name: &str, said: &Said) -> bool {
    SECTIONS.get("conditions").into_iter().flatten().any(|rule| rule.name == name && rule.holds(said))
}

impl Rule {
    fn holds(&self, said: &Said) -> bool {
        self.tests.iter().all(|(test, wanted)| test.holds(said) == *wanted)
    }
}

impl Test {
    fn holds(&self, said: &Said) -> bool {
        let words = &said.words;
        match self {
            Self::Says(pattern) => (0..words.len()).any(|at| pattern.at(&words[at..]).is_some()),
            Self::Starts(pattern) => pattern.at(words).is_some(),
            Self::Begins(pattern) => pattern.at(said.request()).is_some(),
            Self::Clause(pattern) => said.clauses().any(|clause| pattern.at(clause).is_some()),
            Self::Under(parts) => parts.contains(&said.part),
            Self::Is(form) => said.form == *form,
            Self::Words(least) => said.len() >= *least,
            Self::Function(holds) => holds(said),
            Self::Condition(name) => holds(name, said),
        }
    }

    fn parse(text: &'static str, conditions: &[&'static str]) -> Result<Self, &'static str> {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let slot = |name| SLOTS.iter().find(|(known, _)| *known == name).map(|(_, takes)| Slot::Function(*takes));
        let pattern = || Pattern::of(rest, &LISTS, slot);
        Ok(match (verb, rest) {
            ("says", _) => Self::Says(pattern()?),
            ("starts", _) => Self::Starts(pattern()?),
            ("begins", _) => Self::Begins(pattern()?),
            ("clause", _) => Self::Clause(pattern()?),
            ("under", _) => {
                Self::Under(rest.split('|').map(|part| Part::parse(part).ok_or(text)).collect::<Result<_, _>>()?)
            }
            ("is", _) => Self::Is(Form::parse(rest).ok_or(text)?),
            (least, "words") => Self::Words(least.parse().map_err(|_| text)?),
            _ => match FUNCTIONS.iter().find(|(known, _)| *known == text) {
                Some((_, function)) => Self::Function(*function),
                None => Self::Condition(conditions.iter().find(|known| **known == text).ok_or(text)?),
            },
        })
    }
}

/// Parses the rules into sections. `Err` is an unknown word in them.
fn parse() -> Result<HashMap<&'static str, Vec<Rule>>, &'static str> {
    let (mut sections, mut section) = (HashMap::<&str, Vec<Rule>>::new(), "");
    let conditions: Vec<&str> = RULES.lines().filter_map(|line| Some(line.split_once(" :: ")?.0)).collect();
    for line in RULES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = title;
        } else if let Some((head, tests)) = line.split_once(" :: ") {
            let (points, name) = head.split_once(' ').unwrap_or(("0", head));
            let test = |text: &'static str| {
                let denied = text.strip_prefix("not ");
                Ok((Test::parse(denied.unwrap_or(text), &conditions)?, denied.is_none()))
            };
            let tests = tests.split(", ").map(test).collect::<Result<_, &str>>()?;
            let points = points.parse().map_err(|_| line)?;
            sections.entry(section).or_default().push(Rule { points, name, tests });
        }
    }
    Ok(sections)
}

/// A condition that is written in Rust, with its name in the rules.
type NamedCondition = (&'static str, fn(&Said) -> bool);

/// The functions that conditions may call.
const FUNCTIONS: [NamedCondition; 10] = [
    ("listed", Said::is_listed),
    ("number", Said::has_number),
    ("place", names_path),
    ("command", |said| commands(said).next().is_some()),
    ("presence", |said| commands(said).all(is_presence)),
    ("tests-something", |said| commands(said).any(tests_something)),
    ("code-name", names_code),
    ("code-word", |said| said.words.iter().any(|word| is_code(word) && word.text.contains(char::is_alphabetic))),
    ("input", |said| said.words.iter().any(|word| is_code(word) || word.text.starts_with('/'))),
    ("only-at-the-end", |said| {
        let after = |word: &Word| said.text.get(word.at + word.raw.len()..)?.split_whitespace().next();
        let is_end = |after: &str| matches!(after.trim_matches('*'), "," | "." | ")" | ";");
        said.words.iter().any(|word| word.is("only") && after(word).is_some_and(is_end))
    }),
];

type Takes = fn(&[Word]) -> Option<usize>;

const SLOTS: [(&str, Takes); 5] = [
    ("word", |words| words.first().is_some_and(|word| !word.is_break()).then_some(1)),
    ("name", |words| words.first().is_some_and(|word| is_code(word) || word.text.contains(['.', '/'])).then_some(1)),
    ("mark", |words| words.first().is_some_and(|word| word.is_break() && word.raw != "-").then_some(1)),
    ("colon", |words| words.first().is_some_and(|word| word.is_break() && word.raw == ":").then_some(1)),
    ("no-other-end", |words| stated::ends_well(words).then_some(0)),
];

#[cfg(test)]
mod tests;
