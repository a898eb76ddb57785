//! The evaluator of `rules.txt`, which lists the phrases that forbid something.
//!
//! A section is a list of rows: `pattern => outcome`, or a phrase alone. The first row that fits counts. With `->` the
//! next rows are tried if the outcome finds nothing. The section `word` is read at every word of a sentence; its rows
//! are `guard :: pattern => outcome`. The guard tests the words before that word in its clause: it is the name of a
//! function, or a pattern for all of them. After `said ` it is a pattern for all of the sentence before the word. Other
//! sections with guards are read at the word where they are used. `<name>` in a pattern is a function below or a section
//! of phrases.
//!
//! An outcome is `+kind`, `+kind:name`, a section, or a function below. It reads the words that the pattern is about.
//! With `/name` behind it, only kinds of the list `kinds-name` are kept. `&` joins two outcomes; `|` takes the second
//! one if the first finds nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use steadfast_model::ConstraintKind;
use steadfast_words::{Pattern, PatternMatch, Phrases, Slot, Word};

use super::action::{Action, actions, changes_to};
use super::object::Names;
use super::order::{clause_before, is_over};
use super::{LISTS, action, deny, fence, forbid, human_only, noun, object, order, predicate, target};

const RULES: &str = include_str!("rules.txt");

/// Tells whether the words around a word are of a kind.
type WordTest = fn(&[Word], usize) -> bool;

/// Reads words, or a word together with the words around it.
#[derive(Clone, Copy)]
enum Reader {
    Section(&'static str),
    Words(fn(&[Word]) -> Vec<Action>),
    At(fn(&[Word], usize) -> Vec<Action>),
}

enum Outcome {
    Nothing,
    Action(ConstraintKind, Option<&'static str>),
    Read(Reader, Option<&'static Phrases>),
    Both(Vec<Outcome>),
    Either(Vec<Outcome>),
}

enum Guard {
    Is(WordTest),
    /// Matches all of the clause before the word.
    Before(Pattern),
    /// Matches all of the sentence before the word.
    Said(Pattern),
}

struct Row {
    guards: Vec<Guard>,
    pattern: Pattern,
    outcome: Outcome,
    /// If this row finds nothing, the next rows are tried.
    continues: bool,
}

/// The rows of a section in order, indexed by the words that they can begin with.
#[derive(Default)]
struct Section {
    rows: Vec<Row>,
    by_first: HashMap<&'static str, Vec<usize>>,
    /// The section is read at the word where it is used, not at the words that a pattern is about.
    is_guarded: bool,
}

static GRAMMAR: LazyLock<HashMap<&'static str, Section>> = LazyLock::new(|| parse().unwrap_or_default());

/// Reads words by a section of the rules.
pub(super) fn read(section: &str, words: &[Word]) -> Vec<Action> {
    let found = GRAMMAR.get(section).into_iter().flat_map(|section| &section.rows);
    first(found, words, 0)
}

/// Returns the match if a phrase of this section fits.
pub(super) fn fits<'w>(section: &str, words: &'w [Word]) -> Option<PatternMatch<'w>> {
    GRAMMAR.get(section)?.rows.iter().find_map(|row| row.pattern.at(words))
}

/// Returns the number of words that a phrase of this section takes.
pub(super) fn taken(section: &str, words: &[Word]) -> Option<usize> {
    fits(section, words).map(|found| words.len() - found.rest.len())
}

/// Reads the prohibition that a word makes, together with the words around it.
pub(super) fn at_word(words: &[Word], at: usize) -> Vec<Action> {
    let Some(section) = GRAMMAR.get("word") else { return Vec::new() };
    let rows = section.by_first.get(words[at].text.as_str()).into_iter().flatten();
    first(rows.filter_map(|row| section.rows.get(*row)), words, at)
}

fn first<'r>(rows: impl Iterator<Item = &'r Row>, words: &[Word], at: usize) -> Vec<Action> {
    for row in rows {
        let Some(found) = row.pattern.at(&words[at..]) else { continue };
        let mut about = found.about;
        let before = clause_before(words, at);
        let fits = row.guards.iter().all(|guard| match guard {
            Guard::Is(is) => is(words, at),
            Guard::Said(pattern) => pattern.is(&words[..at]).is_some(),
            Guard::Before(pattern) => pattern.is(before).is_some_and(|found| {
                // A pattern for all of the clause is about the part that it marks.
                about = if found.about.is_empty() { about } else { found.about };
                true
            }),
        });
        if fits {
            let actions = row.outcome.of(words, at, about);
            if !row.continues || !actions.is_empty() {
                return actions;
            }
        }
    }
    Vec::new()
}

