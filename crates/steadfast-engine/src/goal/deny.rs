//! Reads negations (`don't`, `not`, `I don't want`), and actions that have to wait for the human's approval.
//!
//! An action that is wrong only on its own is not forbidden: `don't just delete the test`.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::{Action, actions, changes_to};
use super::fence::only_these;
use super::object::{Names, object, skip};
use super::order::{after, clause_before, is_order, is_over, ordered, unwished};
use super::target::is_verb;
use super::{grammar, list};

/// `you could push it now, but don't`: reads the action that was mentioned before.
pub(super) fn left_out(words: &[Word], at: usize) -> Vec<Action> {
    let spoken = (0..at).find(|at| is_verb(&words[*at..]) && !actions(&words[*at..]).is_empty());
    spoken.map(|from| actions(&words[from..at])).unwrap_or_default()
}

/// Reads a branch or a place that the agent must not leave; a state is neither.
pub(super) fn stayed(place: &[Word]) -> Vec<Action> {
    let object = object(place, Names::Known);
    let spelled = object.of.iter().any(|name| name.contains('/')) && is_over(&place[object.len..]);
    if spelled { only_these(place) } else { Vec::new() }
}

/// Reads an exception of an order: `not the tests`, `but not in gen/`, `not by editing .eslintrc`.
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

/// `ask me before committing`, `let me review it before you push`.
pub(super) fn asked_first(words: &[Word], at: usize) -> Vec<Action> {
    // `before you change anything, show me the plan`.
    let end = words[at..].iter().position(Word::is_break).map_or(words.len(), |end| at + end);
    if is_order(words, at) && end < words.len() {
        let then = list("order-fillers").skip(&words[end + 1..]);
        let me = then.iter().any(|word| word.is_one_of(&["me", "my", "i"]));
        let asks = then.first().is_some_and(|word| word.is_in(list("approve-asks"))) && me;
        return if asks { actions(skip(&words[at + 1..end], &["you"])) } else { Vec::new() };
    }
    let (first, rest) = (unwished(list("order-fillers").skip(words)), skip(&words[at + 1..], &["you"]));
    let ordered =
        first.first().is_some_and(|word| word.is_in(list("approve-asks")) || word.is_one_of(&["let", "let's"]));
    // `stop before committing` forbids without naming the human.
    let here = list("order-fillers").skip(clause_before(words, at));
    let stops =
        [first, here].iter().any(|said| said.first().is_some_and(|word| word.is_one_of(&["stop", "pause", "wait"])));
    let with = first.first().is_some_and(|word| word.is_one_of(&["ask", "discuss", "talk", "clarify"]));
    let me = stops || with || words[..at].iter().any(|word| word.is_one_of(&["me", "i", "my"]));
    let asks = words[..at].iter().any(|word| word.is_in(list("approve-asks")));
    if !(stops || ordered && me && asks) {
        return Vec::new();
    }
    use ConstraintKind as K;
    // `before it's committed`.
    let done = skip(rest, &["it's", "it", "is", "anything", "gets", "they", "are"]);
    if done.first().is_some_and(|word| word.text.ends_with("ed")) {
        return grammar::read("git-done", done);
    }
    actions(rest).into_iter().filter(|(kind, _)| !matches!(kind, K::Run | K::Network)).collect()
}
