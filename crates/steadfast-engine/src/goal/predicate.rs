//! Sentences that say of a thing, or of what is done, that it is not for the agent.
//!
//! - `everything under legacy/ is frozen` → `touch:legacy/`
//! - `the schema must not change` → `touch:schema`
//! - `pushing is off limits` → `push`
//!
//! By whom and when is a description of code: `the queue must not be touched by the consumer`.

use super::list;
use steadfast_model::ConstraintKind;

use super::action::{Action, actions};
use super::fence::{is_work_noun as is_work, only_these};
use super::noun::deeds;
use super::object::{Names, object, skip};
use super::order::{after, after_one, clause_before, is_over, is_reported, is_said};
use super::thing;
use super::verb::is_verb;
use steadfast_words::Word;

/// What `is` or `are` here says of what stands before it.
pub(super) fn is(words: &[Word], at: usize) -> Vec<Action> {
    if is_reported(&words[..at]) {
        return Vec::new();
    }
    let subject = subject(words, at);
    let said =
        skip(&words[at + 1..], &["all", "currently", "totally", "strictly", "completely", "still", "now", "also"]);
    if let Some(over) = closed(said) {
        return if is_over(over) { both(subject) } else { Vec::new() };
    }
    // `everything but src/ is read-only`; one thing may be so without anybody being told.
    if said.first().is_some_and(|word| word.is_one_of(&["read-only", "readonly"])) && is_over(&said[1..]) {
        return touched(subject).into_iter().filter(|(kind, _)| *kind == ConstraintKind::Only).collect();
    }
    if let Some(over) = not_for_you(said) {
        // `the branch is mine`: one of them is somebody's; all of them are a matter of who does it.
        let all = subject.last().is_some_and(|word| word.text.ends_with('s') || word.text.ends_with("ing"));
        let done = if is_over(over) && (all || said[0].is("not")) { deeds_of(subject) } else { Vec::new() };
        return done;
    }
    // `make sure src/gen/ is not modified`.
    let minded = clause_before(words, at).iter().any(|word| word.is_one_of(&["sure", "ensure"]));
    if let Some([done, rest @ ..]) = after(said, &["not"]).filter(|_| minded) {
        return done_to(skip(subject, &["ensure"]), done, rest);
    }
    if let Some([done, rest @ ..]) = after(said, &["not", "to", "be"]) {
        return done_to(subject, done, rest);
    }
    Vec::new()
}

/// `off limits`, of things and of deeds; what follows it.
fn closed(said: &[Word]) -> Option<&[Word]> {
    after_one(said, "predicate-closed").or_else(|| after_one(said, "predicate-closed-phrases"))
}

/// `not allowed`, `my job`, `done by me`: of deeds; what follows it.
fn not_for_you(said: &[Word]) -> Option<&[Word]> {
    match said {
        [my, what, rest @ ..]
            if my.is("my") && what.is_one_of(&["job", "thing", "business", "task", "part", "responsibility"]) =>
        {
            Some(rest)
        }
        // `opened by me`.
        [done, by, me, rest @ ..] if done.text.ends_with("ed") && by.is("by") && me.is("me") => Some(rest),
        [done, by, me, rest @ ..] if done.is_one_of(&["done", "made"]) && by.is("by") && me.is("me") => Some(rest),
        _ => after_one(said, "predicate-not-for-you"),
    }
}

/// What `must not` here says: `be changed`, `change`.
pub(super) fn must_not(words: &[Word], at: usize) -> Vec<Action> {
    let (mut subject, rest) = (subject(words, at), &words[at + 1..]);
    // `parser.rs is fine and must not be touched`: what the clause before is about.
    if subject.is_empty() && at > 1 && words[at - 1].is_one_of(&["and", "but"]) {
        let first = list("order-fillers").skip(clause_before(words, at - 1));
        subject = &first[..object(first, Names::Known).len];
    }
    match rest {
        [be, done, rest @ ..] if be.is("be") => done_to(subject, done, rest),
        [change, rest @ ..] if change.is("change") && is_over(rest) => touched(subject),
        [leave, place @ ..] if leave.is("leave") && is_work(subject) => only_these(place),
        _ => Vec::new(),
    }
}

