//! Replaces `it`, `them` and `one` by what they refer to, where they are the object of a possible prohibition.

use steadfast_words::{Word, WordKind};

use super::list;
use super::order::ordered;
use super::target;

/// Returns the words of a sentence with the pronouns replaced.
pub(super) fn resolved(words: &[Word], sentence_before: &[Word]) -> Vec<Word> {
    let mut resolved: Vec<Word> = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let verb = at.checked_sub(1).map(|before| &words[before]);
        let changes = verb.is_some_and(|verb| verb.is_in(list("refer-changes")));
        let starts = verb.is_some_and(|verb| verb.is_one_of(&["start", "restart", "launch", "run", "execute"]));
        let stands_for = if (changes || starts)
            && word.is_one_of(&["it", "them", "those", "these"])
            && goes_no_further(words, at + 1)
        {
            let here = things(&words[..at - 1]);
            // `Anna works on src/db. Don't touch it.` is a prohibition; an order to work there is not followed by one.
            let denied = words.first().is_some_and(|word| word.is("don't") || word.is("please") || word.is("never"));
            let elsewhere = here.is_empty() && denied && at < 5 && ordered(sentence_before).is_none();
            if elsewhere { things(sentence_before) } else { here }
        } else if word.is("there") && verb.is_some_and(|verb| verb.is_one_of(&["of", "from", "in", "anything"])) {
            let place = things(&words[..at - 1]);
            let inside = verb.is_some_and(|verb| verb.is("anything")) && !place.is_empty();
            if inside { [vec![Word::of("in")], place].concat() } else { place }
        } else if word.is_one_of(&["one", "ones"]) || word.is("any") && goes_no_further(words, at + 1) {
            made(words, at)
        } else {
            Vec::new()
        };
        if stands_for.is_empty() {
            resolved.push(word.clone());
        } else {
            resolved.extend(stands_for);
        }
        // `Makefile: don't touch`.
        let bare =
            changes_nothing(words, at) && words.get(at + 1).is_none_or(|word| word.is_break() || word.is("please"));
        if bare && words[at].is("off") {
            resolved.extend(things(&words[..at]));
        } else if bare && let Some(end) = words[..at].iter().position(|word| word.is_break() && word.raw == ":") {
            let titled = things(&words[..end]);
            if titled.len() == end {
                resolved.extend(titled);
            }
        }
    }
    resolved
}

fn changes_nothing(words: &[Word], at: usize) -> bool {
    words[at].is_one_of(&["touch", "change", "edit", "modify"])
        || (words[at].is("off") && at > 0 && words[at - 1].is("hands"))
}

fn goes_no_further(words: &[Word], at: usize) -> bool {
    words.get(at).is_none_or(|word| word.is_break() || word.is_in(list("refer-goes-on")))
}

/// Returns the paths and things named last, with a word between them.
fn things(before: &[Word]) -> Vec<Word> {
    let mut last: Vec<Word> = Vec::new();
    for clause in before.split(Word::is_break) {
        let mut found: Vec<Word> = Vec::new();
        let (mut at, mut general) = (0, Vec::new());
        while at < clause.len() {
            let named = target::named(&clause[at..]).map_or(0, |(_, len)| len);
            let len = if target::path(&clause[at]).is_some() { 1 } else { named };
            if len > 0 {
                if !found.is_empty() {
                    found.push(Word::of("and"));
                }
                found.extend_from_slice(&clause[at..at + len]);
            } else if clause[at].is_one_of(&["files", "code"]) {
                general.push(clause[at].clone());
            }
            at += len.max(1);
        }
        let found = if found.is_empty() { general } else { found };
        if !found.is_empty() {
            last = found;
        }
    }
    last
}

/// Returns the noun that `one` refers to, where something is made.
fn made(words: &[Word], at: usize) -> Vec<Word> {
    let makes = words[..at].iter().rev().take(4).any(|word| word.is_in(list("refer-makes")) || word.is("no"));
    let noun = words[..at].iter().rev().find(|word| word.kind == WordKind::Plain && word.is_in(list("refer-nouns")));
    let named = |noun: &Word| {
        if noun.is("request") { vec![Word::of("pull"), noun.clone()] } else { vec![noun.clone()] }
    };
    noun.filter(|_| makes).map(named).unwrap_or_default()
}
