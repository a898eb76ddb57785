//! Reads what a sentence allows again: a plain order to do it, a permission, or a correction. "Just look, change
//! nothing" applies to its own request; the next request for a change lifts it.

use steadfast_model::{Constraint, ConstraintKind};
use steadfast_words::{Word, WordKind, prompt::Sentence};

use super::action::{Action, actions};
use super::noun::deeds;
use super::object::skip;
use super::order::after_one;
use super::target::{self, is_verb};
use super::{Lift, grammar, list, read, without};

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
            || grammar::fits("makes-changes", order).is_some()
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
        // `fix the conflicts in app.py` orders nothing but the conflicts to be fixed.
        let what = skip(&order[1..], &["the", "a", "my", "our", "this", "these", "any", "all", "in", "existing"]);
        let direct = what.first().is_some_and(|word| target::path(word).is_some() || target::is_code(word))
            || target::named(what).is_some()
            || what.get(1).is_some_and(target::is_place);
        // The manner of a commit does not change whether it is allowed.
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

/// Reads the other names of an order: a place outside the fence, a package excepted from "no new dependencies".
fn widened(clause: &[Word], order: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    if clause.iter().any(|word| word.text.ends_with("n't") || word.is_one_of(&["no", "not", "never", "only"])) {
        return Vec::new();
    }
    // `as in`, `like the one in src/a.ts`: an example to follow.
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
    // `touch anything`: the fence is gone.
    if grammar::fits("all-is-allowed", order).is_some() && !order.iter().any(|word| target::path(word).is_some()) {
        found.extend([(K::Only, Vec::new()), (K::Touch, Vec::new()), (K::Write, Vec::new())]);
    }
    if first.is_some_and(|word| word.is_one_of(&["create", "add", "write", "make"])) {
        let files: Vec<String> = order.iter().filter_map(target::path).collect();
        found.extend((!files.is_empty()).then_some((K::Create, files)));
    }
    // `add lodash`: a name that cannot be a package's allows nothing.
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

/// Returns a word that can be the name of a package.
fn package(word: &Word) -> Option<String> {
    let plain = matches!(word.kind, WordKind::Plain | WordKind::Code) && !word.is_in(list("lift-words"));
    let spelled = |byte: u8| byte.is_ascii_alphanumeric() || b"-_@/.".contains(&byte);
    (plain && word.raw.len() > 1 && word.raw.bytes().all(spelled)).then(|| word.raw.clone())
}

/// Reads a permission behind its action: `pushing is fine now`, `the tests can be edited`, `with the commit`.
fn granted(order: &[Word], leave: bool) -> Vec<Action> {
    if let [with, rest @ ..] = order
        && leave
        && with.is("with")
    {
        return deeds(rest);
    }
    grammar::read("granted", order)
}

/// Returns true if a sentence orders a result other than an answer in words.
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

/// Returns the ordered words, and whether they are a permission.
fn ordered(clause: &[Word]) -> (&[Word], bool) {
    let mut rest = list("lift-fillers").skip(clause);
    let mut leave = false;
    while let Some(after) = after_one(rest, "lift-leave") {
        rest = list("lift-fillers").skip(after);
        leave = true;
    }
    (rest, leave)
}

/// Splits a sentence into clauses: at breaks, and between orders joined by `and` or `then`.
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

/// Returns true if a prompt asks for a change or agrees to one.
///
/// True: `let's try implementing this`, `can we change the text?` and `yes`. False: `why was it changed?` and `does the
/// test change anything?`.
pub(super) fn wants_change(sentences: &[Sentence]) -> bool {
    sentences.iter().filter(|sentence| !sentence.pasted).any(asks)
}

fn asks(sentence: &Sentence) -> bool {
    let words: Vec<&Word> = sentence.words.iter().filter(|word| word.text != ",").collect();
    let Some(first) = words.first() else { return false };
    let is_request = words.len() > 1 && (first.is_in(list("turn-requests")) || is_change(first));
    let is_yes = words.len() <= 3 && first.is_in(list("turn-yes"));
    is_yes || is_request && words.iter().take(12).any(|word| is_change(word))
}

fn is_change(word: &Word) -> bool {
    list("turn-changes").iter().any(|stem| {
        word.text
            .strip_prefix(stem[0])
            .is_some_and(|rest| matches!(rest, "" | "e" | "y" | "ing" | "ting" | "ding" | "ping"))
    })
}

/// Returns true if a sentence corrects an earlier one: `actually, commit`.
fn corrects(words: &[Word]) -> bool {
    let said = words
        .iter()
        .position(|word| !word.is_break() && !word.is_one_of(&["hmm", "oh", "ah", "ok", "no", "sorry", "but"]));
    let from = said.unwrap_or(0);
    list("correct-turns").at(words) > 0 || list("correct-turns").at(&words[from.min(words.len())..]) > 0
}

/// Splits a sentence that corrects itself into the part before the correction and the part that counts.
pub(super) fn split(sentences: Vec<Sentence>) -> Vec<Sentence> {
    let mut all = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let words = &sentence.words;
        let at = (1..words.len()).find(|at| words[at - 1].is_break() && list("correct-turns").at(&words[*at..]) > 0);
        match at {
            Some(at) if !sentence.pasted => {
                let (before, after) = (words[..at - 1].to_vec(), words[at..].to_vec());
                all.push(Sentence { words: before, asks: false, ..sentence.clone() });
                all.push(Sentence { words: after, ..sentence });
            }
            _ => all.push(sentence),
        }
    }
    all
}