/// What `stay`, `remain`, `stays` or `remains` here says: `as it is`.
pub(super) fn stays(words: &[Word], at: usize) -> Vec<Action> {
    let whole = subject(words, at);
    let wished = [&["i", "want"][..], &["i", "need"], &["i'd", "like"], &["we", "want"], &["we", "need"]];
    let whole = wished.iter().find_map(|texts| after(whole, texts)).unwrap_or(whole);
    let subject = match whole {
        [things @ .., has, to] if has.is_one_of(&["has", "have", "needs", "need"]) && to.is("to") => things,
        [things @ .., is, to, be] if is.is_one_of(&["is", "are", "has", "have"]) && to.is("to") && be.is("be") => {
            things
        }
        [things @ .., modal, be] if be.is("be") && modal.is_one_of(&["should", "must", "shall", "to"]) => things,
        [things @ .., modal] if modal.is_one_of(&["should", "must", "shall", "will", "to"]) => things,
        things => things,
    };
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

/// `the theme`: a part of the program, by a name that nobody else has for it. What only happens is none.
fn a_part(subject: &[Word]) -> Vec<Action> {
    match subject {
        [the, name] if the.is_one_of(&["the", "our", "my"]) && !name.is_in(list("predicate-happens")) => {
            vec![(ConstraintKind::Touch, vec![name.text.clone()])]
        }
        _ => Vec::new(),
    }
}

/// `the theme stays`: nothing is said of how.
fn is_all(rest: &[Word]) -> bool {
    let goes_on = ["and", "but", "please", "because", "since", "though", "while"];
    let for_now = after(rest, &["for", "now"]);
    for_now.unwrap_or(rest).first().is_none_or(|word| word.is_break() || word.is_one_of(&goes_on))
}

/// `as it is`, and what follows it.
pub(super) fn same(words: &[Word]) -> Option<&[Word]> {
    let words = skip(words, &["exactly", "just", "completely", "totally", "the"]);
    match words {
        [first, rest @ ..] if first.is_in(list("predicate-same")) => Some(rest),
        [out, of, it, rest @ ..] if out.is("out") && of.is("of") && it.is_one_of(&["it", "this"]) => Some(rest),
        [same, rest @ ..] if same.is("same") => Some(rest),
        [as_, it, is, rest @ ..]
            if as_.is_one_of(&["as", "like", "how", "way"])
                && it.is_one_of(&["it", "they", "that", "this"])
                && is.is_one_of(&["is", "are", "was", "were"]) =>
        {
            Some(rest)
        }
        [as_, is, rest @ ..] if as_.is("as") && is.is_one_of(&["is", "are"]) => Some(rest),
        _ => None,
    }
}

/// `nothing should be committed`, `the schema must not be changed`.
fn done_to(subject: &[Word], done: &Word, rest: &[Word]) -> Vec<Action> {
    if rest.iter().any(|word| word.is_in(list("predicate-when"))) {
        return Vec::new();
    }
    if is_said(subject, &["this"]) || is_said(subject, &["it"]) {
        return done_to_all(done, rest);
    }
    if !is_over(rest) {
        return Vec::new();
    }
    use ConstraintKind as K;
    let kind = match done.text.as_str() {
        "changed" | "touched" | "modified" | "edited" | "altered" | "rewritten" => return touched(subject),
        "deleted" | "removed" => K::Delete,
        "renamed" | "moved" => K::Rename,
        "run" | "executed" => K::Run,
        _ => return Vec::new(),
    };
    // Files are moved by whoever works here; what a program moves is more than files.
    let files = skip(subject, &["existing", "any", "the", "all"]);
    if is_said(files, &["files"]) && kind != K::Run {
        return vec![(kind, Vec::new())];
    }
    let named = touched(subject);
    named.into_iter().filter(|(found, _)| *found == K::Touch).map(|(_, of)| (kind, of)).collect()
}

/// `nothing should be committed`, `this must not be pushed yet`.
pub(super) fn done_to_all(done: &Word, rest: &[Word]) -> Vec<Action> {
    use super::about::{Git, git_object};
    use ConstraintKind as K;
    let kind = match done.text.as_str() {
        "committed" => K::Commit,
        "pushed" => K::Push,
        "merged" => K::Merge,
        "installed" => K::Install,
        "changed" | "modified" | "edited" | "touched" | "written" => K::Write,
        "deleted" | "removed" => K::Delete,
        "renamed" | "moved" => K::Rename,
        _ => return Vec::new(),
    };
    if git_object(rest) == Git::All { vec![(kind, Vec::new())] } else { Vec::new() }
}

/// What `by me` here says: `merging will be done by me`.
pub(super) fn by_me(words: &[Word], at: usize) -> Vec<Action> {
    let done = ["will", "is", "are", "be", "done", "made", "handled", "being", "gets", "get", "opened", "created"];
    let clause = subject(words, at);
    let end = clause.iter().position(|word| word.is_one_of(&done)).unwrap_or(0);
    if clause[end..].iter().all(|word| word.is_one_of(&done)) { deeds_of(&clause[..end]) } else { Vec::new() }
}

/// What a clause is about, up to its verb.
fn subject(words: &[Word], at: usize) -> &[Word] {
    let mut before = clause_before(words, at);
    // `commits and pushes are my job`: of two, the first is no clause.
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

/// All of these words are a thing that can be touched.
pub(super) fn touched(words: &[Word]) -> Vec<Action> {
    if matches!(skip(words, &["the", "our", "existing", "all"]), [what] if what.is_one_of(&["dependencies", "deps"])) {
        return vec![(ConstraintKind::Dependencies, Vec::new())];
    }
    let words = inside(for_a_reason(words));
    let object = object(words, Names::Known);
    // `the rest of the repo`: all but what was named.
    if object.other && object.of.is_empty() && object.len == words.len() {
        return vec![(ConstraintKind::Only, Vec::new())];
    }
    if object.of.is_empty() || object.len < words.len() {
        return Vec::new();
    }
    let kind = if object.outside { ConstraintKind::Only } else { ConstraintKind::Touch };
    vec![(kind, object.of)]
}

/// `for legal reasons LICENSE.md`: the reason apart.
fn for_a_reason(words: &[Word]) -> &[Word] {
    let end = words.iter().position(|word| word.is_one_of(&["reasons", "reason"]));
    match end {
        Some(end) if words[0].is_one_of(&["for", "due"]) || words[0].is("legal") => &words[end + 1..],
        _ => words,
    }
}

/// `the views in app/views/`: what they are called does not matter, where they are does.
fn inside(words: &[Word]) -> &[Word] {
    const MOST: usize = 4;
    let at = words.iter().position(|word| word.is_one_of(&["in", "under", "inside", "within", "below"]));
    match at {
        Some(at) if at <= MOST && words.get(at + 1).and_then(thing::path).is_some() => {
            let outside = words[..at].iter().any(|word| word.is_one_of(&["outside", "except", "not", "no", "only"]));
            if outside { words } else { &words[at + 1..] }
        }
        _ => words,
    }
}
