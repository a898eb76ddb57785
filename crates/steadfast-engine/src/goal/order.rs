//! Finds out who is addressed: an order to the agent begins its clause; other clauses describe something.

use steadfast_words::Word;

use super::object::skip;
use super::{grammar, list};

/// Returns the words of this clause up to here.
pub(super) fn clause_before(words: &[Word], at: usize) -> &[Word] {
    let joins = |word: &Word| word.is_break() || word.is_one_of(&["but", "and", "so", "then", "except"]);
    let from = words[..at].iter().rposition(joins).map_or(0, |break_at| break_at + 1);
    &words[from..at]
}

/// Returns true if an order may begin here.
pub(super) fn is_order(words: &[Word], at: usize) -> bool {
    let before = skip(clause_before(words, at), &["and", "please", "but", "as"]);
    // `when finished`, `once you're done`: the order counts now as well as then.
    let before = grammar::fits("done-first", before).map_or(before, |found| found.rest);
    if is_said(before, &["i", "said"]) || is_said(before, &["i", "repeat"]) {
        return true;
    }
    // `it is important that you`.
    let minded =
        before.iter().any(|word| word.is_one_of(&["important", "ensure", "crucial", "essential", "sure", "certain"]));
    let told = minded && before.last().is_some_and(|word| word.is("you"));
    (told || before.iter().all(|word| word.is_in(list("order-fillers"))))
        && !is_supposed(&words[..at])
        && !is_reported(&words[..at])
}

/// `the linter complains: do not use it`: the words of someone else, until the human continues.
pub(crate) fn is_reported(before: &[Word]) -> bool {
    let from = before.iter().rposition(|word| word.is_one_of(&["but", "so", "please"])).unwrap_or(0);
    let mine = |at: usize| at > 0 && before[at - 1].is_one_of(&["i", "we", "i've"]);
    (from..before.len()).any(|at| before[at].is_in(list("order-says")) && !mine(at))
}

/// Returns the words after a wish.
pub(super) fn unwished(before: &[Word]) -> &[Word] {
    after_one(before, "order-wishes").unwrap_or(before)
}

/// Returns true if an order or a wish may begin here: `I'd like to avoid`, `you should leave`.
pub(super) fn is_wish(words: &[Word], at: usize) -> bool {
    let before = list("order-fillers").skip(clause_before(words, at));
    let all = |rest: &[Word]| rest.iter().all(|word| word.is_in(list("order-fillers")));
    // `it would be great if you could`.
    let kind = before.iter().any(|word| word.is_one_of(&["great", "nice", "good", "appreciate", "cool", "better"]));
    let if_you = matches!(before, [.., if_, you, could]
        if if_.is("if") && you.is("you") && could.is_one_of(&["could", "would", "can"]));
    kind && if_you
        || is_order(words, at)
        || (after_one(before, "order-wishes").is_some_and(all) && !is_supposed(&words[..at]))
}

/// `If I branch off, then don't commit`: nothing is ordered yet.
fn is_supposed(before: &[Word]) -> bool {
    before.windows(2).any(|pair| pair[0].is("if") && pair[1].is_one_of(&["i", "we", "someone", "users", "a", "the"]))
}

/// Returns the verb of an order.
pub(super) fn ordered(words: &[Word]) -> Option<&Word> {
    list("order-fillers").skip(words).first().filter(|word| word.is_in(list("order-orders"))).or_else(|| {
        // `make` also begins fillers: `make sure`.
        words.first().filter(|word| word.is("make"))
    })
}

/// Returns true if a sentence describes something: it begins with its subject.
pub(super) fn is_about_something(words: &[Word]) -> bool {
    // `make it faster` orders something, `make sure the cache` does not.
    let makes = |pair: &[Word]| pair[0].is("make") && !pair[1].is_one_of(&["sure", "certain"]);
    !words.windows(2).take(2).any(makes)
        && list("order-fillers").skip(words).first().is_some_and(|word| word.is_in(list("order-subjects")))
}

pub(super) fn after<'a>(words: &'a [Word], texts: &[&str]) -> Option<&'a [Word]> {
    let stands = words.len() >= texts.len() && texts.iter().zip(words).all(|(text, word)| word.is(text));
    stands.then(|| &words[texts.len()..])
}

/// Returns the words after the longest phrase of a list.
pub(super) fn after_one<'a>(words: &'a [Word], name: &str) -> Option<&'a [Word]> {
    let found = list(name).at(words);
    (found > 0).then(|| &words[found..])
}

pub(super) fn is_said(words: &[Word], texts: &[&str]) -> bool {
    words.len() == texts.len() && after(words, texts).is_some()
}

/// Returns true if a clause ends here, apart from words for when, why or for whom: `for now`, `until I say so`,
/// `please`.
pub(super) fn is_over(words: &[Word]) -> bool {
    grammar::fits("over", words).is_some()
}
