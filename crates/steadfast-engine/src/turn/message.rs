//! Reads an agent's last message for an offer to go on and for a claim that tests pass.

use std::sync::LazyLock;

use steadfast_words::prompt::{Sentence, sentences};
use steadfast_words::{Phrases, Vocabulary, Word};

static LISTS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("words.txt")));

fn list(name: &str) -> &'static Phrases {
    LISTS.list(name)
}

/// The end of a message, in sentences. An offer stands there.
const END: usize = 4;

/// The most words between `tests` and `pass`, and before them that can take the claim back.
const NEAR: usize = 5;
const BEFORE: usize = 6;

/// An agent's last message, as sentences without code and quotations.
#[derive(Debug)]
pub(super) struct Message {
    sentences: Vec<Sentence>,
}

impl Message {
    pub(super) fn of(text: &str) -> Self {
        Self { sentences: sentences(text) }
    }

    /// Returns the sentence that offers to go on. `open`: other signs show that work is open, so any offer counts.
    pub(super) fn offer(&self, open: bool) -> Option<&str> {
        let open = open || self.names_undone();
        let from = self.sentences.len().saturating_sub(END);
        let offers = |sentence: &&Sentence| {
            let words = &sentence.words;
            let offer = is_offer(words) && !is_choice(sentence);
            offer && (open || list("onward").within(words))
        };
        self.sentences[from..].iter().rev().find(offers).map(|sentence| sentence.said.as_str())
    }

    fn names_undone(&self) -> bool {
        self.sentences.iter().any(|sentence| !sentence.asks && list("undone").within(&sentence.words))
    }

    /// Returns the sentence that says that tests pass.
    pub(super) fn claim(&self) -> Option<&str> {
        self.sentences.iter().find(|sentence| !sentence.asks && claims(&sentence.words)).map(|one| one.said.as_str())
    }
}

/// "Whenever you want to continue" is left to the human, and no offer.
fn is_offer(words: &[Word]) -> bool {
    let at =
        |at: usize| list("offer").at(&words[at..]) > 0 && !(words[at].is("want") && at > 0 && words[at - 1].is("you"));
    (0..words.len()).any(at)
}

/// A question with other answers than yes and no.
fn is_choice(sentence: &Sentence) -> bool {
    let words = &sentence.words;
    sentence.asks && (words.first().is_some_and(|word| word.is_in(list("choice"))) || list("or").within(words))
}

fn claims(words: &[Word]) -> bool {
    let is = |at: usize, name: &str| list(name).at(&words[at..]) > 0;
    (0..words.len()).filter(|at| is(*at, "tests")).any(|tests| {
        let (from, to) = (tests.saturating_sub(NEAR), (tests + NEAR + 1).min(words.len()));
        let passes = (from..to).filter(|at| is(*at, "pass")).min_by_key(|at| at.abs_diff(tests));
        passes.is_some_and(|pass| {
            let (first, last) = (tests.min(pass), tests.max(pass));
            !(first.saturating_sub(BEFORE)..last).any(|at| is(at, "unsure"))
        })
    })
}
