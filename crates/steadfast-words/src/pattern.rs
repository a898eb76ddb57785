//! Phrase patterns with slots.
//!
//! A pattern is a row of parts. It fits the words that it begins with:
//!
//! - `word`, `a|b`: a word, or one of several. `don't|{not}`: lists, too.
//! - `{list}`: the longest phrase of a list.
//! - `<slot>`: words that a function or a section of phrases takes, or none where it only looks.
//! - `,` any break; `..` any words, the fewest that fit; `..4` at most so many.
//! - `a?` none or one; `a*` as many as there are; `!a` not here; `&a` here, and not taken.
//! - `[ … ]`: the words between are what the pattern is about. Without it these are the words after the pattern.

use crate::{Phrases, Vocabulary, Word};

/// Returns the number of words that a slot takes at the beginning. `None`: it does not fit.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    Function(fn(&[Word]) -> Option<usize>),
    /// A slot that is looked up by its name, such as a section of phrases.
    Named(&'static str, fn(&str, &[Word]) -> Option<usize>),
}

#[derive(Debug)]
pub struct Pattern {
    parts: Vec<Part>,
}

/// A match of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct PatternMatch<'w> {
    /// The words that the pattern is about.
    pub about: &'w [Word],
    /// The words after the match.
    pub rest: &'w [Word],
}

#[derive(Debug)]
struct Part {
    one_of: Vec<One>,
    times: Times,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Once,
    Maybe,
    Many,
    Not,
    Look,
    /// Any words, up to this number.
    Gap(usize),
    Open,
    Close,
}

#[derive(Debug)]
enum One {
    Word(&'static str),
    List(&'static Phrases),
    Slot(Slot),
    Break,
}

impl One {
    fn takes(&self, words: &[Word]) -> Option<usize> {
        let first = words.first();
        match self {
            Self::Word(text) => first.is_some_and(|word| word.is(text)).then_some(1),
            Self::List(list) => Some(list.at(words)).filter(|found| *found > 0),
            Self::Slot(Slot::Function(takes)) => takes(words),
            Self::Slot(Slot::Named(name, takes)) => takes(name, words),
            Self::Break => first.is_some_and(Word::is_break).then_some(1),
        }
    }
}

impl Part {
    fn takes(&self, words: &[Word]) -> Option<usize> {
        self.one_of.iter().find_map(|one| one.takes(words))
    }
}

impl Pattern {
    /// Parses a pattern. `Err` is an unknown list or slot.
    pub fn of(
        text: &'static str,
        lists: &'static Vocabulary,
        slot: impl Fn(&'static str) -> Option<Slot>,
    ) -> Result<Self, &'static str> {
        let one = |text: &'static str| match (text.strip_prefix('{'), text.strip_prefix('<')) {
            (Some(name), _) => {
                let name = name.trim_end_matches('}');
                lists.has(name).then(|| One::List(lists.list(name))).ok_or(text)
            }
            (_, Some(name)) => slot(name.trim_end_matches('>')).map(One::Slot).ok_or(text),
            _ if text == "," => Ok(One::Break),
            _ => Ok(One::Word(text)),
        };
        let part = |text: &'static str| {
            if text == "[" || text == "]" {
                return Ok(Part { one_of: Vec::new(), times: if text == "[" { Times::Open } else { Times::Close } });
            }
            if let Some(most) = text.strip_prefix("..") {
                return Ok(Part { one_of: Vec::new(), times: Times::Gap(most.parse().unwrap_or(usize::MAX)) });
            }
            let (times, text) = match (text.strip_prefix('!'), text.strip_prefix('&')) {
                (Some(rest), _) => (Times::Not, rest),
                (_, Some(rest)) => (Times::Look, rest),
                _ => match (text.strip_suffix('?'), text.strip_suffix('*')) {
                    (Some(rest), _) => (Times::Maybe, rest),
                    (_, Some(rest)) => (Times::Many, rest),
                    _ => (Times::Once, text),
                },
            };
            Ok(Part { one_of: text.split('|').map(one).collect::<Result<_, _>>()?, times })
        };
        Ok(Self { parts: text.split_whitespace().map(part).collect::<Result<_, _>>()? })
    }

    /// Returns the match if the words begin with the pattern.
    pub fn at<'w>(&self, words: &'w [Word]) -> Option<PatternMatch<'w>> {
        let mut about = (None, None);
        let end = fit(&self.parts, words, 0, &mut about, |_| true)?;
        Some(found(words, end, about))
    }

    /// Returns the match if the pattern takes all of the words.
    pub fn is<'w>(&self, words: &'w [Word]) -> Option<PatternMatch<'w>> {
        let mut about = (None, None);
        let end = fit(&self.parts, words, 0, &mut about, |at| at == words.len())?;
        Some(found(words, end, about))
    }

    /// Returns the words that the pattern can begin with. `None`: any word.
    pub fn first(&self) -> Option<Vec<&'static str>> {
        let part = self.parts.iter().find(|part| !matches!(part.times, Times::Open | Times::Close))?;
        let word = |one: &One| match one {
            One::Word(text) => Some(*text),
            _ => None,
        };
        (part.times == Times::Once).then(|| part.one_of.iter().map(word).collect()).flatten()
    }
}

