//! The words that orders are made of, from the table beside this file.

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
    GermanNot,
}

const NAMES: [(&str, Class); 36] = [
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
    ("de-not", Class::GermanNot),
];

/// The phrases of a class, each as its words.
type Phrases = Vec<Vec<&'static str>>;

static LEXICON: LazyLock<Vec<(Class, Phrases)>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let (name, words) = line.split_once('\t')?;
        let (_, class) = NAMES.iter().find(|(known, _)| *known == name)?;
        Some((*class, words.split('|').map(|phrase| phrase.split(' ').collect()).collect()))
    })
    .collect()
});

impl Class {
    pub(super) fn phrases(self) -> &'static [Vec<&'static str>] {
        LEXICON.iter().find(|(class, _)| *class == self).map_or(&[], |(_, phrases)| phrases)
    }

    /// How many words of the beginning are the longest phrase of this class. Zero: none is.
    pub(super) fn at(self, words: &[Word]) -> usize {
        let stands = |phrase: &&Vec<&str>| begins(words, phrase);
        self.phrases().iter().filter(stands).map(Vec::len).max().unwrap_or(0)
    }

    /// All of the words are one phrase.
    pub(super) fn is(self, words: &[Word]) -> bool {
        !words.is_empty() && self.phrases().iter().any(|phrase| phrase.len() == words.len() && begins(words, phrase))
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
        self.phrases().iter().find_map(|phrase| {
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
