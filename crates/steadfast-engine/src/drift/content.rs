//! Compares the words of a written text with the words of the work.

use steadfast_model::{Drift, DriftChange, Event, EventKind, WordFilter, hashed_word, hashed_words};

use super::place::{Signal, Without};
use super::tool_effects::ToolEffects;

/// The influence of the words of a text, beside its path.
///
/// Measured by leaving out each repository once: the others chose 80 to 90 for `usual` and 4 to 8 for `weight` (`cargo
/// xtask bench drift --folds`). The defaults are the middle of both ranges. Over all repositories left out, the score
/// corrects 238 of 384 grafts from the same repository within three writes, and 191 without words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The share of known words, in percent, at which a text neither loses nor gains points.
    pub usual: u8,
    /// The difference in points between a text that has all words of the work and one that has none.
    pub weight: u8,
}

impl Default for Fit {
    fn default() -> Self {
        Self { usual: 85, weight: 6 }
    }
}

impl Fit {
    /// Returns the points that a text loses by its words; negative if it gains. `None`: too few words to judge.
    pub(super) fn points_lost(self, memory: &Drift, words: &[u32]) -> Option<f32> {
        let share = share(&memory.vocabulary, words)?;
        Some(f32::from(self.weight) * (f32::from(self.usual) / 100.0 - share))
    }
}

/// The fewest words of the work that a text is compared with.
const VOCABULARY: u16 = 32;

/// The fewest words of a text that is judged.
const TEXT: usize = 4;

/// Returns the share of the words that the vocabulary contains. The filter also reports words that it does not contain,
/// in proportion to how full it is; the result is corrected for that. A filter that is more than half full gives no
/// result.
fn share(vocabulary: &WordFilter, words: &[u32]) -> Option<f32> {
    let count = vocabulary.count();
    if words.len() < TEXT || !(VOCABULARY..WordFilter::BITS / 2).contains(&count) {
        return None;
    }
    let known = words.iter().filter(|word| vocabulary.has(WordFilter::place(**word))).count();
    let full = f32::from(count) / f32::from(WordFilter::BITS);
    let found = known as f32 / words.len() as f32;
    Some(((found - full) / (1.0 - full)).max(0.0))
}

/// Returns the words that the call of an event writes, with those of its paths: from its new text, or from a command
/// line that contains a here-document.
pub(super) fn written_words(event: &Event, effects: &ToolEffects) -> Vec<u32> {
    let here = effects.command.as_deref().filter(|line| line.contains("<<")).map(hashed_words).unwrap_or_default();
    let shown = if effects.command.is_none() { event.content.words().to_vec() } else { here };
    if shown.is_empty() {
        return shown;
    }
    uncommon(shown.into_iter().chain(effects.writes.iter().flat_map(|path| hashed_words(path))))
}

/// Learns the words of a prompt.
pub(super) fn learn_prompt(memory: &Drift, text: &str) -> Option<DriftChange> {
    learned(missing_places(&memory.vocabulary, &uncommon(hashed_words(text))), Vec::new())
}

/// Learns the words that the agent read or ran before its first write.
pub(crate) fn learn_reading(
    memory: &Drift,
    event: &Event,
    effects: &ToolEffects,
    without: Without<'_>,
) -> Option<DriftChange> {
    let EventKind::PostTool(_) = &event.kind else { return None };
    if memory.at_work || effects.changes_files() || !without.has(Signal::Content) {
        return None;
    }
    let named = effects.command.iter().chain(&effects.reads).flat_map(|text| hashed_words(text));
    let words = uncommon(event.content.words().iter().copied().chain(named));
    learned(missing_places(&memory.vocabulary, &words), Vec::new())
}

/// Learns the words of a write. The first write after a human prompt defines the work. Words of later writes count from
/// the next human prompt on.
pub(super) fn learn_write(memory: &Drift, words: &[u32]) -> Option<DriftChange> {
    if memory.at_work {
        learned(Vec::new(), missing_places(&memory.fresh_words, words))
    } else {
        learned(missing_places(&memory.vocabulary, words), Vec::new())
    }
}

