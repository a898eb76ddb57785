//! Reads sentences which say that a thing or an action is not for the agent.
//!
//! A sentence with its own actor or time describes code: `the queue must not be touched by the consumer`.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::{Action, actions};
use super::fence::{is_work_noun as is_work, only_these};
use super::grammar::{fits, read};
use super::list;
use super::noun::deeds;
use super::object::{Names, object, skip};
use super::order::{after, clause_before, is_over, is_reported, is_said};
use super::target::is_verb;

/// Reads `is` or `are`, with the words before it.
pub(super) fn is(words: &[Word], at: usize) -> Vec<Action> {
    if is_reported(&words[..at]) {
        return Vec::new();
    }
    let subject = subject(words, at);
    let said =
        skip(&words[at + 1..], &["all", "currently", "totally", "strictly", "completely", "still", "now", "also"]);
    if let Some(found) = fits("closed", said) {
        return if is_over(found.rest) { both(subject) } else { Vec::new() };
    }
    // `everything but src/ is read-only` is an order; one read-only thing may be a description.
    if said.first().is_some_and(|word| word.is_one_of(&["read-only", "readonly"])) && is_over(&said[1..]) {
        return touched(subject).into_iter().filter(|(kind, _)| *kind == ConstraintKind::Only).collect();
    }
    if let Some(found) = fits("not-for-you", said) {
        // `the branch is mine`: a single thing belongs to someone; the plural names a kind of work.
        let all = subject.last().is_some_and(|word| word.text.ends_with('s') || word.text.ends_with("ing"));
        return if is_over(found.rest) && (all || said[0].is("not")) { deeds_of(subject) } else { Vec::new() };
    }
    // `make sure src/gen/ is not modified`.
    let minded = clause_before(words, at).iter().any(|word| word.is_one_of(&["sure", "ensure"]));
    if let Some(done) = after(said, &["not"]).filter(|done| minded && !done.is_empty()) {
        return done_to(skip(subject, &["ensure"]), done);
    }
    after(said, &["not", "to", "be"]).map(|done| done_to(subject, done)).unwrap_or_default()
}

/// Reads `must not`: `be changed`, `change`.
pub(super) fn must_not(words: &[Word], at: usize) -> Vec<Action> {
    let (mut subject, rest) = (subject(words, at), &words[at + 1..]);
    // `parser.rs is fine and must not be touched`: the subject is in the clause before.
    if subject.is_empty() && at > 1 && words[at - 1].is_one_of(&["and", "but"]) {
        let first = list("order-fillers").skip(clause_before(words, at - 1));
        subject = &first[..object(first, Names::Known).len];
    }
    match rest {
        [be, done @ ..] if be.is("be") => done_to(subject, done),
        [change, rest @ ..] if change.is("change") && is_over(rest) => touched(subject),
        [leave, place @ ..] if leave.is("leave") && is_work(subject) => only_these(place),
        _ => Vec::new(),
    }
}

/// Reads `stay`, `remain`, `stays` or `remains`: `as it is`.
pub(super) fn stays(words: &[Word], at: usize) -> Vec<Action> {
    let subject = fits("kept-subject", subject(words, at)).map(|found| found.about).unwrap_or_default();
    let same = same(&words[at + 1..]);
    let over = same.filter(|rest| is_over(rest) && !rest.iter().any(|word| word.is_in(list("predicate-when"))));
    if over.is_some() {
        return touched(subject);
    }
    if !is_all(&words[at + 1..]) || words[..at].iter().any(|word| word.is_in(list("predicate-when"))) {
        return Vec::new();
    }
    let known = touched(subject);
    if known.is_empty() { a_part(subject) } else { known }
}

/// `the theme`: a part of the program that has no other name. A part that merely does something is none.
fn a_part(subject: &[Word]) -> Vec<Action> {
    match subject {
        [the, name] if the.is_one_of(&["the", "our", "my"]) && !name.is_in(list("predicate-happens")) => {
            vec![(ConstraintKind::Touch, vec![name.text.clone()])]
        }
        _ => Vec::new(),
    }
}

/// `the theme stays`: no manner follows.
fn is_all(rest: &[Word]) -> bool {
    let goes_on = ["and", "but", "please", "because", "since", "though", "while"];
    let for_now = after(rest, &["for", "now"]);
    for_now.unwrap_or(rest).first().is_none_or(|word| word.is_break() || word.is_one_of(&goes_on))
}