/// Removes from the constraints of the same text those that a correction allows.
pub(super) fn take_back(sentence: &Sentence, allowed: &[Lift], constraints: &mut Vec<Constraint>) {
    if !corrects(&sentence.words) {
        return;
    }
    if list("correct-take-back").at(&sentence.words) > 0 {
        constraints.pop();
    }
    for lift in allowed {
        let left = constraints.drain(..).filter_map(|constraint| without(constraint, lift)).collect();
        *constraints = left;
    }
}

/// Returns a sentence that lifts a constraint when a human writes it. `None`: only a command lifts it.
pub fn leave(constraint: &Constraint) -> Option<String> {
    use ConstraintKind as K;
    let of = constraint.of.first().map_or("", String::as_str);
    let said = match constraint.kind {
        K::Commit => "ok, commit it".to_owned(),
        K::Push if of == "--force" => "ok, force-push it".to_owned(),
        K::Push if of.is_empty() => "ok, push it".to_owned(),
        K::Push => format!("ok, push to {of}"),
        K::Branch => "you can create a branch".to_owned(),
        K::PullRequest => "ok, open a PR".to_owned(),
        K::Merge => "ok, merge it".to_owned(),
        K::Dependencies => "you can add dependencies".to_owned(),
        K::Install => "you can install anything".to_owned(),
        K::Network => "you can use the network".to_owned(),
        K::Touch => format!("you can edit {}", constraint.of.join(" and ")),
        K::Only => "you can touch anything now".to_owned(),
        K::Run if of == "deploy" => "ok, deploy it".to_owned(),
        K::Run if of == "publish" => "ok, publish it".to_owned(),
        K::Run if of.starts_with("--") => format!("you can use {of}"),
        K::Run => format!("ok, run {of}"),
        K::Delete => "you can delete files".to_owned(),
        K::Rename => "you can rename files".to_owned(),
        K::Write => "ok, fix it".to_owned(),
        K::Create => "you can create new files".to_owned(),
        K::Separate | K::Unknown => return None,
    };
    let heard = read(&said);
    let lifts = heard.lifts.iter().try_fold(constraint.clone(), without).is_none();
    (lifts && heard.constraints.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::super::understood;
    use super::*;
    use steadfast_words::prompt::sentences;

    #[test]
    fn a_request_for_a_change_and_a_yes_are_leave() {
        for text in [
            "let's try implementing this",
            "can we change the text to something shorter?",
            "Can we prefill the prompt with the old one?",
            "yes",
            "ok, go ahead",
            "Now fix it.",
            "there are merge conflicts. can you fix them?",
        ] {
            assert!(wants_change(&sentences(text)), "{text}");
        }
    }

    #[test]
    fn a_question_is_none() {
        for text in [
            "why is the change in the handler needed?",
            "does the test also verify the id?",
            "What would happen if we keep the hooks going?",
            "Can you tell me how it works?",
            "how does a metadata.json look today?",
        ] {
            assert!(!wants_change(&sentences(text)), "{text}");
        }
    }

    #[test]
    fn what_is_told_to_lift_a_constraint_lifts_it() {
        for (text, said) in [
            ("don't commit", "ok, commit it"),
            ("don't push", "ok, push it"),
            ("don't push to main", "ok, push to main"),
            ("don't force-push", "ok, force-push it"),
            ("no new dependencies", "you can add dependencies"),
            ("don't open a PR", "ok, open a PR"),
            ("only touch src/auth", "you can touch anything now"),
            ("don't touch src/legacy", "you can edit src/legacy"),
            ("don't touch the tests", "you can edit tests"),
            ("don't run the tests", "ok, run tests"),
            ("do not deploy", "ok, deploy it"),
            ("never use --force", "you can use --force"),
            ("don't create new files", "you can create new files"),
            ("don't change anything", "ok, fix it"),
        ] {
            let constraint = understood(text).remove(0);
            assert_eq!(leave(&constraint).as_deref(), Some(said), "{constraint:?}");
        }
    }
}