fn learned(known: Vec<u16>, fresh: Vec<u16>) -> Option<DriftChange> {
    (!known.is_empty() || !fresh.is_empty()).then_some(DriftChange::Learned { known, fresh })
}

/// Returns the places of the words that the filter lacks.
fn missing_places(vocabulary: &WordFilter, words: &[u32]) -> Vec<u16> {
    let mut places: Vec<u16> =
        words.iter().map(|word| WordFilter::place(*word)).filter(|place| !vocabulary.has(*place)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns the words that are not common to all code bases, each once.
fn uncommon(words: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut words: Vec<u32> = words.into_iter().filter(|word| COMMON_HASHES.binary_search(word).is_err()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Words of every code base, whatever its subject: of programming languages, English and the trade.
const COMMON: &str = include_str!("common.txt");

/// Their hashes, sorted for a binary search.
static COMMON_HASHES: [u32; count(COMMON.as_bytes())] = sorted(COMMON.as_bytes());

/// Counts the words of a text.
const fn count(text: &[u8]) -> usize {
    let (mut at, mut words) = (0, 0);
    while at < text.len() {
        words += (text[at].is_ascii_whitespace() && !text[at - 1].is_ascii_whitespace()) as usize;
        at += 1;
    }
    words
}

/// Returns the sorted hashes of the words of a text.
const fn sorted<const N: usize>(text: &[u8]) -> [u32; N] {
    let mut hashes = [0; N];
    let (mut at, mut begin, mut words) = (0, 0, 0);
    while at < text.len() {
        if text[at].is_ascii_whitespace() {
            let (before, _) = text.split_at(at);
            let (_, word) = before.split_at(begin);
            let hash = hashed_word(word);
            let mut place = words;
            while place > 0 && hashes[place - 1] > hash {
                hashes[place] = hashes[place - 1];
                place -= 1;
            }
            hashes[place] = hash;
            words += 1;
            begin = at + 1;
        }
        at += 1;
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_all_have_are_as_they_are_hashed() {
        let words: Vec<&str> = COMMON.split_ascii_whitespace().collect();
        for word in &words {
            assert_eq!(hashed_words(word), [hashed_word(word.as_bytes())], "{word}");
        }
        assert!(COMMON_HASHES.is_sorted() && words.is_sorted() && words.len() == COMMON_HASHES.len());
        assert!(uncommon(hashed_words("const value = await this.function")).is_empty());
    }

    fn knowing(text: &str) -> Drift {
        let mut memory = Drift::default();
        let filler: String = (0..60).map(|n| format!("zz{} ", letters(n))).collect();
        for text in [text, &filler] {
            let places = missing_places(&memory.vocabulary, &uncommon(hashed_words(text)));
            memory = apply(memory, &places);
        }
        memory
    }

    /// A number as letters: words have no digits.
    fn letters(number: usize) -> String {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    }

    fn apply(mut memory: Drift, places: &[u16]) -> Drift {
        let mut state = steadfast_model::State::new(
            steadfast_model::SessionId::new("s"),
            steadfast_model::Host::Claude,
            steadfast_model::Millis(0),
        );
        state.drift = std::mem::take(&mut memory);
        state
            .apply(&steadfast_model::Change::Drift(DriftChange::Learned { known: places.to_vec(), fresh: Vec::new() }));
        state.drift
    }

    #[test]
    fn a_text_is_strange_by_the_words_the_work_does_not_have() {
        let memory = knowing("expiry refresh cookie login rotate");
        let lost = |text: &str| Fit { usual: 80, weight: 10 }.points_lost(&memory, &uncommon(hashed_words(text)));
        assert!(lost("rotateExpiry refreshLogin").is_some_and(|lost| lost < -1.9));
        assert!(lost("palette footer banner gradient").is_some_and(|lost| lost > 7.0));
        assert_eq!(lost("palette"), None, "one word says nothing");
    }

    #[test]
    fn a_work_of_few_words_and_a_full_set_say_nothing() {
        let strange = uncommon(hashed_words("palette footer banner gradient"));
        assert_eq!(share(&WordFilter::default(), &strange), None);
        let full = apply(Drift::default(), &(0..5_000).collect::<Vec<_>>());
        assert_eq!(share(&full.vocabulary, &strange), None);
    }
}
