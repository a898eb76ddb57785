//! What a sentence allows again: a plain order to do it, or leave given for it.

use steadfast_model::ConstraintKind;

use super::object::skip;
use super::verb::{Action, actions, is_verb};
use super::words::{Sentence, Word};

/// What stands before an order and says nothing.
const FILLERS: [&str; 27] = [
    "please",
    "just",
    "also",
    "ok",
    "okay",
    "so",
    "now",
    "yes",
    "yep",
    "sure",
    "alright",
    "great",
    "good",
    "perfect",
    "nice",
    "fine",
    "lgtm",
    "cool",
    "finally",
    "let's",
    "first",
    "next",
    "again",
    "thanks",
    "right",
    "afterwards",
    "always",
];

/// Leave given in words; what is allowed follows.
const LEAVE: [&[&str]; 20] = [
    &["you're", "free", "to"],
    &["you", "are", "free", "to"],
    &["you're", "allowed", "to"],
    &["you", "are", "allowed", "to"],
    &["go", "ahead", "and"],
    &["go", "ahead"],
    &["you", "can", "now"],
    &["you", "may", "now"],
    &["you", "can", "also"],
    &["you", "can"],
    &["you", "may"],
    &["feel", "free", "to"],
    &["it's", "fine", "to"],
    &["it's", "ok", "to"],
    &["it's", "okay", "to"],
    &["it", "is", "ok", "to"],
    &["it", "is", "fine", "to"],
    &["don't", "forget", "to"],
    &["make", "sure", "to"],
    &["time", "to"],
];

/// Orders to make something: who gives one no longer wants to be read to only.
const MAKES: [&str; 11] =
    ["fix", "implement", "apply", "add", "build", "create", "write", "refactor", "proceed", "change", "update"];

/// What makes an order one for another time.
const LATER: [&str; 11] =
    ["when", "if", "once", "after", "only", "unless", "until", "without", "before", "never", "not"];

pub(super) fn allowed(sentence: &Sentence) -> Vec<Action> {
    if sentence.asks {
        return Vec::new();
    }
    let mut found: Vec<Action> = Vec::new();
    for clause in clauses(&sentence.words) {
        let (order, leave) = ordered(clause);
        // `Only X can merge` and `when it is merged` order nothing.
        if order.iter().any(|word| word.is_one_of(&LATER)) {
            continue;
        }
        if order.first().is_some_and(|word| word.is_one_of(&MAKES))
            || (leave && order.is_empty())
            || makes_changes(order)
        {
            found.push((ConstraintKind::Write, Vec::new()));
        }
        if !is_verb(order) || order.first().is_some_and(|word| word.text.ends_with("ing")) {
            continue;
        }
        for (kind, of) in actions(order) {
            // A pull request needs its branch pushed.
            if kind == ConstraintKind::PullRequest {
                found.push((ConstraintKind::Push, Vec::new()));
            }
            found.push((kind, of));
        }
    }
    found.dedup();
    found
}

fn makes_changes(order: &[Word]) -> bool {
    order.first().is_some_and(|word| word.is("make"))
        && order.iter().take(4).any(|word| word.is_one_of(&["change", "changes", "edits", "fix", "fixes"]))
}

/// What is ordered, and whether leave was given for it.
fn ordered(clause: &[Word]) -> (&[Word], bool) {
    let mut rest = skip(clause, &FILLERS);
    let mut leave = false;
    while let Some(words) = LEAVE.iter().find(|words| stands(rest, words)) {
        rest = skip(&rest[words.len()..], &FILLERS);
        leave = true;
    }
    (rest, leave)
}

fn stands(words: &[Word], texts: &[&str]) -> bool {
    words.len() >= texts.len() && texts.iter().zip(words).all(|(text, word)| word.is(text))
}

/// The clauses of a sentence: between breaks, and between orders joined by `and` or `then`.
fn clauses(words: &[Word]) -> Vec<&[Word]> {
    let mut clauses = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(word) = words.get(at) {
        let joins = word.is_one_of(&["and", "then", "but"]) && !(start < at && words[at - 1].is("ahead"));
        if word.is_break() || joins {
            clauses.push(&words[start..at]);
            start = at + 1;
        }
        at += 1;
    }
    clauses.push(&words[start..]);
    clauses
}
