//! Sentences that say where, and nowhere else.
//!
//! - `only touch src/auth` → `only:src/auth`
//! - `limit yourself to src/render` → `only:src/render`
//! - `don't go outside pkg/store` → `only:pkg/store`
//!
//! What only happens somewhere is no fence: `it only fails in src/auth`.

use super::list;
use steadfast_model::ConstraintKind;

use super::action::Action;
use super::left::hands_off;
use super::look;
use super::object::{Names, object, skip};
use super::order::{after, is_over, ordered, unwished};
use super::predicate::done_to_all;
use super::thing;
use steadfast_words::Word;

/// `your changes to server/routes.ts`, `the diff inside tools/`.
pub(super) fn fenced(rest: &[Word]) -> Vec<Action> {
    let place = skip(rest, &["the", "your", "all", "any"]);
    let place = list("fence-work").skip(place);
    let said = place.len() < rest.len()
        && place.first().is_some_and(|word| word.is_one_of(&["to", "in", "inside", "within", "under"]));
    match after(place, &["out", "of"]) {
        Some(place) if place.len() + 2 < rest.len() => hands_off(place),
        None if said => only_these(&place[1..]),
        _ => Vec::new(),
    }
}

pub(super) fn only_these(words: &[Word]) -> Vec<Action> {
    let object = object(skip(words, &["of", "just", "only"]), Names::Known);
    if object.of.is_empty() || object.outside { Vec::new() } else { vec![(ConstraintKind::Only, object.of)] }
}

/// What `only` here says, with what stands before it in its clause.
pub(super) fn only(before: &[Word], rest: &[Word]) -> Vec<Action> {
    if let Some(found) = the_only_one(before, rest) {
        return found;
    }
    // `it should only touch src/auth when a token expires` is how code shall be.
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
    if is_over(rest) && !is && place.len() < 4 && place.first().is_some_and(|word| thing::path(word).is_some()) {
        let object = object(place, Names::Known);
        return if object.len == place.len() { only_these(place) } else { Vec::new() };
    }
    let mine = lead.iter().all(|word| word.is_in(list("order-fillers")) || word.is_in(list("fence-may-only")));
    if mine || is_work(lead) { only_here(rest) } else { Vec::new() }
}

/// `your edits`.
pub(super) fn is_work_noun(words: &[Word]) -> bool {
    matches!(skip(words, &["the", "your", "all", "any", "this"]), [what] if what.is_in(list("fence-work")))
}

/// `the fix should`, `all changes must`.
fn is_work(lead: &[Word]) -> bool {
    let work = skip(lead, &["the", "your", "all", "any", "this"]);
    match work {
        [what, modal, rest @ ..] => {
            what.is_in(list("fence-work"))
                && modal.is_one_of(&["should", "must", "may", "can", "shall", "has", "have", "need", "are", "is"])
                && rest.iter().all(|word| word.is_one_of(&["be", "to", "stay", "remain", "only"]))
        }
        _ => false,
    }
}

/// `the only file you may change is a.rs`.
fn the_only_one(before: &[Word], rest: &[Word]) -> Option<Vec<Action>> {
    if !before.last()?.is("the")
        || before.iter().any(|word| word.is("not"))
        || !rest.first()?.is_one_of(&["file", "files", "folder", "place", "thing", "module"])
    {
        return None;
    }
    let you = skip(&rest[1..], &["that"]);
    let may = after(you, &["you"]).or(after(you, &["i", "want", "you", "to"])).or(after(you, &["i", "want"]))?;
    match may.iter().position(|word| word.is_one_of(&["is", "are"]) || word.is_break()) {
        Some(is) if is <= 6 => Some(only_these(&may[is + 1..])),
        Some(_) => Some(Vec::new()),
        // `That's the only file you may touch.`
        None => {
            let touches =
                may.iter().any(|word| word.is_one_of(&["touch", "change", "edit", "modify", "touched", "changed"]));
            Some(if touches { vec![(ConstraintKind::Only, Vec::new())] } else { Vec::new() })
        }
    }
}

