//! Reads actions that are named by a noun: `no commits`, `without changes to docs/`, `leave the merge to me`.
//!
//! A noun for something that exists or existed is no action: `no network is the reason`.

use steadfast_model::ConstraintKind;
use steadfast_words::{Word, WordKind};

use super::action::Action;
use super::action::dependencies;
use super::object::{Names, ends, object, skip};
use super::order::is_over;
use super::{action, grammar, target};

/// `test changes`, `tests should be changed`.
fn things_changed(rest: &[Word]) -> Option<Vec<Action>> {
    use ConstraintKind as K;
    let words = skip(rest, &["any", "more", "existing"]);
    // `no file other than main.rs should be changed`.
    let fenced = object(words, Names::Known);
    if fenced.outside && fenced.general && !fenced.of.is_empty() {
        return Some(vec![(K::Only, fenced.of)]);
    }
    let (name, len) = match words.first()? {
        first if first.is("test") => ("tests".to_owned(), 1),
        first if first.is_one_of(&["files", "file", "code"]) => (String::new(), 1),
        first => target::path(first)
            .map(|path| (path, 1))
            .or_else(|| target::named(words).map(|(name, len)| (name.to_owned(), len)))?,
    };
    let of = if name.is_empty() { Vec::new() } else { vec![name] };
    let touch = if of.is_empty() { K::Write } else { K::Touch };
    match &words[len..] {
        [changes, tail @ ..]
            if !of.is_empty() && changes.is_one_of(&["changes", "change", "edits", "modifications"]) =>
        {
            (is_over(tail)).then(|| vec![(touch, of)])
        }
        [modal, be, done @ ..] if modal.is_one_of(&["should", "may", "must", "shall"]) && be.is("be") => {
            let (kind, _) = grammar::read("done", done).pop()?;
            Some(vec![(if kind == K::Touch { touch } else { kind }, of)])
        }
        _ => None,
    }
}

/// Reads words that are nothing but nouns of actions: `commits and pushes`, `the merge`.
pub(super) fn deeds(words: &[Word]) -> Vec<Action> {
    let mut found = Vec::new();
    for part in words.split(|word| word.is_break() || word.is_one_of(&["and", "or", "nor"])) {
        let part = skip(part, &["the", "a", "an", "my", "any"]);
        if part.is_empty() {
            continue;
        }
        let actions = grammar::read("deed", part);
        if actions.is_empty() {
            return Vec::new();
        }
        found.extend(actions);
    }
    found
}

pub(super) fn of_things(rest: &[Word]) -> Vec<Action> {
    things_changed(rest).unwrap_or_default()
}

pub(super) fn commits(tail: &[Word]) -> Vec<Action> {
    of_git(ConstraintKind::Commit, tail)
}

pub(super) fn pushes(tail: &[Word]) -> Vec<Action> {
    of_git(ConstraintKind::Push, tail)
}

fn of_git(kind: ConstraintKind, tail: &[Word]) -> Vec<Action> {
    if tail.first().is_some_and(|word| word.text == "-f" || word.text.starts_with("--force")) {
        return vec![(kind, vec!["--force".to_owned()])];
    }
    let more = grammar::read("listed", tail);
    let mut found = action::of_git(kind, tail);
    if found.iter().any(|(_, of)| of.is_empty()) {
        found.extend(more);
    }
    found
}

pub(super) fn new_dependencies(words: &[Word]) -> Vec<Action> {
    let noun = words.iter().position(|word| dependencies(std::slice::from_ref(word)) == Some(false));
    let after = noun.and_then(|noun| words.get(noun + 1..)).unwrap_or_default();
    let asked_for = goes_no_further(after) && !is_stated(after);
    if asked_for { vec![(ConstraintKind::Dependencies, Vec::new())] } else { Vec::new() }
}

/// Returns true for programs whose name alone means running them.
pub(super) fn is_run(word: &Word) -> bool {
    let spoken = ["make", "find", "go", "node", "rails", "python"];
    target::is_program(word) && !word.is_one_of(&spoken) || word.kind == WordKind::Code && target::is_command(word)
}

pub(super) fn goes_no_further(tail: &[Word]) -> bool {
    ends(tail.first())
        || tail[0].is_one_of(&["in", "on", "to", "allowed", "whatsoever", "anywhere", "access", "calls", "elsewhere"])
}

/// `is the reason`, `were found`: the sentence describes and orders nothing.
pub(super) fn is_stated(tail: &[Word]) -> bool {
    let clause = tail.iter().position(Word::is_break).map_or(tail, |end| &tail[..end]);
    let states = ["is", "are", "was", "were", "has", "have", "needed", "found", "means", "exists", "exist"];
    let Some(at) = clause.iter().position(|word| word.is_one_of(&states)) else { return false };
    let why =
        clause[..at].iter().any(|word| word.is_one_of(&["because", "since", "as", "until", "till", "when", "if"]));
    let forbids = clause[at..].iter().any(|word| word.is_one_of(&["allowed", "permitted", "wanted"]));
    !why && !forbids
}
