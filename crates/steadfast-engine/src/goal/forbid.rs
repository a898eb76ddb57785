//! What a sentence forbids. Each word that can forbid is looked at with what stands around it; what class of sentences it
//! makes has its own file.
//!
//! - `don't even think of committing` → `commit`
//! - `fix it without touching the tests` → `touch:tests`
//! - `please refrain from editing docs/` → `touch:docs/`
//! - `refactor the service, not the tests` → `touch:tests`
//!
//! What is said of anybody but the agent describes code: `the worker must not delete the file`.

use super::list;
use steadfast_model::ConstraintKind;

use super::about::run_object;
use super::action::{Action, actions, is_request};
use super::approve::{asked_first, at_my_word, git_only, held, on_approval};
use super::deny::{allowed_to, left_out, negated, not, unwished_thing, wanted};
use super::fence::{all_but, fenced, just, nothing, only, stay, work_is_fenced, work_stays};
use super::left::{hands_off, kept, left};
use super::look::{only_looks, whole, with_what_there_is};
use super::noun::{deeds, noun};
use super::object::{ends, skip};
use super::order::{after, clause_before, is_about_something, is_order, is_over, is_said, is_wish, ordered};
use super::predicate::{by_me, is, must_not, stays, touched};
use super::refer::resolved;
use super::reserve::reserved;
use super::thing;
use super::verb::is_verb;
use steadfast_words::{Kind, Word, prompt::Sentence};

pub(super) fn forbidden(sentence: &Sentence, sentence_before: &[Word]) -> Vec<Action> {
    let words = resolved(&sentence.words, sentence_before);
    let words = own_words(&words);
    if sentence.asks { asked(words) } else { stated(words) }
}

/// A sentence up to the text that it speaks of: `add to CONTRIBUTING.md the sentence: do not push to main`.
fn own_words(words: &[Word]) -> &[Word] {
    let colon = words.iter().position(|word| word.is_break() && word.raw == ":");
    let Some(colon) = colon else { return words };
    let before = list("order-fillers").skip(&words[..colon]);
    let writes = before.first().is_some_and(|word| word.is_in(list("forbid-writes"))) || words[0].is("make");
    if writes && before.iter().any(|word| word.is_in(list("forbid-texts"))) { &words[..colon] } else { words }
}

fn stated(words: &[Word]) -> Vec<Action> {
    // `…, says gitlab`.
    if words.windows(2).any(|pair| pair[0].is_break() && pair[1].is_one_of(&["says", "said"])) {
        return Vec::new();
    }
    let mut found: Vec<Action> = Vec::new();
    let mut add = |actions: Vec<Action>| {
        for action in actions {
            if !found.contains(&action) {
                found.push(action);
            }
        }
    };
    for at in 0..words.len() {
        add(at_word(words, at));
    }
    // What stands between is a list: `[possible values: read-only, …]`.
    let mut clauses = words.split(Word::is_break).filter(|clause| !clause.is_empty());
    for clause in clauses.next().into_iter().chain(clauses.next_back()) {
        add(whole(clause));
    }
    if !is_about_something(words) {
        add(with_what_there_is(words));
    }
    found
}

/// `can you please not push this?` and `leave it to me, ok?` are no questions, and what stands before a colon is none.
fn asked(words: &[Word]) -> Vec<Action> {
    // `hey, could you not …?`
    let from = words.iter().position(|word| !word.is_break() && !word.is_in(list("order-fillers"))).unwrap_or(0);
    let words = if words[..from].iter().any(Word::is_break) { &words[from..] } else { words };
    if let [first, second, rest @ ..] = words
        && first.is_one_of(&["can", "could", "would", "will"])
        && (second.is("you") || second.is("we") && rest.first().is_some_and(|word| word.is("not")))
    {
        let rest = skip(rest, &["please", "just", "maybe", "mind"]);
        return match rest {
            [not, rest @ ..] if not.is("not") => negated(rest),
            _ => stated(rest),
        };
    }
    let tags = ["ok", "okay", "please", "alright", "yes", "deal", "thanks", "pls"];
    match words {
        [said @ .., comma, tag] if comma.is_break() && tag.is_one_of(&tags) => stated(said),
        _ => {
            let end = words.iter().rposition(|word| word.is_break() && word.raw == ":").unwrap_or(0);
            stated(&words[..end])
        }
    }
}