/// What follows `only`: `touch src/auth`, `src/auth`, `that file`.
fn only_here(rest: &[Word]) -> Vec<Action> {
    let looked = look::looks_only(rest);
    if !looked.is_empty() {
        return looked;
    }
    let rest = after(rest, &["have", "permission"]).unwrap_or(rest);
    let rest = skip(rest, &["allowed", "allow", "to", "want", "see", "make", "do"]);
    let does = list("fence-does").skip(rest);
    let place = list("fence-light").skip(does);
    // `only that file`: the one that was named.
    if let [that, what, tail @ ..] = does
        && that.is_one_of(&["that", "this", "these", "those"])
        && what.is_one_of(&["file", "files", "folder", "one", "module", "two"])
        && is_over(skip(tail, &["files"]))
    {
        return vec![(ConstraintKind::Only, Vec::new())];
    }
    let plain = place.first().and_then(thing::path).is_some() && {
        let object = object(place, Names::Known);
        is_over(&place[object.len..])
    };
    // `only a.ts and b.ts may be changed`.
    let changed = place.first().and_then(thing::path).is_some()
        && matches!(&place[object(place, Names::Known).len..], [modal, be, done, ..]
            if modal.is_one_of(&["may", "can", "should", "must"]) && be.is("be") && done.is_in(list("fence-changed")));
    if does.len() < rest.len() || plain || changed { only_these(skip(place, &["on", "to", "in"])) } else { Vec::new() }
}

/// What follows `just`: `edit main.go, nothing else`; `look`.
pub(super) fn just(words: &[Word], at: usize) -> Vec<Action> {
    let rest = &words[at + 1..];
    let first_only = rest.windows(2).any(|pair| pair[0].is("nothing") && pair[1].is("else"))
        || rest.iter().skip(1).any(|word| word.is("only"));
    // `change just index.ts`.
    let changed = at > 0 && words[at - 1].is_one_of(&["change", "edit", "touch", "modify"]);
    let touches = rest.first().is_some_and(|word| word.is("touch"));
    if first_only || changed || touches { only_here(rest) } else { look::looks_only(rest) }
}

/// What follows `stay`: `within lib/parser`, `offline`.
pub(super) fn stay(rest: &[Word]) -> Vec<Action> {
    match skip(rest, &["strictly", "only", "just", "entirely"]) {
        [offline, ..] if offline.is("offline") => vec![(ConstraintKind::Network, Vec::new())],
        [within, place @ ..] if within.is_one_of(&["in", "inside", "within", "under"]) => only_these(place),
        _ => Vec::new(),
    }
}

/// What `stay` says of the changes: `all changes must stay within src/forms`.
pub(super) fn work_stays(before: &[Word], rest: &[Word]) -> Vec<Action> {
    if is_work(list("order-fillers").skip(before)) { stay(rest) } else { Vec::new() }
}

/// What `confined`, `limited` or `restricted` here says.
pub(super) fn work_is_fenced(before: &[Word], rest: &[Word]) -> Vec<Action> {
    match after(rest, &["to"]) {
        Some(place) if is_work(list("order-fillers").skip(before)) => only_these(place),
        _ => Vec::new(),
    }
}

/// What follows `nothing`: `outside web/src should be changed`, `in infra/ may change`, `should be committed`.
pub(super) fn nothing(rest: &[Word]) -> Vec<Action> {
    if let [modal, be, done, rest @ ..] = rest
        && modal.is_one_of(&["should", "may", "must", "shall", "will", "can"])
        && be.is("be")
    {
        return done_to_all(done, rest);
    }
    if let Some([done, rest @ ..]) = after(rest, &["is", "to", "be"]) {
        return done_to_all(done, rest);
    }
    if let [gets, done, rest @ ..] = rest
        && gets.is_one_of(&["gets", "is"])
        && (gets.is("gets") || done.is_one_of(&["committed", "pushed", "merged"]))
    {
        return done_to_all(done, rest);
    }
    // `src/demo, nothing else`: what was named.
    if after(rest, &["else"]).is_some_and(is_over) {
        return vec![(ConstraintKind::Only, Vec::new())];
    }
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

/// What an order or leave given to all of it leaves out: `format everything except vendor/`, `all files but README.md can
/// be changed`.
pub(super) fn all_but(before: &[Word], rest: &[Word]) -> Vec<Action> {
    let denied = |word: &Word| word.text.ends_with("n't") || word.is_one_of(&["not", "no", "never", "leave", "keep"]);
    if !before.iter().any(|word| word.is_in(list("fence-all"))) || before.iter().any(denied) {
        return Vec::new();
    }
    let rest = skip(rest, &["for", "in"]);
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
