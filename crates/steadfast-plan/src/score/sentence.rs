//! A sentence of a spec: its words, its form, and the meaning of the heading above it.

use std::sync::LazyLock;

use steadfast_model::labels;
use steadfast_words::{Phrases, Vocabulary, Word, WordKind};

pub(super) static LISTS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("words.txt")));

/// Returns a list of `words.txt`.
pub(super) fn list(name: &str) -> &'static Phrases {
    LISTS.list(name)
}

labels! {
    /// The meaning of the heading above a sentence. If a heading has several of them, the first one counts.
    pub enum Part {
        Done = "done",
        OutOfScope = "out-of-scope",
        Constraints = "constraints",
        Success = "success",
        Verification = "verification",
        /// The reasons: how it is today, not how it should be.
        Background = "background",
        Goal = "goal",
        Scope = "scope",
        Other = "other",
    }
}

labels! {
    /// The form of a sentence in its document.
    pub enum Form {
        Prose = "prose",
        Item = "item",
        /// `- [ ]`, or a heading that is a task.
        Box = "box",
        /// A line of a code block.
        Code = "code",
        /// A heading above other lines.
        Heading = "heading",
    }
}

#[derive(Clone, Debug)]
pub(super) struct Said {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) part: Part,
    pub(super) form: Form,
    pub(super) words: Vec<Word>,
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

    /// Returns the number of words.
    pub(super) fn len(&self) -> usize {
        self.words.iter().filter(|word| !word.is_break()).count()
    }

    /// Returns the text in backticks, and the lines of code blocks.
    pub(super) fn codes(&self) -> impl Iterator<Item = &str> {
        let block = (self.form == Form::Code).then_some(self.text.as_str());
        block.into_iter().chain(self.words.iter().filter(|word| is_code(word)).map(|word| word.raw.as_str()))
    }

    /// Returns the words after polite ones. `Then, …` is not polite.
    pub(super) fn request(&self) -> &[Word] {
        let words = after_breaks(&self.words);
        let is_polite = |pair: &&[Word]| pair[0].is_in(list("polite")) && !pair[1].is_break();
        &words[words.windows(2).take_while(is_polite).count()..]
    }

    /// Returns the clauses, each to the end of the sentence. They begin at the sentence, after a comma, a colon, a dash,
    /// `and` or `but`.
    pub(super) fn clauses(&self) -> impl Iterator<Item = &[Word]> {
        let opens =
            |word: &Word| self.has_mark(word, &[',', ':', ';', '-', '–', '—']) || word.is_one_of(&["and", "but"]);
        let later = self.words.iter().enumerate().filter(move |(_, word)| opens(word));
        [self.request()].into_iter().chain(later.map(|(index, _)| after_breaks(&self.words[index + 1..])))
    }

    /// Reports whether a break is one of these marks.
    pub(super) fn has_mark(&self, word: &Word, marks: &[char]) -> bool {
        word.is_break() && self.text.get(word.at..).is_some_and(|rest| rest.starts_with(marks))
    }

    /// Reports whether it contains a number, in digits or as a word.
    pub(super) fn has_number(&self) -> bool {
        let is_number =
            |word: &Word| word.text.starts_with(|c: char| c.is_ascii_digit()) || word.is_in(list("number-words"));
        self.words.iter().any(|word| word.kind == WordKind::Plain && is_number(word))
    }
}

fn after_breaks(words: &[Word]) -> &[Word] {
    &words[words.iter().take_while(|word| word.is_break()).count()..]
}

pub(super) fn is_code(word: &Word) -> bool {
    word.kind == WordKind::Code
}

/// Returns the words of a text. Only text in backticks is code.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = steadfast_words::spoken_words(text);
    for word in &mut words {
        let before = &text[..word.at];
        if word.is_break() && text[word.at..].starts_with("//") {
            *word = Word { at: word.at, ..Word::of("//") };
        } else if word.is_break() && word.raw != "(" && (before.is_empty() || before.ends_with(char::is_whitespace)) {
            // A dash or a plus sign between two words.
            word.raw = "-".to_owned();
        } else if word.kind == WordKind::Plain {
            // `<10`, `#3`, `{name}`
            let bare = word.text.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '/' | '-'));
            // A word in single quotes is a name.
            word.text = format!("{}{bare}", if before.ends_with('\'') { "'" } else { "" });
        }
    }
    words.retain(|word| !word.text.is_empty() || is_code(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_words::Pattern;

    fn said(text: &str) -> Said {
        Said::new(1, text, Part::Other, Form::Prose)
    }

    #[test]
    fn a_phrase_is_found_among_words_and_not_in_code() {
        static NONE: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::default);
        let pattern = |phrase| Pattern::of(phrase, &NONE, |_| None).unwrap();
        let says = |words: &[Word], phrase| pattern(phrase).at(words).is_some();
        let sentence = said("Please **Do not** touch `must not`, and never sleep.");
        let found = ["do not", "must not", "never sleep", "not touch"]
            .map(|phrase| (0..sentence.words.len()).any(|at| says(&sentence.words[at..], phrase)));
        assert_eq!(found, [true, false, true, true]);
        assert!(says(sentence.request(), "do not"));
        assert!(sentence.clauses().any(|clause| says(clause, "never")));
        assert!(!said("People do not understand it").clauses().any(|clause| says(clause, "do not")));
    }

    #[test]
    fn figures_are_numbers() {
        let have = ["in 10 minutes", "the fifth", "valid once", "v2", "none"].map(|text| said(text).has_number());
        assert_eq!(have, [true, false, true, false, false]);
    }
}
