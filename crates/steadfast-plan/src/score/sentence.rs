//! A sentence as words. Text in backticks is one word.

use steadfast_words::WordList;

/// The meaning of the heading above a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Goal,
    Scope,
    OutOfScope,
    Constraints,
    Success,
    Verification,
    Done,
    /// The reasons: how it is today, not how it should be.
    Background,
    Other,
}

/// The form of a sentence in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Prose,
    Item,
    /// `- [ ]`, or a heading that is a task.
    Box,
    /// A line of a code block.
    Code,
    /// A heading above other lines.
    Heading,
}

#[derive(Clone, Debug)]
pub(super) struct Said {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) part: Part,
    pub(super) form: Form,
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Lower case, except in backticks.
    pub(super) text: String,
    /// Without punctuation around it. Computed once, because every rule compares it.
    bare: String,
    pub(super) is_code: bool,
}

impl Word {
    pub(super) fn spoken(text: String) -> Self {
        Self { bare: bare(&text).to_owned(), text, is_code: false }
    }

    pub(super) fn code(text: String) -> Self {
        Self { is_code: true, ..Self::spoken(text) }
    }

    pub(super) fn bare(&self) -> &str {
        &self.bare
    }

    /// Reports whether the word is in the list and not code.
    pub(super) fn is_one_of(&self, words: WordList) -> bool {
        !self.is_code && words.contains(&self.bare)
    }
}

impl Said {
    pub(super) fn new(line: usize, text: &str, part: Part, form: Form) -> Self {
        Self { line, text: text.to_owned(), part, form, words: words(text) }
    }

    pub(super) fn is_heading(&self) -> bool {
        self.form == Form::Heading
    }

    /// Reports whether it is an item of a list, with or without a box.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self.form, Form::Item | Form::Box)
    }

    pub(super) fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the text in backticks, and the lines of code blocks.
    pub(super) fn codes(&self) -> impl Iterator<Item = &str> {
        let block = (self.form == Form::Code).then_some(self.text.as_str());
        block.into_iter().chain(self.words.iter().filter(|word| word.is_code).map(|word| word.text.as_str()))
    }

    pub(super) fn says(&self, phrase: &str) -> bool {
        (0..self.words.len()).any(|from| starts(&self.words[from..], phrase))
    }

    pub(super) fn says_any(&self, phrases: WordList) -> bool {
        phrases.iter().any(|phrase| self.says(phrase))
    }

    /// Reports whether it begins with one of these, after polite words.
    pub(super) fn begins_with(&self, phrases: WordList) -> bool {
        let polite = |word: &&Word| !word.is_code && words!("polite").contains(&word.text);
        let rest = &self.words[self.words.iter().take_while(polite).count()..];
        phrases.iter().any(|phrase| starts(rest, phrase))
    }

    /// Reports whether a clause begins with one of these. Clauses begin at the sentence, after a comma, a colon, `and`
    /// or `but`.
    pub(super) fn clause_begins_with(&self, phrases: WordList) -> bool {
        self.begins_with(phrases)
            || self.words.iter().enumerate().any(|(index, word)| {
                let opens = word.text.ends_with([',', ':', ';', '(', '–', '—'])
                    || (!word.is_code && matches!(word.text.as_str(), "and" | "but" | "-"));
                opens && phrases.iter().any(|phrase| starts(&self.words[index + 1..], phrase))
            })
    }

    /// Reports whether it contains a number, in digits or as a word.
    pub(super) fn has_number(&self) -> bool {
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) || words!("number").contains(word);
        self.words.iter().any(|word| !word.is_code && is_number(&word.bare))
    }
}

fn starts(words: &[Word], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|wanted| words.next().is_some_and(|word| !word.is_code && word.bare == wanted))
}

/// Returns a word without punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '/' | '-'))
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (index, piece) in text.split('`').enumerate() {
        if index % 2 == 1 {
            words.push(Word::code(piece.to_owned()));
            continue;
        }
        let piece = piece.replace('’', "'").replace("**", "").replace("__", "");
        let spoken = piece.split_whitespace().map(str::to_lowercase);
        words.extend(spoken.map(Word::spoken));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_words::phrases;

    fn said(text: &str) -> Said {
        Said::new(1, text, Part::Other, Form::Prose)
    }

    #[test]
    fn a_phrase_is_found_among_words_and_not_in_code() {
        let sentence = said("Please **Do not** touch `must not`, and never sleep.");
        let found = ["do not", "must not", "never sleep", "not touch"].map(|phrase| sentence.says(phrase));
        assert_eq!(found, [true, false, true, true]);
        assert!(sentence.begins_with(phrases!("do not")));
        assert!(sentence.clause_begins_with(phrases!("never")));
        assert!(!said("People do not understand it").clause_begins_with(phrases!("do not")));
    }

    #[test]
    fn figures_are_numbers() {
        let have = ["in 10 minutes", "the fifth", "valid once", "v2", "none"].map(|text| said(text).has_number());
        assert_eq!(have, [true, false, true, false, false]);
    }
}
