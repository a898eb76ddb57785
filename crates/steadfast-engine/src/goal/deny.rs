//! What a negation denies: `don't`, `not`, `I don't want`.
//!
//! What is not merely to be done is not forbidden: `don't just delete the test`.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::{Action, actions, changes_to};
use super::fence::only_these;
use super::grammar;
use super::object::{Names, object};
use super::order::{after, clause_before, is_over, ordered};
use super::verb::is_verb;

/// `you could push it now, but don't`: what was spoken of.
pub(super) fn left_out(words: &[Word], at: usize) -> Vec<Action> {
    let spoken = (0..at).find(|at| is_verb(&words[*at..]) && !actions(&words[*at..]).is_empty());
    spoken.map(|from| actions(&words[from..at])).unwrap_or_default()
}

/// What is not to be left: a branch or a place, and not in a state.
pub(super) fn stayed(place: &[Word]) -> Vec<Action> {
    let object = object(place, Names::Known);
    let spelled = object.of.iter().any(|name| name.contains('/')) && is_over(&place[object.len..]);
    if spelled { only_these(place) } else { Vec::new() }
}

/// What an order leaves out: `not the tests`, `but not in gen/`, `not by editing .eslintrc`.
pub(super) fn but_not(words: &[Word], at: usize) -> Vec<Action> {
    let rest = &words[at + 1..];
    let verb = ordered(words);
    // `don't run anything, especially not the migrations`.
    let denied = words[..at].iter().position(|word| word.is("don't"));
    let especially = words[..at].last().is_some_and(|word| word.is_one_of(&["especially", "particularly"]));
    let verb = verb.or(denied.filter(|_| especially).and_then(|denied| words.get(denied + 1)));
    if verb.is_none() && clause_before(words, at).len() != at {
        return Vec::new();
    }
    if let [a, single, what @ ..] = rest
        && (a.is("a") && single.is("single") || a.is("one"))
    {
        let what = if a.is("one") { &rest[1..] } else { what };
        return match what {
            [change, tail @ ..] if change.is_one_of(&["change", "edit"]) => changes_to(tail),
            _ => grammar::read("noun", what),
        };
    }
    if let Some(by) = after(rest, &["by"]) {
        return actions(by).into_iter().filter(|(kind, _)| *kind != ConstraintKind::Write).collect();
    }
    let object = object(rest, Names::Known);
    if object.of.is_empty() || object.outside || !is_over(&rest[object.len..]) {
        return Vec::new();
    }
    let runs = verb.is_some_and(|verb| verb.is_one_of(&["run", "start"]));
    vec![(if runs { ConstraintKind::Run } else { ConstraintKind::Touch }, object.of)]
}

pub(super) fn is_or(word: &Word) -> bool {
    word.is_one_of(&["or", "nor"]) || word.is_break() && word.raw == "/"
}