impl Outcome {
    fn of(&self, words: &[Word], at: usize, about: &[Word]) -> Vec<Action> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Action(kind, of) => vec![(*kind, of.iter().map(|of| (*of).to_owned()).collect())],
            Self::Read(reader, filter) => {
                let mut found = match reader {
                    Reader::Section(name) => match GRAMMAR.get(name) {
                        Some(section) if section.is_guarded => first(section.rows.iter(), words, at),
                        _ => read(name, about),
                    },
                    Reader::Words(reader) => reader(about),
                    Reader::At(reader) => reader(words, at),
                };
                found.retain(|(kind, _)| filter.is_none_or(|filter| filter.has(kind.as_str())));
                found
            }
            Self::Both(all) => all.iter().flat_map(|one| one.of(words, at, about)).collect(),
            Self::Either(all) => {
                all.iter().map(|one| one.of(words, at, about)).find(|found| !found.is_empty()).unwrap_or_default()
            }
        }
    }

    fn parse(text: &'static str, sections: &[&'static str]) -> Result<Self, &'static str> {
        if let Some((one, other)) = text.split_once(" & ") {
            return Ok(Self::Both(vec![Self::parse(one, sections)?, Self::parse(other, sections)?]));
        }
        if let Some((one, other)) = text.split_once(" | ") {
            return Ok(Self::Either(vec![Self::parse(one, sections)?, Self::parse(other, sections)?]));
        }
        if let Some(action) = text.strip_prefix('+') {
            let (kind, of) = action.split_once(':').map_or((action, None), |(kind, of)| (kind, Some(of)));
            return ConstraintKind::parse(kind).map(|kind| Self::Action(kind, of)).ok_or(text);
        }
        let (name, filter) = text.split_once('/').map_or((text, None), |(name, filter)| (name, Some(filter)));
        let known = READERS.iter().find(|(known, _)| *known == name).map(|(_, reader)| *reader);
        let section = || sections.iter().find(|known| **known == name).map(|name| Reader::Section(name));
        let filter = match filter {
            Some(filter) => {
                let (_, kinds) =
                    LISTS.lists().find(|(name, _)| name.strip_prefix("kinds-") == Some(filter)).ok_or(text)?;
                Some(kinds)
            }
            None => None,
        };
        if name == "none" {
            return Ok(Self::Nothing);
        }
        known.or_else(section).map(|reader| Self::Read(reader, filter)).ok_or(text)
    }
}

/// Parses the rules into sections. `Err` is an unknown name in them.
fn parse() -> Result<HashMap<&'static str, Section>, &'static str> {
    let lines = || RULES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let titled = |line: &'static str| line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    let sections: Vec<&str> = lines().filter_map(titled).collect();
    // `<name>` is a function below, or a section of phrases.
    let slot = |name: &'static str| {
        let known = SLOTS.iter().find(|(known, _)| *known == name).map(|(_, takes)| Slot::Function(*takes));
        let section = || sections.contains(&name).then_some(Slot::Named(name, taken));
        known.or_else(section)
    };
    let (mut grammar, mut name) = (HashMap::<&str, Section>::new(), "");
    for line in lines().filter(|line| !line.starts_with("match:") && !line.starts_with("not:")) {
        if let Some(title) = titled(line) {
            name = title;
            continue;
        }
        // A row without an outcome is a phrase.
        let arrow = line.find("=>").or_else(|| line.find("->"));
        let (fits, outcome) = arrow.map_or((line, "none"), |at| (line[..at].trim(), line[at + 2..].trim()));
        let (guards, pattern) = fits.split_once("::").map_or(("", fits), |(guards, pattern)| (guards, pattern));
        let guards = guards.split(" & ").map(str::trim).filter(|guard| !guard.is_empty() && *guard != "any");
        let guard = |text: &'static str| match GUARDS.iter().find(|(known, _)| *known == text) {
            Some((_, guard)) => Ok(Guard::Is(*guard)),
            None => match text.strip_prefix("said ") {
                Some(said) => Pattern::of(said, &LISTS, slot).map(Guard::Said),
                None => Pattern::of(text, &LISTS, slot).map(Guard::Before),
            },
        };
        let row = Row {
            guards: guards.map(guard).collect::<Result<_, _>>()?,
            pattern: Pattern::of(pattern.trim(), &LISTS, slot)?,
            outcome: Outcome::parse(outcome, &sections)?,
            continues: arrow.is_some_and(|at| line[at..].starts_with("->")),
        };
        let section = grammar.entry(name).or_default();
        section.is_guarded |= fits.contains("::");
        for first in row.pattern.first().unwrap_or_default() {
            section.by_first.entry(first).or_default().push(section.rows.len());
        }
        section.rows.push(row);
    }
    Ok(grammar)
}