fn found(words: &[Word], end: usize, (from, to): (Option<usize>, Option<usize>)) -> PatternMatch<'_> {
    let about = from.map_or(&words[end..], |from| &words[from..to.unwrap_or(end)]);
    PatternMatch { about, rest: &words[end..] }
}

/// Only a gap is tried again with more words; the other parts take all they can.
fn fit(
    parts: &[Part],
    words: &[Word],
    mut at: usize,
    about: &mut (Option<usize>, Option<usize>),
    ends: impl Fn(usize) -> bool + Copy,
) -> Option<usize> {
    for (index, part) in parts.iter().enumerate() {
        let rest = &words[at..];
        match part.times {
            Times::Open => about.0 = Some(at),
            Times::Close => about.1 = Some(at),
            Times::Once => at += part.takes(rest)?,
            Times::Maybe => at += part.takes(rest).unwrap_or(0),
            Times::Many => {
                while let Some(taken) = part.takes(&words[at..]).filter(|taken| *taken > 0) {
                    at += taken;
                }
            }
            Times::Not if part.takes(rest).is_some() => return None,
            Times::Look if part.takes(rest).is_none() => return None,
            Times::Not | Times::Look => {}
            Times::Gap(most) => {
                let last = at.saturating_add(most).min(words.len());
                return (at..=last).find_map(|from| fit(&parts[index + 1..], words, from, about, ends));
            }
        }
    }
    ends(at).then_some(at)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::words;

    static LISTS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of("light: the, all of\nverb: push"));

    fn slot(name: &'static str) -> Option<Slot> {
        match name {
            "end" => Some(Slot::Function(|words| words.is_empty().then_some(0))),
            "first" => {
                Some(Slot::Named(name, |name, words| words.first().is_some_and(|word| word.is(name)).then_some(1)))
            }
            _ => None,
        }
    }

    /// The words that the pattern is about in this text.
    fn about(pattern: &'static str, text: &str) -> Option<String> {
        let words = words(text);
        let found = Pattern::of(pattern, &LISTS, slot).unwrap().at(&words)?;
        Some(found.about.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_pattern_fits_the_words_that_it_begins_with() {
        for (pattern, text, expected) in [
            ("don't|never {verb}", "never push it", Some("it")),
            ("don't|never {verb}", "please push it", None),
            ("leave [ .. ] to me", "leave the merge to me", Some("the merge")),
            ("leave {light}* [ ..1 ] to me", "leave all of the big merge to me", None),
            ("stop !it", "stop it", None),
            ("stop now? <end>", "stop now", Some("")),
            ("stop , &{verb}", "stop, push", Some("push")),
            ("<first> the", "first the test", Some("test")),
        ] {
            assert_eq!(about(pattern, text).as_deref(), expected, "{pattern}: {text}");
        }
        assert!(Pattern::of("{gone}", &LISTS, slot).is_err() && Pattern::of("<gone>", &LISTS, slot).is_err());
    }

    #[test]
    fn a_pattern_may_have_to_take_all_of_the_words() {
        let pattern = Pattern::of("the .. end", &LISTS, slot).unwrap();
        assert!(pattern.is(&words("the end of the end")).is_some());
        assert!(pattern.is(&words("the end of it")).is_none());
    }
}
