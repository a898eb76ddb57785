//! Reads sentences that restrict the work to a place.
//!
//! `it only fails in src/auth` describes and restricts nothing.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::Action;
use super::object::{Names, object, skip};
use super::order::{after, clause_before, is_over, ordered, unwished};
use super::{grammar, list, target};

pub(super) fn only_these(words: &[Word]) -> Vec<Action> {
    let object = object(skip(words, &["of", "just", "only"]), Names::Known);
    if object.of.is_empty() || object.outside { Vec::new() } else { vec![(ConstraintKind::Only, object.of)] }
}

/// Reads `only`, with the words before it in its clause.
pub(super) fn only(words: &[Word], at: usize) -> Vec<Action> {
    let (before, rest) = (clause_before(words, at), &words[at + 1..]);
    // `it should only touch src/auth when a token expires` describes the code.
    let it = list("order-fillers")
        .skip(before)
        .first()
        .is_some_and(|word| word.is_one_of(&["it", "this", "that", "they", "the"]));
    if it && rest.iter().any(|word| word.is_one_of(&["when", "whenever", "if", "while", "once", "after", "during"])) {
        return Vec::new();
    }
    let lead = unwished(list("order-fillers").skip(before));
    let lead = after(lead, &["i", "said"]).unwrap_or(lead);
    if rest.first().is_some_and(|word| word.is_one_of(&["there", "here"])) && is_over(&rest[1..]) && lead.is_empty() {
        return vec![(ConstraintKind::Only, Vec::new())];
    }
    // `changes in src/auth only`.
    // `implement this in src/tax.ts only`.
    let runs = ["run", "find", "start"];
    if let Some(verb) = ordered(lead)
        && is_over(rest)
        && !verb.is_one_of(&runs)
        && let Some(inside) = lead.iter().rposition(|word| word.is_one_of(&["in", "to", "inside", "within", "under"]))
        && object(&lead[inside + 1..], Names::Known).len == lead.len() - inside - 1
    {
        return only_these(&lead[inside + 1..]);
    }
    let scope = lead.iter().any(|word| word.is("scope"));
    let lead = if scope { skip(lead, &["the", "your", "scope", "of", "this", "task", "is"]) } else { lead };
    let lead_work = skip(lead, &["apply", "make", "do", "put", "keep", "commit"]);
    let lead_work = list("fence-work").skip(skip(lead_work, &["all", "your", "the", "any", "my"]));
    let lead_work = skip(lead_work, &["should", "must", "be", "go", "stay"]);
    let place = skip(list("fence-may-only").skip(lead_work), &["files", "the", "to", "within", "inside", "under"]);
    let is = lead.iter().any(|word| word.is_one_of(&["is", "are", "was", "were"]));
    if is_over(rest) && !is && place.len() < 4 && place.first().is_some_and(|word| target::path(word).is_some()) {
        let object = object(place, Names::Known);
        return if object.len == place.len() { only_these(place) } else { Vec::new() };
    }
    let mine = lead.iter().all(|word| word.is_in(list("order-fillers")) || word.is_in(list("fence-may-only")));
    if mine || is_work(lead) { grammar::read("only-here", rest) } else { Vec::new() }
}

/// `your edits`.
pub(super) fn is_work_noun(words: &[Word]) -> bool {
    grammar::fits("work", words).is_some()
}

/// `the fix should`, `all changes must`.
fn is_work(lead: &[Word]) -> bool {
    grammar::fits("work-must", lead).is_some()
}

/// Reads the words after `just`: `edit main.go, nothing else`; `look`.
pub(super) fn just(words: &[Word], at: usize) -> Vec<Action> {
    let rest = &words[at + 1..];
    let first_only = rest.windows(2).any(|pair| pair[0].is("nothing") && pair[1].is("else"))
        || rest.iter().skip(1).any(|word| word.is("only"));
    // `change just index.ts`.
    let changed = at > 0 && words[at - 1].is_one_of(&["change", "edit", "touch", "modify"]);
    let touches = rest.first().is_some_and(|word| word.is("touch"));
    if first_only || changed || touches { grammar::read("only-here", rest) } else { grammar::read("looks", rest) }
}

/// Reads `stay` about the changes: `all changes must stay within src/forms`.
pub(super) fn work_stays(words: &[Word], at: usize) -> Vec<Action> {
    let work = is_work(list("order-fillers").skip(clause_before(words, at)));
    if work { grammar::read("stay", &words[at + 1..]) } else { Vec::new() }
}

/// Reads the words after `nothing`: `outside web/src should be changed`, `in infra/ may change`.
pub(super) fn nothing_in(rest: &[Word]) -> Vec<Action> {
    let new = rest.first().is_some_and(|word| word.is("new"));
    let object = object(skip(rest, &["new"]), Names::Known);
    let tail = &rest[object.len + usize::from(new)..];
    let changed = tail.iter().any(|word| word.is_in(list("fence-changed")));
    let modal =
        tail.first().is_some_and(|word| word.is_one_of(&["should", "may", "must", "shall", "can", "is", "gets"]));
    match (object.of.is_empty(), object.outside) {
        (false, true) if changed || is_over(tail) => vec![(ConstraintKind::Only, object.of)],
        (false, false) if modal && changed || new && is_over(tail) => vec![(ConstraintKind::Touch, object.of)],
        _ => Vec::new(),
    }
}

/// Reads the exceptions of an order for everything: `format everything except vendor/`, `all files but README.md can be
/// changed`.
pub(super) fn all_but(words: &[Word], at: usize) -> Vec<Action> {
    let exception = words[at].is_one_of(&["exception", "excluding"]);
    let before = if exception { &words[..at] } else { clause_before(words, at) };
    let denied = |word: &Word| word.text.ends_with("n't") || word.is_one_of(&["not", "no", "never", "leave", "keep"]);
    if !before.iter().any(|word| word.is_in(list("fence-all"))) || before.iter().any(denied) {
        return Vec::new();
    }
    let rest = skip(&words[at + 1..], if exception { &["of", "for", "in"] } else { &["for", "in"] });
    let object = object(rest, Names::Known);
    let tail = &rest[object.len..];
    let changed = matches!(tail, [can, be, done, ..]
        if can.is_one_of(&["can", "may"]) && be.is("be") && done.is_in(list("fence-changed")));
    let verb = ordered(before);
    let may = verb.is_some() || after(before, &["you", "can"]).or(after(before, &["you", "may"])).is_some();
    if object.of.is_empty() || object.outside || !(changed || may && is_over(tail)) {
        return Vec::new();
    }
    let runs = verb.is_some_and(|verb| verb.is_one_of(&["run", "start"]));
    vec![(if runs { ConstraintKind::Run } else { ConstraintKind::Touch }, object.of)]
}