/// The functions that rows may call.
const READERS: [(&str, Reader); 45] = [
    ("actions", Reader::Words(actions)),
    ("added", Reader::Words(action::added)),
    ("all_but", Reader::At(fence::all_but)),
    ("any_thing", Reader::Words(predicate::any_thing)),
    ("asked_first", Reader::At(deny::asked_first)),
    ("but_not", Reader::At(deny::but_not)),
    ("by_me", Reader::At(predicate::by_me)),
    ("changed", Reader::Words(|tail| action::changed(tail, Names::Known, false))),
    ("changed_any", Reader::Words(|tail| action::changed(tail, Names::Any, false))),
    ("commits_to", Reader::Words(|tail| action::of_git(ConstraintKind::Commit, tail))),
    ("deleted", Reader::Words(|tail| action::of_files(ConstraintKind::Delete, tail))),
    ("made_all", Reader::Words(action::made_all)),
    ("pushes_to", Reader::Words(|tail| action::of_git(ConstraintKind::Push, tail))),
    ("renamed", Reader::Words(|tail| action::of_files(ConstraintKind::Rename, tail))),
    ("written", Reader::Words(|tail| action::changed(tail, Names::Known, true))),
    ("changes_to", Reader::Words(changes_to)),
    ("commits", Reader::Words(noun::commits)),
    ("deeds", Reader::Words(noun::deeds)),
    ("does", Reader::Words(forbid::done_or_noun)),
    ("does_nothing", Reader::At(forbid::does_nothing)),
    ("is", Reader::At(predicate::is)),
    ("just", Reader::At(fence::just)),
    ("left_out", Reader::At(deny::left_out)),
    ("named", Reader::Words(predicate::named)),
    ("must_not", Reader::At(predicate::must_not)),
    ("new_dependencies", Reader::Words(noun::new_dependencies)),
    ("nothing_in", Reader::Words(fence::nothing_in)),
    ("of_things", Reader::Words(noun::of_things)),
    ("only", Reader::At(fence::only)),
    ("only_these", Reader::Words(fence::only_these)),
    ("pushes", Reader::Words(noun::pushes)),
    ("handled", Reader::Words(human_only::handled)),
    ("spoken_of", Reader::At(human_only::spoken_of)),
    ("two_jobs", Reader::Words(human_only::two_jobs)),
    ("will_do", Reader::Words(human_only::will_do)),
    ("run", Reader::Words(action::run)),
    (
        "run_thing",
        Reader::Words(|words| predicate::touched(words).into_iter().map(|(_, of)| (ConstraintKind::Run, of)).collect()),
    ),
    ("stayed", Reader::Words(deny::stayed)),
    ("stays", Reader::At(predicate::stays)),
    ("touched", Reader::Words(predicate::touched)),
    ("until_often", Reader::Words(forbid::until_how_often)),
    ("flags", Reader::Words(action::flags)),
    ("programs", Reader::Words(action::programs)),
    ("without", Reader::At(forbid::without)),
    ("work_stays", Reader::At(fence::work_stays)),
];

const GUARDS: [(&str, WordTest); 6] = [
    ("order", order::is_order),
    ("wish", order::is_wish),
    ("no-aside", |words, at| !forbid::is_aside(words, at)),
    ("no-not", |words, at| !clause_before(words, at).iter().any(|word| word.is("not"))),
    ("orders", |words, at| order::is_order(words, at) || order::ordered(clause_before(words, at)).is_some()),
    ("only-order", |words, at| at > 0 && words[at - 1].is("only") && order::is_order(words, at - 1)),
];

/// Takes one word if it fits.
fn one(words: &[Word], fits: impl Fn(&Word) -> bool) -> Option<usize> {
    words.first().is_some_and(fits).then_some(1)
}

/// Takes no words, only tests.
fn look(fits: bool) -> Option<usize> {
    fits.then_some(0)
}

type Takes = fn(&[Word]) -> Option<usize>;

