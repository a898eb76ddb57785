//! A human who corrects themselves: `don't commit yet — actually, commit`.

use steadfast_model::Constraint;

use super::words::{Sentence, Word};
use super::{Lift, without};

/// How a correction begins.
const TURNS: [&[&str]; 12] = [
    &["actually"],
    &["no", "wait"],
    &["wait", "no"],
    &["wait"],
    &["scratch", "that"],
    &["on", "second", "thought"],
    &["never", "mind"],
    &["nevermind"],
    &["correction"],
    &["forget", "that"],
    &["ignore", "that"],
    &["strike", "that"],
];

/// Those that take back what was said, whatever follows.
const TAKE_BACK: [&[&str]; 6] = [
    &["scratch", "that"],
    &["never", "mind"],
    &["nevermind"],
    &["forget", "that"],
    &["ignore", "that"],
    &["strike", "that"],
];

fn turn<'a>(words: &[Word], turns: &[&'a [&'a str]]) -> Option<&'a [&'a str]> {
    let fits =
        |texts: &&&[&str]| words.len() >= texts.len() && texts.iter().zip(words).all(|(text, word)| word.is(text));
    turns.iter().find(fits).copied()
}

fn begins(words: &[Word]) -> bool {
    let said = words
        .iter()
        .position(|word| !word.is_break() && !word.is_one_of(&["hmm", "oh", "ah", "ok", "no", "sorry", "but"]));
    let from = said.unwrap_or(0);
    turn(words, &TURNS).is_some() || turn(&words[from.min(words.len())..], &TURNS).is_some()
}

/// Makes two sentences of one that corrects itself: what was said, and what counts.
pub(super) fn split(sentences: Vec<Sentence>) -> Vec<Sentence> {
    let mut all = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let words = &sentence.words;
        let at = (1..words.len()).find(|at| words[at - 1].is_break() && turn(&words[*at..], &TURNS).is_some());
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

/// Takes out of what was forbidden before in the same text what a correction allows.
pub(super) fn take_back(sentence: &Sentence, allowed: &[Lift], constraints: &mut Vec<Constraint>) {
    if !begins(&sentence.words) {
        return;
    }
    if turn(&sentence.words, &TAKE_BACK).is_some() {
        constraints.pop();
    }
    for lift in allowed {
        let left = constraints.drain(..).filter_map(|constraint| without(constraint, lift)).collect();
        *constraints = left;
    }
}
