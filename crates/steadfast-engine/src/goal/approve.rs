//! What waits for the human's word.
//!
//! - `ask me before committing` → `commit`
//! - `before you change anything, show me the plan` → `write`
//! - `commits need my approval` → `commit`

use super::list;
use steadfast_model::ConstraintKind;

use super::action::{Action, actions};
use super::forbid::done_or_noun;
use super::noun::deeds;
use super::object::skip;
use super::order::{after, clause_before, is_order, is_over, is_said, unwished};
use super::predicate::done_to_all;
use steadfast_words::Word;

/// `hold off on committing`, `hold the commit`, `wait with any changes`.
pub(super) fn held(rest: &[Word]) -> Vec<Action> {
    let what = list("approve-light").skip(rest);
    if what.len() == rest.len() {
        return Vec::new();
    }
    let works = ["changes", "edits", "implementation", "implementing", "coding", "editing"];
    let changes = what.first().is_some_and(|word| word.is_one_of(&works)) && is_over(&what[1..]);
    if changes {
        return vec![(ConstraintKind::Write, Vec::new())];
    }
    let done = done_or_noun(what);
    let run = what.first().is_some_and(|word| word.is_one_of(&["running", "deploying", "publishing", "releasing"]));
    if run { done } else { git_only(done) }
}

pub(super) fn git_only(actions: Vec<Action>) -> Vec<Action> {
    use ConstraintKind as K;
    actions.into_iter().filter(|(kind, _)| matches!(kind, K::Commit | K::Push | K::Merge | K::PullRequest)).collect()
}

/// `commit only after I had a look`.
pub(super) fn at_my_word(words: &[Word]) -> Vec<Action> {
    let rest = skip(&words[1..], &["it", "this", "only", "the", "changes"]);
    let later = rest.first().is_some_and(|word| word.is_one_of(&["when", "after", "once", "if"]));
    let mine = rest.get(1).is_some_and(|word| word.is_one_of(&["i", "i've", "i'm", "my", "i'd"]));
    if later && mine { git_only(actions(&words[..1])) } else { Vec::new() }
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
    if let [done, rest @ ..] = skip(rest, &["it's", "it", "is", "anything", "gets", "they", "are"])
        && done.text.ends_with("ed")
    {
        return git_only(done_to_all(done, rest));
    }
    actions(rest).into_iter().filter(|(kind, _)| !matches!(kind, K::Run | K::Network)).collect()
}

/// `commits need my approval`, `you need my permission to push`.
pub(super) fn on_approval(before: &[Word], rest: &[Word]) -> Vec<Action> {
    let leave = ["approval", "ok", "okay", "permission", "review", "consent", "sign-off", "go"];
    let [my, what, tail @ ..] = rest else { return Vec::new() };
    if !my.is("my") || !what.is_one_of(&leave) {
        return Vec::new();
    }
    let subject = skip(before, &["every", "each", "all", "any", "and", "but", "a", "the"]);
    match after(tail, &["to"]) {
        Some(rest) if is_said(subject, &["you"]) => actions(rest),
        _ => git_only(deeds(subject)),
    }
}
