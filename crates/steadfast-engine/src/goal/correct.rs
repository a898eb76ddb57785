//! A human who corrects themselves: `don't commit yet — actually, commit`.

use steadfast_model::Constraint;

use super::{Lift, list, without};
use steadfast_words::{Word, prompt::Sentence};

fn begins(words: &[Word]) -> bool {
    let said = words
        .iter()
        .position(|word| !word.is_break() && !word.is_one_of(&["hmm", "oh", "ah", "ok", "no", "sorry", "but"]));
    let from = said.unwrap_or(0);
    list("correct-turns").at(words) > 0 || list("correct-turns").at(&words[from.min(words.len())..]) > 0
}

/// Makes two sentences of one that corrects itself: what was said, and what counts.
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

/// Takes out of what was forbidden before in the same text what a correction allows.
pub(super) fn take_back(sentence: &Sentence, allowed: &[Lift], constraints: &mut Vec<Constraint>) {
    if !begins(&sentence.words) {
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
