//! The words that orders are made of, from the table beside this file.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::goal::words::Word;

const TABLE: &str = include_str!("words.tsv");

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Filler,
    Polite,
    When,
    Asks,
    Work,
    Listed,
    Single,
    Using,
    Around,
    Go,
    Agrees,
    Yes,
    Stop,
    Leave,
    LeaveAround,
    Not,
    Ends,
    Own,
    OwnOnly,
    Light,
    Left,
    Noun,
    Weak,
    Carrier,
    List,
    From,
    Next,
    Tail,
    Over,
    It,
    AllOfIt,
    GoTail,
    StopTail,
    Alone,
    GermanWork,
    GermanNoun,
    GermanLeave,
    GermanNot,
}

const NAMES: [(&str, Class); 38] = [
    ("filler", Class::Filler),
    ("polite", Class::Polite),
    ("when", Class::When),
    ("asks", Class::Asks),
    ("work", Class::Work),
    ("listed", Class::Listed),
    ("single", Class::Single),
    ("using", Class::Using),
    ("around", Class::Around),
    ("go", Class::Go),
    ("agrees", Class::Agrees),
    ("yes", Class::Yes),
    ("stop", Class::Stop),
    ("leave", Class::Leave),
    ("leave-around", Class::LeaveAround),
    ("not", Class::Not),
    ("ends", Class::Ends),
    ("self", Class::Own),
    ("self-only", Class::OwnOnly),
    ("light", Class::Light),
    ("left", Class::Left),
    ("noun", Class::Noun),
    ("weak", Class::Weak),
    ("carrier", Class::Carrier),
    ("list", Class::List),
    ("from", Class::From),
    ("next", Class::Next),
    ("tail", Class::Tail),
    ("over", Class::Over),
    ("it", Class::It),
    ("all-of-it", Class::AllOfIt),
    ("go-tail", Class::GoTail),
    ("stop-tail", Class::StopTail),
    ("alone", Class::Alone),
    ("de-work", Class::GermanWork),
    ("de-noun", Class::GermanNoun),
    ("de-leave", Class::GermanLeave),
    ("de-not", Class::GermanNot),
];

/// The phrases of a class, each as its words, by their first word.
type Phrases = HashMap<&'static str, Vec<Vec<&'static str>>>;

static LEXICON: LazyLock<Vec<Phrases>> = LazyLock::new(|| {
    let mut lexicon: Vec<Phrases> = NAMES.iter().map(|_| Phrases::new()).collect();
    for (name, words) in TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t')) {
        let class = NAMES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class as usize);
        let Some(phrases) = class.and_then(|class| lexicon.get_mut(class)) else { continue };
        for phrase in words.split('|') {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            phrases.entry(phrase[0]).or_default().push(phrase);
        }
    }
    lexicon
});

impl Class {
    /// The phrases that begin with the first of these words.
    fn by_first(self, words: &[Word]) -> &'static [Vec<&'static str>] {
        let first = words.first().map(|word| word.text.as_str()).unwrap_or_default();
        LEXICON.get(self as usize).and_then(|phrases| phrases.get(first)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn knows(self, first: &str) -> bool {
        LEXICON.get(self as usize).is_some_and(|phrases| phrases.contains_key(first))
    }

    /// The lengths of all phrases of this class at the beginning, the longest first.
    pub(super) fn all_at(self, words: &[Word]) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.by_first(words).iter().filter(|phrase| begins(words, phrase)).map(Vec::len).collect();
        found.sort_unstable_by(|left, right| right.cmp(left));
        found
    }

    /// How many words of the beginning are the longest phrase of this class. Zero: none is.
    pub(super) fn at(self, words: &[Word]) -> usize {
        let stands = |phrase: &&Vec<&str>| begins(words, phrase);
        self.by_first(words).iter().filter(stands).map(Vec::len).max().unwrap_or(0)
    }

    /// All of the words are one phrase.
    pub(super) fn is(self, words: &[Word]) -> bool {
        !words.is_empty() && self.at(words) == words.len()
    }

    pub(super) fn has(self, words: &[Word]) -> bool {
        (0..words.len()).any(|at| self.at(&words[at..]) > 0)
    }

    /// The words without those of this class that they begin with.
    pub(super) fn skip(self, mut words: &[Word]) -> &[Word] {
        loop {
            match self.at(words) {
                0 => return words,
                found => words = &words[found..],
            }
        }
    }

    /// What stands between the two halves of a phrase, and what follows it.
    pub(super) fn around(self, words: &[Word]) -> Option<(&[Word], &[Word])> {
        self.by_first(words).iter().find_map(|phrase| {
            let gap = phrase.iter().position(|word| *word == "…")?;
            let (head, tail) = (&phrase[..gap], &phrase[gap + 1..]);
            let inner = words.get(gap..).filter(|_| begins(words, head))?;
            let end = (1..inner.len()).find(|at| begins(&inner[*at..], tail))?;
            Some((&inner[..end], &inner[end + tail.len()..]))
        })
    }
}

pub(super) fn begins(words: &[Word], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && phrase.iter().zip(words).all(|(text, word)| word.is(text))
}

#[cfg(test)]
pub(super) fn is_known(name: &str) -> bool {
    NAMES.iter().any(|(known, _)| *known == name)
}
