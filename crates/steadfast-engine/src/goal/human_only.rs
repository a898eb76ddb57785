//! Reads the actions that the human reserves for themselves.
//!
//! Past actions and habits of the human reserve nothing: `I merged it myself`, `I run the tests on a mac`.

use steadfast_words::Word;

use super::action::{Action, actions};
use super::noun::deeds;
use super::order::{after, clause_before};
use super::{grammar, list};

/// `don't worry about pushing, I'll do that`: reads the action that was mentioned before.
pub(super) fn spoken_of(words: &[Word], at: usize) -> Vec<Action> {
    let before = clause_before(words, at.saturating_sub(1));
    (0..before.len()).map(|from| deeds(&before[from..])).find(|done| !done.is_empty()).unwrap_or_default()
}

/// Returns true if the human says that they do it in person, up to the next thought.
pub(super) fn is_in_person(rest: &[Word]) -> bool {
    let said = clause(rest);
    let own = said.windows(2).any(|pair| pair[0].is("my") && pair[1].is("own"));
    own || said.iter().any(is_self)
}

fn is_self(word: &Word) -> bool {
    word.is_one_of(&["myself", "personally"])
}

/// Returns the words up to the next thought.
fn clause(words: &[Word]) -> &[Word] {
    let end = (0..words.len()).find(|at| grammar::fits("new-thought", &words[*at..]).is_some());
    &words[..end.unwrap_or(words.len())]
}

/// Reads the actions that the human will do: `push it myself`, `review and commit`.
pub(super) fn will_do(said: &[Word]) -> Vec<Action> {
    let bare: Vec<Word> = said.iter().filter(|word| !is_self(word)).cloned().collect();
    let done = actions(&bare);
    let and = bare.iter().position(|word| word.is("and")).filter(|_| done.is_empty());
    and.map(|and| actions(&bare[and + 1..])).unwrap_or(done)
}

/// `I push, you don't`: reads a sentence that gives the human and the agent different jobs.
pub(super) fn two_jobs(rest: &[Word]) -> Vec<Action> {
    let said = clause(rest);
    let two = rest.get(said.len()).is_some_and(Word::is_break)
        && (rest.get(said.len() + 1).is_some_and(|word| word.is("you"))
            || after(&rest[said.len() + 1..], &["not", "you"]).is_some());
    if two { actions(said) } else { Vec::new() }
}

/// Reads the things that the human takes care of.
pub(super) fn handled(object: &[Word]) -> Vec<Action> {
    let bare: Vec<Word> = object.iter().filter(|word| !word.is_in(list("reserve-beside"))).cloned().collect();
    deeds(&bare)
}
