//! What is to be left as it is.
//!
//! - `leave the lock file alone` → `touch:lock file`
//! - `keep the Dockerfile as is` → `touch:dockerfile`
//! - `leave the merging to me` → `merge`

use super::list;
use steadfast_model::ConstraintKind;

use super::action::{Action, actions};
use super::fence::{fenced, only_these};
use super::noun::deeds;
use super::object::{Names, object, skip};
use super::order::{after, after_one, is_over};
use super::predicate::{same, touched};
use super::thing;
use steadfast_words::Word;

/// What follows `leave`, `keep` or `let`.
pub(super) fn left(rest: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    // `leave merging to the reviewers`.
    if let Some(end) = rest.iter().position(|word| word.is("to")) {
        let done = deeds(&rest[..end]);
        if !done.is_empty() && done.iter().all(|(kind, _)| *kind != K::Write) {
            return done;
        }
    }
    let local = rest.iter().take(4).position(|word| word.is("local")).filter(|at| is_over(&rest[at + 1..]));
    if local.is_some_and(|at| at > 0 && rest[at - 1].is_one_of(&["commits", "everything", "branch"])) {
        return vec![(K::Push, Vec::new())];
    }
    if let Some(end) = rest.windows(2).position(|pair| pair[0].is_one_of(&["to", "for"]) && pair[1].is("me")) {
        let mine = skip(&rest[..end], &["the", "all", "any"]);
        let done = deeds(mine);
        return if done.is_empty() { touched(mine) } else { done };
    }
    let undone = rest.iter().find(|word| !word.is_in(list("left-work")) && !word.is_break());
    match undone.map(|word| word.text.as_str()) {
        Some("uncommitted") => return vec![(K::Commit, Vec::new())],
        Some("unpushed") => return vec![(K::Push, Vec::new())],
        Some("unmerged") => return vec![(K::Merge, Vec::new())],
        _ => {}
    }
    if let [what, how @ ..] = skip(rest, &["the", "our", "existing", "all"])
        && what.is_one_of(&["dependencies", "deps"])
        && same(how).is_some()
    {
        return vec![(K::Dependencies, Vec::new())];
    }
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
    let bare = is_over(how) && thing.first().and_then(thing::path).is_some() && !object.of.is_empty();
    let alone = same(how).is_some() || be(how) || bare && rest.len() == object.len;
    match (alone && !object.of.is_empty(), object.outside) {
        (true, false) => vec![(K::Touch, object.of)],
        (true, true) => vec![(K::Only, object.of)],
        (false, _) => Vec::new(),
    }
}

/// What follows `keep` or `stay`, `stick`, `steer`: away from a thing, or on a branch.
pub(super) fn kept(rest: &[Word]) -> Vec<Action> {
    if let Some(what) = after_one(rest, "left-away") {
        return hands_off(what);
    }
    if is_here(rest) {
        return vec![(ConstraintKind::Branch, Vec::new())];
    }
    match rest {
        [working, rest @ ..] if working.is_one_of(&["working", "going", "it"]) && is_here(rest) => {
            vec![(ConstraintKind::Branch, Vec::new())]
        }
        [to, place @ ..] if to.is_one_of(&["to", "with", "within", "inside"]) => only_these(place),
        _ => fenced(rest),
    }
}

/// What one's hands are kept off: a thing, the network, or what is done.
pub(super) fn hands_off(what: &[Word]) -> Vec<Action> {
    if super::action::is_network(what) {
        return vec![(ConstraintKind::Network, Vec::new())];
    }
    let code = skip(what, &["the", "my", "our", "any"]);
    if code.first().is_some_and(|word| word.is_one_of(&["code", "files", "keyboard", "everything"]))
        && is_over(&code[1..])
    {
        return vec![(ConstraintKind::Write, Vec::new())];
    }
    let object = object(what, Names::Any);
    let done = actions(what);
    match (object.of.is_empty(), object.outside) {
        _ if !done.is_empty() => done,
        (false, false) => vec![(ConstraintKind::Touch, object.of)],
        _ => Vec::new(),
    }
}

/// `on this branch`, `on main`.
fn is_here(words: &[Word]) -> bool {
    let [on, rest @ ..] = words else { return false };
    let which = skip(rest, &["the", "this", "my", "current", "same", "existing", "that", "our", "present"]);
    let named = which.first().is_some_and(|word| word.is("branch") || thing::is_branch(word));
    let spelled = on.is("on") && which.first().and_then(thing::path).is_some_and(|name| name.contains('/'));
    on.is_one_of(&["on", "to", "with", "in"]) && (named || spelled) && is_over(&which[1..])
}
