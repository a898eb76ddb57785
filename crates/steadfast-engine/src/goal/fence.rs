//! Sentences that say where, and nowhere else.

use steadfast_model::ConstraintKind;

use super::forbid::{after, done_to_all, touch};
use super::object::{Names, ends, object, skip};
use super::thing;
use super::verb::Action;
use super::words::Word;

/// `your changes to server/routes.ts`, `the diff inside tools/`.
pub(super) fn fenced(rest: &[Word]) -> Vec<Action> {
    const WHAT: [&str; 14] = [
        "the",
        "your",
        "all",
        "any",
        "changes",
        "change",
        "edits",
        "edit",
        "diff",
        "work",
        "yourself",
        "it",
        "everything",
        "modifications",
    ];
    let place = skip(rest, &WHAT);
    let said = place.len() < rest.len()
        && place.first().is_some_and(|word| word.is_one_of(&["to", "in", "inside", "within", "under"]));
    match after(place, &["out", "of"]) {
        Some(place) => touch(place, Names::Any),
        None if said => only_these(&place[1..]),
        None => Vec::new(),
    }
}

fn only_these(words: &[Word]) -> Vec<Action> {
    let object = object(words, Names::Known);
    if object.of.is_empty() || object.outside { Vec::new() } else { vec![(ConstraintKind::Only, object.of)] }
}

/// `only touch src/auth`, `only src/auth`.
pub(super) fn only(rest: &[Word]) -> Vec<Action> {
    const DOES: [&str; 13] = [
        "touch", "edit", "change", "modify", "update", "write", "work", "files", "in", "the", "under", "inside",
        "within",
    ];
    let place = skip(rest, &DOES);
    let verb = rest.first().is_some_and(|word| word.is_one_of(&DOES[..7]));
    let plain = place.first().and_then(thing::path).is_some() && ends(place.get(1));
    if verb || plain { only_these(skip(place, &["on", "to", "in"])) } else { Vec::new() }
}

/// `just edit main.go, nothing else`; `just look`.
pub(super) fn just(rest: &[Word]) -> Vec<Action> {
    let first_only = rest.windows(2).any(|pair| pair[0].is("nothing") && pair[1].is("else"))
        || rest.iter().skip(1).any(|word| word.is("only"));
    if first_only {
        return only(rest);
    }
    match rest {
        [look, tail @ ..] if look.is("look") && ends(tail.first()) => vec![(ConstraintKind::Write, Vec::new())],
        _ => Vec::new(),
    }
}

/// `stay within lib/parser`, `stay on this branch`, `stay offline`.
pub(super) fn stay(rest: &[Word]) -> Vec<Action> {
    match rest {
        [on, which, branch, ..] if on.is("on") && which.is_one_of(&["this", "the", "my"]) && branch.is("branch") => {
            vec![(ConstraintKind::Branch, Vec::new())]
        }
        [offline, ..] if offline.is("offline") => vec![(ConstraintKind::Network, Vec::new())],
        [within, place @ ..] if within.is_one_of(&["in", "inside", "within", "under"]) => only_these(place),
        [away, from, place @ ..] if (away.is("away") && from.is("from")) || (away.is("out") && from.is("of")) => {
            touch(place, Names::Any)
        }
        _ => Vec::new(),
    }
}

/// `nothing outside web/src should be changed`.
pub(super) fn nothing(rest: &[Word]) -> Vec<Action> {
    let object = object(rest, Names::Known);
    let changed =
        rest[object.len..].iter().any(|word| word.is_one_of(&["changed", "change", "changes", "touched", "modified"]));
    let ends_here = object.len == rest.len();
    if let [modal, be, done, rest @ ..] = rest
        && modal.is_one_of(&["should", "may", "must", "shall", "is"])
        && be.is_one_of(&["be", "to"])
    {
        return done_to_all(done, rest);
    }
    if let [gets, done, rest @ ..] = rest
        && gets.is_one_of(&["gets", "is"])
    {
        return done_to_all(done, rest);
    }
    if object.outside && !object.of.is_empty() && (changed || ends_here) {
        vec![(ConstraintKind::Only, object.of)]
    } else {
        Vec::new()
    }
}
