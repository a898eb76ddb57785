//! What a negation denies: `don't`, `not`, `I don't want`.
//!
//! - `don't go near src/billing/` → `touch:src/billing/`
//! - `you are not allowed to push` → `push`
//! - `I don't want the schema changed` → `touch:schema`
//!
//! What is not merely to be done is not forbidden: `don't just delete the test`.

use super::list;
use steadfast_model::ConstraintKind;

use super::about::run_object;
use super::action::{Action, actions, changes_to};
use super::fence::only_these;
use super::forbid::until_how_often;
use super::left::hands_off;
use super::noun::{deeds, noun};
use super::object::{Names, ends, object, skip};
use super::order::{after, clause_before, is_order, is_over, is_said, ordered};
use super::predicate::{done_to_all, touched};
use super::thing;
use super::verb::is_verb;
use steadfast_words::{Kind, Word};

/// What follows `don't`.
pub(super) fn negated(rest: &[Word]) -> Vec<Action> {
    match rest {
        [go, online, ..] if go.is("go") && online.is("online") => return vec![(ConstraintKind::Network, Vec::new())],
        [go, outside, place @ ..]
            if go.is_one_of(&["go", "stray", "wander", "venture", "step", "work", "operate"])
                && outside.is_one_of(&["outside", "beyond"]) =>
        {
            return only_these(place);
        }
        // `never npm`.
        [program, tail @ ..] if thing::is_program(program) && ends(tail.first()) => return noun(rest),
        [go, near, place @ ..] if go.is("go") && near.is_one_of(&["near", "into"]) => return hands_off(place),
        [leave, place @ ..] if leave.is("leave") => return stayed(place),
        [want, rest @ ..] if want.is("want") => return noun(skip(rest, &["any", "to", "see", "have"])),
        [get, to, rest @ ..] if get.is("get") && to.is("to") => return actions(rest),
        [go, to, which @ ..] if go.is("go") && to.is("to") && which.iter().take(3).any(|word| word.is("branch")) => {
            return vec![(ConstraintKind::Branch, Vec::new())];
        }
        // `turn this into a PR`.
        [turn, this, into, what @ ..]
            if turn.is_one_of(&["turn", "make"]) && this.is_one_of(&["this", "it"]) && into.is("into") =>
        {
            let end = (0..what.len()).find(|at| is_over(&what[*at..])).unwrap_or(what.len());
            return deeds(&what[..end]);
        }
        _ => {}
    }
    // `do not, under any circumstances, push`.
    if let [colon, rest @ ..] = rest
        && colon.is_break()
        && colon.raw == ":"
    {
        return actions(rest);
    }
    if let [comma, aside @ ..] = rest
        && comma.is_break()
        && let Some(end) = aside.iter().position(Word::is_break)
    {
        return negated(&aside[end + 1..]);
    }
    // `under any circumstances`, `in any way`.
    let rest = match rest {
        [under, any, _, rest @ ..] if under.is_one_of(&["under", "in", "at", "by"]) && any.is("any") => rest,
        rest => rest,
    };
    let rest = list("deny-between").skip(rest);
    let found = actions(rest);
    match rest {
        [does, anything, tail @ ..]
            if does.is("do") && anything.is_one_of(&["anything", "something"]) && is_over(tail) =>
        {
            vec![(ConstraintKind::Write, Vec::new())]
        }
        [does, what @ ..] if found.is_empty() && does.is_one_of(&["do", "perform", "make", "use", "run"]) => {
            let end = (0..what.len()).find(|at| is_over(&what[*at..])).unwrap_or(what.len());
            let done = if does.is("do") { deeds(&what[..end]) } else { Vec::new() };
            if !done.is_empty() {
                return done;
            }
            let like = rest.iter().take(6).position(|word| word.is_one_of(&["like", "as"]));
            like.map(|at| as_such(&rest[at + 1..])).unwrap_or_default()
        }
        [have, permission, to, rest @ ..] if have.is("have") && permission.is("permission") && to.is("to") => {
            actions(rest)
        }
        // `think of committing`, `start coding`.
        [leads, tail @ ..] if found.is_empty() && leads.is_in(list("deny-begins")) => {
            let tail = skip(tail, &["of", "about", "with", "even", "on", "into", "straight", "right", "to"]);
            let does = tail.first().is_some_and(|word| word.text.ends_with("ing")) && is_verb(tail);
            if does { actions(until_how_often(tail)) } else { Vec::new() }
        }
        // `rewrite history or force push`: of two, one may be of no matter.
        [first, rest @ ..] if found.is_empty() && first.kind == Kind::Plain => {
            let or = |word: &Word| word.is_one_of(&["or", "nor"]) || word.is_break() && word.raw == "/";
            let at = rest.iter().take(5).position(or);
            // `stage, commit or push`: all of a list.
            let listed = rest.first().is_some_and(Word::is_break)
                && at.is_some()
                && is_verb(&rest[1..])
                && rest.get(2).is_some_and(|word| or(word) || word.is_break());
            let from = if listed { Some(0) } else { at };
            from.map(|at| actions(&rest[at + 1..])).unwrap_or_default()
        }
        _ => found,
    }
}

/// What is named as one of many.
fn as_such(named: &[Word]) -> Vec<Action> {
    let done = actions(named);
    let program = named.first().is_some_and(thing::is_program);
    let line = if done.is_empty() && program { run_object(named) } else { None };
    line.map_or(done, |line| vec![(ConstraintKind::Run, vec![line])])
}