/// What the word here forbids, with what stands around it.
fn at_word(words: &[Word], at: usize) -> Vec<Action> {
    let (word, rest) = (&words[at], &words[at + 1..]);
    if word.kind != Kind::Plain {
        return Vec::new();
    }
    let before = clause_before(words, at);
    let (order, wish) = (is_order(words, at), is_wish(words, at));
    match word.text.as_str() {
        "don't" if order && at > 0 && is_over(rest) && rest.len() < 2 => left_out(words, at),
        "never" if order => negated(rest),
        // `You can't run the tests without docker` says how it is.
        "can't" if order && is_impossible(rest) => Vec::new(),
        "don't" | "mustn't" | "shouldn't" | "can't" if order => negated(rest),
        "mustn't" | "shouldn't" if is_said(list("order-fillers").skip(before), &["we"]) => negated(rest),
        // What we cannot may be a complaint; of these it never is.
        "can't" if is_said(list("order-fillers").skip(before), &["we"]) => {
            use ConstraintKind as K;
            // `in production`: there, and not here.
            let there = |pair: &[Word]| pair[0].is_one_of(&["in", "on", "at"]) && pair[1].is_in(list("forbid-there"));
            if rest.windows(2).any(there) {
                return Vec::new();
            }
            let kinds = [K::Dependencies, K::Install, K::Touch, K::Only];
            let done = done_or_noun(skip(rest, &["do", "make", "have"]));
            done.into_iter().filter(|(kind, _)| kinds.contains(kind)).collect()
        }
        "don't" | "didn't" => wanted(before, word, rest),
        "mustn't" | "shouldn't" | "can't" => must_not(words, at),
        "aren't" | "isn't" if is_said(skip(before, &["and", "but"]), &["you"]) => allowed_to(rest),
        "forbid" if is_said(before, &["i"]) => {
            let rest = skip(rest, &["you", "to", "from"]);
            done_or_noun(rest)
        }
        "forbidden" | "prohibited" if is_said(before, &["you", "are"]) || is_said(before, &["you're"]) => {
            actions(skip(rest, &["to", "from"]))
        }
        "neither" if order => actions(rest),
        "split" if wish && splits(rest) => vec![(ConstraintKind::Separate, Vec::new())],
        "one"
            if order && matches!(rest, [what, per, ..] if (is_request(what) || what.is("commit")) && per.is("per")) =>
        {
            vec![(ConstraintKind::Separate, Vec::new())]
        }
        "forbidden" | "prohibited" if is_said(before, &["it's"]) || is_said(before, &["it", "is"]) => {
            after(rest, &["to"]).map(actions).unwrap_or_default()
        }
        "not" => not(words, at),
        "no" if before.last().is_some_and(|word| word.is_one_of(&["under", "at", "in", "by", "on"]))
            && before
                .iter()
                .rev()
                .skip(1)
                .all(|word| word.is_in(list("order-fillers")) || word.is_one_of(&["should", "must"])) =>
        {
            let does = list("forbid-cases").skip(rest);
            if does.len() < rest.len() { actions(does) } else { Vec::new() }
        }
        "no" if order && rest.first().is_some_and(|word| word.is("one")) => nobody(&rest[1..]),
        "no" if may_say_no(words, at) => noun(rest),
        "nowhere" if after(rest, &["else"]).is_some_and(is_over) => vec![(ConstraintKind::Only, Vec::new())],
        "won't" if is_said(skip(before, &["and", "but"]), &["you"]) => actions(skip(rest, &["be"])),
        "need" | "needs" | "require" | "requires" => on_approval(before, rest),
        "wait" if before.last().is_some_and(|word| word.is("can")) && is_over(rest) => {
            git_only(deeds(list("order-fillers").skip(&before[..before.len() - 1])))
        }
        "exception" | "excluding" if order || is_said(list("order-fillers").skip(before), &["with", "the"]) => {
            all_but(words.get(..at).unwrap_or_default(), skip(rest, &["of"]))
        }
        // `return without writing` is how code shall be.
        "without" => without(words, at),
        "stop" | "quit" if order => actions(until_how_often(rest)),
        "avoid" if wish => done_or_noun(rest),
        "hold" | "wait" if order => held(rest),
        "refrain" | "abstain" if wish => after(rest, &["from"]).map(done_or_noun).unwrap_or_default(),
        "skip" if order => skipped(rest),
        "leave" | "let" if wish => [left(rest), reserved(words, at)].concat(),
        "keep" if wish => [left(rest), kept(rest)].concat(),
        "stick" | "steer" if wish => kept(rest),
        "hands" if order => after(rest, &["off"]).map(hands_off).unwrap_or_default(),
        "i'll" | "i" | "i'm" | "we'll" | "i'd" => reserved(words, at),
        "by" if rest.first().is_some_and(|word| word.is("me")) => by_me(words, at),
        "untouched" | "unchanged" | "unmodified" | "intact" if is_over(rest) => {
            let thing = unwished_thing(before);
            thing.map(touched).unwrap_or_default()
        }
        "only" | "exclusively" | "solely" => {
            let looked = only_looks(before, rest);
            if looked.is_empty() { only(before, rest) } else { looked }
        }
        "asking" if is_asking(before) && is_over(rest) => vec![(ConstraintKind::Write, Vec::new())],
        "except" | "but" => {
            let apart = if word.is("except") { git_only(actions(rest)) } else { Vec::new() };
            if apart.is_empty() { all_but(before, rest) } else { apart }
        }
        "commit" | "push" | "merge" if order || at > 0 && words[at - 1].is("only") && is_order(words, at - 1) => {
            at_my_word(&words[at..])
        }
        "is" | "are" => is(words, at),
        "just" if order || ordered(before).is_some() => just(words, at),
        "stay" | "remain" if wish => [stay(rest), kept(rest)].concat(),
        "left" | "kept" if before.last().is_some_and(|word| word.is("be")) => stays(words, at),
        "stay" | "remain" | "stays" | "remains" => [stays(words, at), work_stays(before, rest)].concat(),
        "restrict" | "limit" | "confine" if wish => fenced(rest),
        "restricted" | "limited" | "confined" => work_is_fenced(before, rest),
        "nothing" if order => nothing(rest),
        "nothing" => does_nothing(words, at),
        "nobody" | "noone" if order => nobody(rest),
        "before" => asked_first(words, at),
        "separate" | "own" | "another" | "different" | "follow-up" | "followup" | "dedicated" => separate(words, at),
        "separately" if words[..at].iter().any(|word| word.is("commit") || is_request(word)) && is_over(rest) => {
            vec![(ConstraintKind::Separate, Vec::new())]
        }
        _ => Vec::new(),
    }
}