/// `as it is`, with the words after it.
pub(super) fn same(words: &[Word]) -> Option<&[Word]> {
    fits("same", words).map(|found| found.rest)
}

/// `nothing should be committed`, `the schema must not be changed`.
fn done_to(subject: &[Word], done: &[Word]) -> Vec<Action> {
    let Some((_, rest)) = done.split_first() else { return Vec::new() };
    if rest.iter().any(|word| word.is_in(list("predicate-when"))) {
        return Vec::new();
    }
    if is_said(subject, &["this"]) || is_said(subject, &["it"]) {
        return read("done_to_all", done);
    }
    use ConstraintKind as K;
    let Some((kind, _)) = read("done", done).pop() else { return Vec::new() };
    // A human or agent moves files; a program moves more than files.
    let files = skip(subject, &["existing", "any", "the", "all"]);
    if is_said(files, &["files"]) && matches!(kind, K::Delete | K::Rename) {
        return vec![(kind, Vec::new())];
    }
    let named = touched(subject);
    if kind == K::Touch {
        return named;
    }
    named.into_iter().filter(|(found, _)| *found == K::Touch).map(|(_, of)| (kind, of)).collect()
}

/// Reads `by me`: `merging will be done by me`.
pub(super) fn by_me(words: &[Word], at: usize) -> Vec<Action> {
    fits("done-by", subject(words, at)).map(|found| deeds_of(found.about)).unwrap_or_default()
}

/// Returns the subject of a clause, up to its verb.
fn subject(words: &[Word], at: usize) -> &[Word] {
    let mut before = clause_before(words, at);
    // `commits and pushes are my job`: the first of two nouns is not a clause of its own.
    let from = at - before.len();
    if let Some(joined) = from.checked_sub(1).filter(|joined| words[*joined].is("and")) {
        let first = clause_before(words, joined);
        if !first.is_empty() && !both(list("order-fillers").skip(first)).is_empty() {
            before = &words[joined - first.len()..at];
        }
    }
    list("order-fillers").skip(before)
}

fn both(subject: &[Word]) -> Vec<Action> {
    let things = touched(subject);
    if things.is_empty() { deeds_of(subject) } else { things }
}

fn deeds_of(subject: &[Word]) -> Vec<Action> {
    let done = deeds(subject);
    if done.is_empty() && is_verb(subject) && subject[0].text.ends_with("ing") { actions(subject) } else { done }
}

/// Reads words that are nothing but a thing that can be touched.
pub(super) fn touched(words: &[Word]) -> Vec<Action> {
    if matches!(skip(words, &["the", "our", "existing", "all"]), [what] if what.is_one_of(&["dependencies", "deps"])) {
        return vec![(ConstraintKind::Dependencies, Vec::new())];
    }
    // `for legal reasons LICENSE.md`: without the reason.
    let words = inside(fits("for-a-reason", words).map_or(words, |found| found.rest));
    let object = object(words, Names::Known);
    // `the rest of the repo`: everything but the named ones.
    if object.other && object.of.is_empty() && object.len == words.len() {
        return vec![(ConstraintKind::Only, Vec::new())];
    }
    if object.of.is_empty() || object.len < words.len() {
        return Vec::new();
    }
    let kind = if object.outside { ConstraintKind::Only } else { ConstraintKind::Touch };
    vec![(kind, object.of)]
}

/// `the views in app/views/`: only the place counts, not the name.
fn inside(words: &[Word]) -> &[Word] {
    let Some(found) = fits("inside", words) else { return words };
    let before = &words[..words.len() - found.rest.len()];
    let outside = before.iter().any(|word| word.is_one_of(&["outside", "except", "not", "no", "only"]));
    if outside { words } else { found.rest }
}

/// Reads a thing that stays as it is.
pub(super) fn named(what: &[Word]) -> Vec<Action> {
    let object = object(what, Names::Any);
    vec![(if object.outside { ConstraintKind::Only } else { ConstraintKind::Touch }, object.of)]
}

/// Reads a thing by any name.
pub(super) fn any_thing(what: &[Word]) -> Vec<Action> {
    let object = object(what, Names::Any);
    if object.of.is_empty() || object.outside { Vec::new() } else { vec![(ConstraintKind::Touch, object.of)] }
}
