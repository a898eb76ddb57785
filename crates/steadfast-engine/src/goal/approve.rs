//! What waits for the human's word.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::{Action, actions};
use super::object::skip;
use super::order::{clause_before, is_order, unwished};
use super::{grammar, list};

pub(super) fn git_only(actions: Vec<Action>) -> Vec<Action> {
    actions.into_iter().filter(|(kind, _)| is_of_git(*kind)).collect()
}

/// What only git does.
pub(super) fn is_of_git(kind: ConstraintKind) -> bool {
    use ConstraintKind as K;
    matches!(kind, K::Commit | K::Push | K::Merge | K::PullRequest)
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
    // Who is to stop before it need not be told whom to ask.
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
        return git_only(grammar::read("done_to_all", done));
    }
    actions(rest).into_iter().filter(|(kind, _)| !matches!(kind, K::Run | K::Network)).collect()
}