/// `you could push it now, but don't`: what was spoken of.
pub(super) fn left_out(words: &[Word], at: usize) -> Vec<Action> {
    let spoken = (0..at).find(|at| is_verb(&words[*at..]) && !actions(&words[*at..]).is_empty());
    spoken.map(|from| actions(&words[from..at])).unwrap_or_default()
}

/// The thing in `I want openapi.yaml`.
pub(super) fn unwished_thing(before: &[Word]) -> Option<&[Word]> {
    let wishes = [&["i", "want"][..], &["i", "need"], &["i'd", "like"], &["we", "want"], &["we", "need"]];
    wishes.iter().find_map(|texts| after(list("order-fillers").skip(before), texts))
}

/// What is not to be left: a branch or a place, and not in a state.
fn stayed(place: &[Word]) -> Vec<Action> {
    let branch = skip(place, &["this", "the", "current", "my"]);
    if branch.first().is_some_and(|word| word.is("branch")) && is_over(&branch[1..]) {
        return vec![(ConstraintKind::Branch, Vec::new())];
    }
    let object = object(place, Names::Known);
    let only = only_these(place);
    if object.of.iter().any(|name| name.contains('/')) && is_over(&place[object.len..]) { only } else { Vec::new() }
}

/// `I don't want you to commit`, `I don't want new dependencies`, `I'd rather you didn't push`.
pub(super) fn wanted(before: &[Word], word: &Word, rest: &[Word]) -> Vec<Action> {
    if word.is("didn't") {
        let rather = before.len() >= 2
            && before[0].is_one_of(&["i'd", "i", "it", "it'd"])
            && before.iter().any(|word| word.is_one_of(&["rather", "prefer", "appreciate", "nice", "great", "better"]));
        return if rather && before.last().is_some_and(|word| word.is("you")) { actions(rest) } else { Vec::new() };
    }
    if !is_said(before, &["i"]) && !is_said(before, &["we"]) {
        return Vec::new();
    }
    let Some(rest) = after(rest, &["want"]) else { return Vec::new() };
    if let Some(rest) = after(rest, &["you"]).filter(|rest| is_verb(rest)) {
        return actions(rest);
    }
    // `I don't want the schema changed`.
    let changed = ["changed", "touched", "modified", "edited"];
    if let Some(end) = rest.iter().position(|word| word.is_one_of(&changed)) {
        let named = touched(skip(&rest[..end], &["to", "have", "see"]));
        if !named.is_empty() {
            return named;
        }
    }
    // `I don't want to write tests by hand` is about who does it.
    if let Some(own) =
        after(rest, &["to"]).filter(|own| !own.first().is_some_and(|word| word.is_one_of(&["see", "have"])))
    {
        use ConstraintKind as K;
        let kept = [K::Commit, K::Push, K::Merge, K::PullRequest, K::Branch, K::Dependencies, K::Install, K::Create];
        let how = own.iter().any(|word| word.is_one_of(&["hand", "manually", "myself", "twice", "alone"]));
        let done = actions(own).into_iter().filter(|(kind, _)| kept.contains(kind));
        return if how { Vec::new() } else { done.collect() };
    }
    match after(rest, &["you", "to"]) {
        Some(rest) => actions(rest),
        None => match rest {
            [what, done, rest @ ..] if what.is_one_of(&["it", "this", "that", "anything", "them"]) => {
                done_to_all(done, rest)
            }
            _ => noun(skip(rest, &["any", "to", "see", "have"])),
        },
    }
}

/// `you are not allowed to push`, `be careful not to touch the schema`, `refactor the service, not the tests`.
pub(super) fn not(words: &[Word], at: usize) -> Vec<Action> {
    let (before, rest) = (clause_before(words, at), &words[at + 1..]);
    if is_order(words, at) {
        let found = but_not(words, at);
        if !found.is_empty() {
            return found;
        }
    }
    if !before.iter().all(|word| word.is_in(list("order-fillers")) || word.is_in(list("deny-leads")))
        || before.is_empty()
    {
        return Vec::new();
    }
    // `we're not adding any dependencies`.
    if before.last().is_some_and(|word| word.is_one_of(&["we're", "you're"]))
        && rest.first().is_some_and(|word| word.text.ends_with("ing"))
    {
        return actions(rest);
    }
    let rather = before.iter().any(|word| word.is_one_of(&["rather", "prefer"]));
    match rest {
        [what, ..] if what.is_in(list("deny-allowed")) => allowed_to(rest),
        // `I'd rather not have LICENSE.md changed`.
        [have, things @ .., changed]
            if rather && have.is("have") && changed.is_one_of(&["changed", "touched", "modified", "edited"]) =>
        {
            touched(things)
        }
        _ if rather && before.last().is_some_and(|word| word.is("you")) => actions(skip(rest, &["to"])),
        [to, rest @ ..] if to.is("to") => actions(rest),
        // `you may not push`, `I need you to not push`.
        _ if before.last().is_some_and(|word| word.is_one_of(&["may", "to", "will", "let's"])) => negated(rest),
        _ => Vec::new(),
    }
}

pub(super) fn allowed_to(rest: &[Word]) -> Vec<Action> {
    match rest {
        [what, to, rest @ ..] if what.is_in(list("deny-allowed")) && to.is("to") => actions(rest),
        _ => Vec::new(),
    }
}

/// What an order leaves out: `not the tests`, `but not in gen/`, `not by editing .eslintrc`.
fn but_not(words: &[Word], at: usize) -> Vec<Action> {
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
            _ => noun(what),
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