const SLOTS: [(&str, Takes); 44] = [
    ("any", |words| one(words, |_| true)),
    ("plain", |words| one(words, |word| word.kind == steadfast_words::WordKind::Plain)),
    ("none", |words| look(words.is_empty())),
    ("over", |words| look(is_over(words))),
    ("end", |words| look(object::ends(words.first()))),
    ("colon", |words| one(words, |word| word.is_break() && word.raw == ":")),
    ("comma", |words| one(words, |word| word.is_break() && word.raw == ",")),
    ("or", |words| one(words, deny::is_or)),
    ("verb", |words| look(target::is_verb(words))),
    ("ing", |words| one(words, |word| word.text.ends_with("ing"))),
    ("ing-or-s", |words| one(words, |word| word.text.ends_with("ing") || word.text.ends_with('s'))),
    ("push", |words| one(words, |word| word.text.starts_with("push"))),
    ("search", |words| one(words, |word| word.text.starts_with("search") || word.is("access"))),
    ("n't", |words| one(words, |word| word.text.ends_with("n't"))),
    ("owner", |words| one(words, |word| word.text.ends_with("'s"))),
    ("code", |words| one(words, target::is_code)),
    ("branch", |words| one(words, target::is_branch)),
    ("name", |words| one(words, object::is_name)),
    ("nested-path", |words| one(words, |word| target::path(word).is_some_and(|path| path.contains('/')))),
    ("others-alone", |words| object::of(words, |object| object.other && object.of.is_empty())),
    ("everything", |words| object::of(words, |object| object.general && object.of.is_empty())),
    ("things", |words| object::of(words, |object| !object.of.is_empty())),
    ("in-person", |words| look(human_only::is_in_person(words))),
    ("dash", |words| one(words, |word| word.text.starts_with('-'))),
    ("real-flag", |words| one(words, |word| action::flag(word).is_some())),
    ("flag", |words| one(words, |word| word.text.starts_with("--"))),
    ("program", |words| one(words, target::is_program)),
    ("runs", |words| one(words, noun::is_run)),
    ("network", |words| look(action::is_network(words))),
    ("impossible", |words| look(forbid::is_impossible(words))),
    ("same", |words| predicate::same(words).map(|rest| words.len() - rest.len())),
    ("named", |words| target::named(words).map(|(_, len)| len)),
    ("path", |words| one(words, |word| target::path(word).is_some())),
    ("place", |words| words.first().and_then(target::path).map(|_| object::object(words, Names::Known).len)),
    ("bare", |words| look(object::object(words, Names::Known).bare)),
    ("general", |words| look(object::object(words, Names::Known).general)),
    ("command", |words| one(words, target::is_command)),
    ("dependencies", |words| look(action::dependencies(words).is_some())),
    ("force", |words| one(words, action::is_force)),
    ("ed", |words| one(words, |word| word.text.ends_with("ed") || word.is("done"))),
    ("files", |words| look(action::makes_files(words))),
    ("new-dependencies", |words| look(action::dependencies(words) == Some(true))),
    ("stated", |words| look(noun::is_stated(words))),
    ("no-further", |words| look(noun::goes_no_further(words))),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal;

    #[test]
    fn every_rule_can_be_read() {
        assert_eq!(parse().err(), None);
        let named = |name: &str| RULES.contains(&format!("{name} ")) || RULES.contains(&format!("{name}\n"));
        assert_eq!(
            READERS.iter().map(|(name, _)| *name).find(|name| !named(name) && !RULES.contains(&format!("{name}/"))),
            None
        );
    }

    /// `match:` is a sentence with what it forbids, `not:` one that forbids nothing.
    #[test]
    fn every_class_of_sentences_reads_its_own_examples() {
        let mut examples = 0;
        for line in RULES.lines() {
            let (sentence, forbids) = match (line.strip_prefix("match: "), line.strip_prefix("not: ")) {
                (Some(example), _) => example.split_once(" → ").unwrap_or((example, "?")),
                (_, Some(sentence)) => (sentence, ""),
                _ => continue,
            };
            let found: Vec<String> = goal::read(sentence)
                .constraints
                .iter()
                .map(|found| [&[found.kind.as_str().to_owned()], &found.of[..]].concat().join(":"))
                .collect();
            assert_eq!(found.join(";"), forbids, "{sentence}");
            examples += 1;
        }
        assert!(examples >= 40, "{examples}");
    }
}
