//! Named lists of phrases, from a text file.
//!
//! A list is a line `name: word, two words, …`. Indented lines continue it, and `#` begins a comment. A phrase with `…`
//! has a gap.

use std::collections::HashMap;

use crate::Word;

/// The lists of a file, by name.
#[derive(Debug, Default)]
pub struct Vocabulary {
    lists: HashMap<&'static str, Phrases>,
    empty: Phrases,
}

/// The phrases of a list by their first words, each as its words.
#[derive(Debug, Default)]
pub struct Phrases(HashMap<&'static str, Vec<Vec<&'static str>>>);

impl Vocabulary {
    pub fn of(file: &'static str) -> Self {
        let mut found = Self::default();
        let (mut name, mut phrase) = ("", Vec::new());
        for line in file.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let mut rest = line;
            if !line.starts_with(' ')
                && let Some((new, first)) = line.split_once(':')
            {
                found.add(name, std::mem::take(&mut phrase));
                (name, rest) = (new, first);
                found.lists.entry(name).or_default();
            }
            for word in rest.split_whitespace() {
                phrase.push(word.trim_end_matches(','));
                if word.ends_with(',') {
                    found.add(name, std::mem::take(&mut phrase));
                }
            }
        }
        found.add(name, phrase);
        found
    }

    fn add(&mut self, name: &'static str, phrase: Vec<&'static str>) {
        if let Some(first) = phrase.first() {
            self.lists.entry(name).or_default().0.entry(first).or_default().push(phrase);
        }
    }

    /// Returns the list with the longest phrase that the words begin with, and the number of its words.
    pub fn which(&self, words: &[Word]) -> Option<(&'static str, usize)> {
        let found = self.lists.iter().map(|(name, list)| (*name, list.at(words)));
        found.filter(|(_, len)| *len > 0).max_by_key(|(_, len)| *len)
    }

    /// Returns a list. An unknown name gives an empty list; a test of the file's owner finds it.
    pub fn list(&self, name: &str) -> &Phrases {
        self.lists.get(name).unwrap_or(&self.empty)
    }

    pub fn has(&self, name: &str) -> bool {
        self.lists.contains_key(name)
    }

    pub fn lists(&self) -> impl Iterator<Item = (&'static str, &Phrases)> {
        self.lists.iter().map(|(name, list)| (*name, list))
    }
}

impl Phrases {
    /// Returns true if a single word is one of the phrases.
    pub fn has(&self, text: &str) -> bool {
        self.0.get(text).is_some_and(|phrases| phrases.iter().any(|phrase| phrase.len() == 1))
    }

    /// Returns true if a phrase begins with this word.
    pub fn begin(&self, text: &str) -> bool {
        self.0.contains_key(text)
    }

    pub fn iter(&self) -> impl Iterator<Item = &[&'static str]> {
        self.0.values().flatten().map(Vec::as_slice)
    }

    fn by_first(&self, words: &[Word]) -> &[Vec<&'static str>] {
        let first = words.first().map(|word| word.text.as_str()).unwrap_or_default();
        self.0.get(first).map_or(&[], Vec::as_slice)
    }

    /// Returns the lengths of all phrases that the words begin with, longest first.
    pub fn all_at(&self, words: &[Word]) -> Vec<usize> {
        let stand = self.by_first(words).iter().filter(|phrase| begins(words, phrase));
        let mut found: Vec<usize> = stand.map(Vec::len).collect();
        found.sort_unstable_by(|left, right| right.cmp(left));
        found
    }

    /// Returns the length of the longest phrase that the words begin with; 0 if there is none.
    pub fn at(&self, words: &[Word]) -> usize {
        let stand = self.by_first(words).iter().filter(|phrase| begins(words, phrase));
        stand.map(Vec::len).max().unwrap_or(0)
    }

    /// Returns true if all of the words are one phrase.
    pub fn is(&self, words: &[Word]) -> bool {
        !words.is_empty() && self.at(words) == words.len()
    }

    /// Returns true if one of the phrases occurs in the words.
    pub fn within(&self, words: &[Word]) -> bool {
        (0..words.len()).any(|at| self.at(&words[at..]) > 0)
    }

    /// Returns the words after all of these phrases at their beginning.
    pub fn skip<'w>(&self, mut words: &'w [Word]) -> &'w [Word] {
        loop {
            match self.at(words) {
                0 => return words,
                found => words = &words[found..],
            }
        }
    }

    /// Returns the words in the gap of a phrase, and the words after it.
    pub fn around<'w>(&self, words: &'w [Word]) -> Option<(&'w [Word], &'w [Word])> {
        self.by_first(words).iter().find_map(|phrase| {
            let gap = phrase.iter().position(|word| *word == "…")?;
            let (head, tail) = (&phrase[..gap], &phrase[gap + 1..]);
            let inner = words.get(gap..).filter(|_| begins(words, head))?;
            let end = (1..inner.len()).find(|at| begins(&inner[*at..], tail))?;
            Some((&inner[..end], &inner[end + tail.len()..]))
        })
    }
}

/// Returns true if the words begin with this phrase.
pub(crate) fn begins(words: &[Word], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && phrase.iter().zip(words).all(|(text, word)| word.is(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    #[test]
    fn the_longest_phrase_counts_and_a_gap_holds_what_is_between() {
        let lists = Vocabulary::of("# Verbs\nwork: go, go on, get … done, carry\n  on\nempty:\n");
        let work = lists.list("work");
        assert_eq!(work.all_at(&words("go on then")), [2, 1]);
        assert_eq!(work.at(&words("carry on")), 2);
        assert!(work.has("go") && !work.has("carry") && work.begin("carry") && lists.has("empty"));
        assert_eq!(work.skip(&words("go on go now")).len(), 1);
        let said = words("get all of it done now");
        let (inside, after) = work.around(&said).unwrap();
        assert_eq!((inside.len(), after.len()), (3, 1));
    }
}
