//! What is to be left as it is.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::Action;
use super::noun::deeds;
use super::object::{Names, object, skip};
use super::order::{after, is_over};
use super::predicate::same;
use super::target;

/// What follows `leave`, `keep` or `let`: a thing, and how it is left.
pub(super) fn left_thing(rest: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let object = object(rest, Names::Any);
    let how = &rest[object.len..];
    if object.other && object.of.is_empty() && same(how).is_some() {
        return vec![(K::Only, Vec::new())];
    }
    if object.general && object.of.is_empty() {
        return match how {
            [place, tail @ ..] if place.is("place") && is_over(tail) => vec![(K::Delete, Vec::new())],
            [where_, they, are, ..] if where_.is("where") && they.is("they") && are.is("are") => {
                vec![(K::Rename, Vec::new())]
            }
            _ if same(how).is_some_and(is_over) && !object.bare => vec![(K::Write, Vec::new())],
            _ => Vec::new(),
        };
    }
    let be = |how: &[Word]| {
        let apart = [&["in", "peace"][..], &["out", "of", "it"], &["out", "of", "this"]];
        after(how, &["be"]).is_some_and(is_over) || apart.iter().any(|texts| after(how, texts).is_some())
    };
    // `leave src/db`, with nothing behind it.
    let thing = skip(rest, &["the", "my", "our"]);
    let bare = is_over(how) && thing.first().and_then(target::path).is_some() && !object.of.is_empty();
    let alone = same(how).is_some() || be(how) || bare && rest.len() == object.len;
    match (alone && !object.of.is_empty(), object.outside) {
        (true, false) => vec![(K::Touch, object.of)],
        (true, true) => vec![(K::Only, object.of)],
        (false, _) => Vec::new(),
    }
}

/// A thing, by any name.
pub(super) fn any_thing(what: &[Word]) -> Vec<Action> {
    let object = object(what, Names::Any);
    if object.of.is_empty() || object.outside { Vec::new() } else { vec![(ConstraintKind::Touch, object.of)] }
}

/// What is done and left to others: `leave merging to the reviewers`.
pub(super) fn settled(words: &[Word]) -> Vec<Action> {
    let done = deeds(words);
    if done.iter().any(|(kind, _)| *kind == ConstraintKind::Write) { Vec::new() } else { done }
}

/// `on this branch`, `on main`.
pub(super) fn is_here(words: &[Word]) -> bool {
    let [on, rest @ ..] = words else { return false };
    let which = skip(rest, &["the", "this", "my", "current", "same", "existing", "that", "our", "present"]);
    let named = which.first().is_some_and(|word| word.is("branch") || target::is_branch(word));
    let spelled = on.is("on") && which.first().and_then(target::path).is_some_and(|name| name.contains('/'));
    on.is_one_of(&["on", "to", "with", "in"]) && (named || spelled) && is_over(&which[1..])
}