/// What cannot be done without something, which is not the human's word.
fn is_impossible(rest: &[Word]) -> bool {
    let clause = rest.iter().position(|word| word.is_break() && word.raw != ",").map_or(rest, |end| &rest[..end]);
    match clause.iter().position(|word| word.is_one_of(&["without", "unless", "because"])) {
        Some(at) => !clause[at..].iter().any(|word| word.is_in(list("forbid-mine")) || word.is("i")),
        None => false,
    }
}

/// `(no changes)` says how something is, not how it shall be.
fn may_say_no(words: &[Word], at: usize) -> bool {
    let aside = at > 0 && words[at - 1].raw == "(" && words[at - 1].is_break();
    let before = clause_before(words, at);
    let wanted = [
        &["with"][..],
        &["there", "will", "be"],
        &["there", "shall", "be"],
        &["i", "said"],
        &["i", "want"],
        &["we", "want"],
        &["there", "should", "be"],
        &["there", "must", "be"],
    ];
    let does =
        before.last().is_some_and(|word| word.is_one_of(&["make", "add", "introduce", "create", "do", "open", "use"]))
            && before[..before.len() - 1].iter().all(|word| word.is_in(list("order-fillers")));
    !aside && (is_order(words, at) || does || wanted.iter().any(|texts| is_said(skip(before, &["ok", "so"]), texts)))
}

pub(super) fn done_or_noun(rest: &[Word]) -> Vec<Action> {
    let done = actions(rest);
    if done.is_empty() { noun(rest) } else { done }
}

/// Who is told to stop something is told so however often they did it.
pub(super) fn until_how_often(rest: &[Word]) -> &[Word] {
    let often = |word: &Word| {
        word.is_one_of(&["automatically", "after", "every", "all", "constantly", "again", "each", "before"])
    };
    &rest[..rest.iter().skip(1).position(often).map_or(rest.len(), |at| at + 1)]
}

/// `skip the e2e tests`, `skip running them`, `skip the PR`.
fn skipped(rest: &[Word]) -> Vec<Action> {
    if rest.first().is_some_and(|word| word.is("running")) {
        return actions(rest);
    }
    let what = skip(rest, &["the", "any", "all", "slow"]);
    match thing::named(what) {
        Some((_, len)) if is_over(skip(&what[len..], &["suite", "run"])) => {
            run_object(what).map(|line| vec![(ConstraintKind::Run, vec![line])]).unwrap_or_default()
        }
        Some(_) => Vec::new(),
        None => git_only(done_or_noun(what)),
    }
}

