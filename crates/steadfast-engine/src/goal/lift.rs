//! What a sentence allows again: a plain order to do it, or leave given for it.

use steadfast_model::ConstraintKind;
use steadfast_words::{Word, WordKind, prompt::Sentence};

use super::action::{Action, actions};
use super::noun::deeds;
use super::object::skip;
use super::order::after_one;
use super::target;
use super::verb::is_verb;
use super::{grammar, list};

pub(super) fn allowed(sentence: &Sentence) -> Vec<Action> {
    if sentence.asks {
        return Vec::new();
    }
    let mut found: Vec<Action> = Vec::new();
    for clause in clauses(&sentence.words) {
        let (order, leave) = ordered(clause);
        // `Only X can merge` and `when it is merged` order nothing.
        if order.iter().any(|word| word.is_in(list("lift-later"))) {
            continue;
        }
        if order.first().is_some_and(|word| word.is_in(list("lift-makes")))
            || (leave && order.is_empty())
            || makes_changes(order)
        {
            found.push((ConstraintKind::Write, Vec::new()));
        }
        found.extend(widened(clause, order));
        // `add lodash and uuid`.
        if let ([word], Some((ConstraintKind::Install, of))) = (clause, found.last())
            && !of.is_empty()
            && let Some(name) = package(word)
        {
            found.extend([(ConstraintKind::Dependencies, vec![name.clone()]), (ConstraintKind::Install, vec![name])]);
        }
        let granted = granted(order, leave);
        let order = match order {
            // `permission to commit granted`.
            [order @ .., word] if leave && word.is("granted") => order,
            order => order,
        };
        if !granted.is_empty() || !is_verb(order) || order.first().is_some_and(|word| word.text.ends_with("ing")) {
            found.extend(granted);
            continue;
        }
        // `fix the conflicts in app.py` is about the conflicts.
        let what = skip(&order[1..], &["the", "a", "my", "our", "this", "these", "any", "all", "in", "existing"]);
        let direct = what.first().is_some_and(|word| target::path(word).is_some() || target::is_code(word))
            || target::named(what).is_some()
            || what.get(1).is_some_and(target::is_place);
        // How a commit is made does not matter to whether.
        let order = order.iter().position(|word| word.is("with")).map_or(order, |with| &order[..with]);
        for (kind, of) in actions(order) {
            if kind == ConstraintKind::Touch && !direct {
                continue;
            }
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

/// What an order names besides: a place that a fence shuts out, a package that no new dependency may be.
fn widened(clause: &[Word], order: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    if clause.iter().any(|word| word.text.ends_with("n't") || word.is_one_of(&["no", "not", "never", "only"])) {
        return Vec::new();
    }
    // `as in`, `like the one in src/a.ts`: a pattern to follow.
    if clause.windows(2).any(|pair| !pair[0].is("you") && pair[1].is("like")) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let first = order.first();
    // `make the link red in theme.css`, `do src/styles too`.
    let places = |from: &[Word]| from.iter().filter_map(target::path).collect::<Vec<_>>();
    let besides = clause.last().is_some_and(|word| word.is_one_of(&["too", "also"]))
        || clause.windows(2).any(|pair| pair[0].is("as") && pair[1].is("well"))
        || clause.first().is_some_and(|word| word.is_one_of(&["also", "now"]));
    let within = order.iter().position(|word| word.is_one_of(&["in", "into", "under", "inside", "within"]));
    let named = match within {
        Some(at) if first.is_some_and(|word| word.is_in(list("lift-does"))) => places(&order[at..]),
        _ if besides || first.is_some_and(|word| word.is_one_of(&["do", "include"])) => places(order),
        _ => Vec::new(),
    };
    if !named.is_empty() {
        found.push((K::Only, named));
    }
    // `touch anything`: no fence is left.
    if grammar::fits("all-is-allowed", order).is_some() && !order.iter().any(|word| target::path(word).is_some()) {
        found.extend([(K::Only, Vec::new()), (K::Touch, Vec::new()), (K::Write, Vec::new())]);
    }
    if first.is_some_and(|word| word.is_one_of(&["create", "add", "write", "make"])) {
        let files: Vec<String> = order.iter().filter_map(target::path).collect();
        found.extend((!files.is_empty()).then_some((K::Create, files)));
    }
    // `add lodash`: a name that is no package lets nothing pass.
    if first.is_some_and(|word| word.is_one_of(&["add", "install", "use"])) {
        let names =
            order.iter().skip(1).filter(|word| !word.is_one_of(&["and", "the", "a", "an", "package", "library"]));
        let packages: Vec<String> = names.map_while(package).take(4).collect();
        if !packages.is_empty() {
            found.extend([(K::Dependencies, packages.clone()), (K::Install, packages)]);
        }
    }
    found
}

/// A name that can be a package's.
fn package(word: &Word) -> Option<String> {
    let plain = matches!(word.kind, WordKind::Plain | WordKind::Code) && !word.is_in(list("lift-words"));
    let spelled = |byte: u8| byte.is_ascii_alphanumeric() || b"-_@/.".contains(&byte);
    (plain && word.raw.len() > 1 && word.raw.bytes().all(spelled)).then(|| word.raw.clone())
}

/// Leave that stands behind what it is given for: `pushing is fine now`, `the tests can be edited`, `with the commit`.
fn granted(order: &[Word], leave: bool) -> Vec<Action> {
    if let [with, rest @ ..] = order
        && leave
        && with.is("with")
    {
        return deeds(rest);
    }
    grammar::read("granted", order)
}

/// Whether a sentence orders something to be made: more than words.
pub(super) fn makes_something(sentence: &Sentence) -> bool {
    let talk = ["plan", "summary", "report", "list", "comment", "proposal", "design"];
    !sentence.asks
        && clauses(&sentence.words).into_iter().any(|clause| {
            let (order, _) = ordered(clause);
            order.first().is_some_and(|word| word.is_in(list("lift-made")))
                && !order.iter().take(4).any(|word| word.is_one_of(&talk))
                && !order.iter().any(|word| word.is_in(list("lift-later")))
        })
}

fn makes_changes(order: &[Word]) -> bool {
    order.first().is_some_and(|word| word.is("make"))
        && order.iter().take(4).any(|word| word.is_one_of(&["change", "changes", "edits", "fix", "fixes"]))
}

/// What is ordered, and whether leave was given for it.
fn ordered(clause: &[Word]) -> (&[Word], bool) {
    let mut rest = list("lift-fillers").skip(clause);
    let mut leave = false;
    while let Some(after) = after_one(rest, "lift-leave") {
        rest = list("lift-fillers").skip(after);
        leave = true;
    }
    (rest, leave)
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
