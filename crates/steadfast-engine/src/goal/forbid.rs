//! Reads the prohibitions of a sentence. Every word that can forbid is read with the words around it; each class of
//! sentences has its own file.
//!
//! A sentence about anyone but the agent describes code: `the worker must not delete the file`.

use steadfast_model::ConstraintKind;
use steadfast_words::{Word, WordKind, prompt::Sentence};

use super::action::{Action, actions};
use super::object::skip;
use super::order::{clause_before, is_about_something, is_order, ordered};
use super::pronoun::resolved;
use super::target::is_verb;
use super::{grammar, list};

pub(super) fn forbidden(sentence: &Sentence, sentence_before: &[Word]) -> Vec<Action> {
    let words = resolved(&sentence.words, sentence_before);
    let words = own_words(&words);
    if sentence.asks { asked(words) } else { stated(words) }
}

/// Returns a sentence up to a text that it quotes: `add to CONTRIBUTING.md the sentence: do not push to main`.
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
        if words[at].kind == WordKind::Plain {
            add(grammar::at_word(words, at));
        }
    }
    // The clauses between the first and the last are a list: `[possible values: read-only, …]`.
    let mut clauses = words.split(Word::is_break).filter(|clause| !clause.is_empty());
    for clause in clauses.next().into_iter().chain(clauses.next_back()) {
        add(grammar::read("whole", clause));
    }
    if !is_about_something(words) {
        add(grammar::read("with-what-there-is", words));
    }
    found
}

/// Reads a sentence with a question mark. `can you please not push this?` and `leave it to me, ok?` are orders, and so
/// are the words before a colon.
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
            [not, rest @ ..] if not.is("not") => grammar::read("negated", rest),
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

/// Returns true if an action is impossible without something other than the human's approval.
pub(super) fn is_impossible(rest: &[Word]) -> bool {
    let clause = rest.iter().position(|word| word.is_break() && word.raw != ",").map_or(rest, |end| &rest[..end]);
    match clause.iter().position(|word| word.is_one_of(&["without", "unless", "because"])) {
        Some(at) => !clause[at..].iter().any(|word| word.is_in(list("forbid-mine")) || word.is("i")),
        None => false,
    }
}

/// `(no changes)` describes; it forbids nothing.
pub(super) fn is_aside(words: &[Word], at: usize) -> bool {
    at > 0 && words[at - 1].raw == "(" && words[at - 1].is_break()
}

pub(super) fn done_or_noun(rest: &[Word]) -> Vec<Action> {
    let done = actions(rest);
    if done.is_empty() { grammar::read("noun", rest) } else { done }
}

/// Reads an order to stop something, without the words about how often it happened.
pub(super) fn until_how_often(rest: &[Word]) -> Vec<Action> {
    let often = |word: &Word| {
        word.is_one_of(&["automatically", "after", "every", "all", "constantly", "again", "each", "before"])
    };
    actions(&rest[..rest.iter().skip(1).position(often).map_or(rest.len(), |at| at + 1)])
}

/// Returns true if the sentence is an order, which may say what to do without. A sentence about something else
/// describes it.
fn may_go_without(words: &[Word], at: usize) -> bool {
    let negated = words[..at].iter().any(|word| word.text.ends_with("n't") || word.is_one_of(&["never", "not", "no"]));
    let of_something = words[..at].iter().any(|word| word.is_one_of(&["that", "which", "who"]));
    // `You committed without running the tests`.
    let told = clause_before(words, at).windows(2).any(|pair| pair[0].is("you") && pair[1].text.ends_with("ed"));
    !is_about_something(words) && !negated && !of_something && !told
}

/// Reads the words after `without` in an order.
pub(super) fn without(words: &[Word], at: usize) -> Vec<Action> {
    use ConstraintKind as K;
    // `tests for the case without network`.
    if at > 0 && words[at - 1].is_in(list("forbid-without")) {
        return Vec::new();
    }
    let rest = &words[at + 1..];
    // `this has to work without new dependencies` is an order, too.
    let this = words.first().is_some_and(|word| word.is_one_of(&["this", "it", "that"]));
    let ordered = ordered(words).is_some() || is_order(words, at);
    let may = may_go_without(words, at);
    let told =
        ["tell", "answer", "explain", "show", "find", "describe", "analyse", "analyze", "look", "review", "check"];
    let keeps = |kind: K| match kind {
        // `return without writing` describes the code; in an order to answer or look it forbids changes.
        K::Write => may && words.iter().any(|word| word.is_one_of(&told)),
        K::Dependencies => may || this,
        // `it runs without docker`.
        K::Run => may && ordered,
        _ => may,
    };
    done_or_noun(rest).into_iter().filter(|(kind, _)| keeps(*kind)).collect()
}

/// `commit nothing`, `touch nothing outside src/`: read like `commit anything`, denied.
pub(super) fn does_nothing(words: &[Word], at: usize) -> Vec<Action> {
    if at == 0 || !is_order(words, at - 1) || !is_verb(&words[at - 1..]) {
        return Vec::new();
    }
    let mut denied = vec![words[at - 1].clone(), Word::of("anything")];
    denied.extend_from_slice(&words[at + 1..]);
    actions(&denied)
}