/// A sentence that orders something may say how not to do it; one about something else describes it.
fn may_go_without(words: &[Word], at: usize) -> bool {
    let negated = words[..at].iter().any(|word| word.text.ends_with("n't") || word.is_one_of(&["never", "not", "no"]));
    let of_something = words[..at].iter().any(|word| word.is_one_of(&["that", "which", "who"]));
    // `You committed without running the tests`.
    let told = clause_before(words, at).windows(2).any(|pair| pair[0].is("you") && pair[1].text.ends_with("ed"));
    !is_about_something(words) && !negated && !of_something && !told
}

/// What follows `without`, where somebody is told to do something so.
fn without(words: &[Word], at: usize) -> Vec<Action> {
    use ConstraintKind as K;
    // `tests for the case without network`.
    if at > 0 && words[at - 1].is_in(list("forbid-without")) {
        return Vec::new();
    }
    let rest = &words[at + 1..];
    // `this has to work without new dependencies` is for whoever makes it work.
    let this = words.first().is_some_and(|word| word.is_one_of(&["this", "it", "that"]));
    let ordered = ordered(words).is_some() || is_order(words, at);
    let may = may_go_without(words, at);
    let told =
        ["tell", "answer", "explain", "show", "find", "describe", "analyse", "analyze", "look", "review", "check"];
    let keeps = |kind: K| match kind {
        // `return without writing` is how code shall be; who is to answer is to do nothing else.
        K::Write => may && words.iter().any(|word| word.is_one_of(&told)),
        K::Dependencies => may || this,
        // `it runs without docker`.
        K::Run => may && ordered,
        _ => may,
    };
    done_or_noun(rest).into_iter().filter(|(kind, _)| keeps(*kind)).collect()
}

/// `commit nothing`, `touch nothing outside src/`: as `commit anything`, denied.
fn does_nothing(words: &[Word], at: usize) -> Vec<Action> {
    if at == 0 || !is_order(words, at - 1) || !is_verb(&words[at - 1..]) {
        return Vec::new();
    }
    let mut denied = vec![words[at - 1].clone(), Word::of("anything")];
    denied.extend_from_slice(&words[at + 1..]);
    actions(&denied)
}

/// `nobody may touch src/billing/`.
fn nobody(rest: &[Word]) -> Vec<Action> {
    match rest {
        [is, allowed, to, rest @ ..] if is.is("is") && allowed.is("allowed") && to.is("to") => {
            actions(rest).into_iter().filter(|(kind, _)| *kind == ConstraintKind::Touch).collect()
        }
        [modal, rest @ ..] if modal.is_one_of(&["may", "should", "must", "shall"]) => {
            actions(rest).into_iter().filter(|(kind, _)| *kind == ConstraintKind::Touch).collect()
        }
        _ => Vec::new(),
    }
}

fn is_asking(before: &[Word]) -> bool {
    is_said(before, &["i'm", "only"]) || is_said(before, &["i'm", "just"])
}

/// `in a separate PR`, `into its own commit`, `make it another PR`.
fn separate(words: &[Word], at: usize) -> Vec<Action> {
    let what = words.get(at + 1).is_some_and(|word| is_request(word) || word.is_one_of(&["commit", "branch"]));
    let before = words[..at].iter().rev().filter(|word| !word.is_one_of(&["a", "its", "their", "an"]));
    let into = before.take(1).any(|word| word.is_one_of(&["in", "as", "into", "be"]))
        || at == 0 && words.get(2).is_some_and(|word| word.is("for"));
    // `don't create another branch`.
    if clause_before(words, at).iter().any(|word| word.text.ends_with("n't") || word.is_one_of(&["no", "never"])) {
        return Vec::new();
    }
    let orders = ["put", "split", "move", "make", "do", "keep", "goes", "belongs", "open", "use"];
    let ordered = words[..at].iter().any(|word| word.is_one_of(&orders)) && !words[at].is("own");
    let asked_for = ordered && ends(words.get(at + 2).filter(|word| !word.is_one_of(&["request"])));
    if what && (into && !is_doubted(words) || asked_for) {
        vec![(ConstraintKind::Separate, Vec::new())]
    } else {
        Vec::new()
    }
}

/// `this into two PRs`.
fn splits(rest: &[Word]) -> bool {
    rest.iter().take(7).any(|word| word.is_one_of(&["prs", "commits", "mrs"]))
}

/// `document the separate PR workflow` speaks of it.
fn is_doubted(words: &[Word]) -> bool {
    words.first().is_some_and(|word| word.is_one_of(&["document", "explain", "describe"]))
}
