//! The words of a call's text as hashes. The text itself is never stored.

use std::ops::ControlFlow;
use std::sync::OnceLock;

/// The text that a call read, ran or wrote, for the drift score. It lives as long as its event and is never stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Texts that are not hashed yet.
    texts: Vec<(String, Escapes)>,
    words: OnceLock<Vec<u32>>,
    /// The texts that the call replaced, if its input names them.
    pub edits: Vec<Replaced>,
}

/// A replacement of one text by another, as hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub old: u32,
    pub new: u32,
}

impl Content {
    /// The limit of text read from one call, in bytes.
    pub const READ: usize = 64 << 10;
    /// The limit of words from one call.
    pub const WORDS: usize = 4_096;
    /// The limit of replaced texts from one call.
    pub const EDITS: usize = 8;

    pub fn of_words(words: Vec<u32>) -> Self {
        Self { words: OnceLock::from(words), ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.edits.is_empty() && self.words.get().is_none_or(Vec::is_empty)
    }

    /// Adds a text, up to the limit.
    pub fn read(&mut self, text: &str) {
        self.add(text, Escapes::None);
    }

    /// Adds a JSON-encoded text: `\n` is a line break there, not the letter n.
    pub fn read_json(&mut self, raw: &str) {
        self.add(raw, Escapes::Json);
    }

    fn add(&mut self, text: &str, escapes: Escapes) {
        let taken: usize = self.texts.iter().map(|(text, _)| text.len()).sum();
        let end = text.floor_char_boundary(Self::READ.saturating_sub(taken));
        self.texts.push((text[..end].to_owned(), escapes));
    }

    /// Returns a hash for each distinct word, in order: of the new text for a write, of the output for other calls.
    ///
    /// Hashing is deferred until this call. It takes ten times as long as storing the text, and most events never need
    /// it.
    pub fn words(&self) -> &[u32] {
        self.words.get_or_init(|| {
            let mut words = Vec::new();
            for (text, escapes) in &self.texts {
                each_word(text, *escapes, |word| {
                    words.push(word);
                    if words.len() < 4 * Self::WORDS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
            }
            words.sort_unstable();
            words.dedup();
            words.truncate(Self::WORDS);
            words
        })
    }
}

/// Returns the hashes of the distinct words of a text, in order.
pub fn hashed_words(text: &str) -> Vec<u32> {
    let mut content = Content::default();
    content.read(text);
    content.words().to_vec()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    None,
    Json,
}

/// Longer strings are keys, pictures or packed data, not words.
const LONGEST: usize = 24;

/// The word being read, in lower case.
struct Word {
    letters: [u8; LONGEST],
    length: usize,
    chars: usize,
}

impl Word {
    fn push(&mut self, c: char) {
        self.chars += 1;
        let end = self.length + c.len_utf8();
        if let Some(free) = self.letters.get_mut(self.length..end) {
            c.encode_utf8(free);
        }
        self.length = end;
    }

    /// Returns the hash of the letters read so far if they form a word: at least three letters, without the plural
    /// ending.
    fn finish(&mut self) -> Option<u32> {
        let (length, chars) = (std::mem::take(&mut self.length), std::mem::take(&mut self.chars));
        let word = self.letters.get(..length).filter(|_| chars > 2)?;
        let stem = match word {
            [stem @ .., b's'] if stem.len() > 2 && !stem.ends_with(b"s") && !stem.ends_with(b"u") => stem,
            _ => word,
        };
        Some(hashed_word(stem))
    }
}

/// Calls `to` with every word of a text. A word ends at a non-letter and where lower case turns into upper case.
/// Scripts without spaces give one word for every two adjacent letters.
fn each_word(text: &str, escapes: Escapes, mut to: impl FnMut(u32) -> ControlFlow<()>) {
    let mut word = Word { letters: [0; LONGEST], length: 0, chars: 0 };
    let mut small = false;
    let mut before: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let unspaced = is_unspaced(c);
        let is_letter = !unspaced && c.is_alphabetic();
        if (!is_letter || (small && c.is_uppercase()))
            && let Some(hash) = word.finish()
            && to(hash).is_break()
        {
            return;
        }
        small = is_letter && c.is_lowercase();
        if is_letter {
            if c.is_ascii() { word.push(c.to_ascii_lowercase()) } else { c.to_lowercase().for_each(|c| word.push(c)) }
        } else if unspaced && let Some(before) = before {
            let mut pair = [0; 8];
            let first = before.encode_utf8(&mut pair).len();
            let both = first + c.encode_utf8(&mut pair[first..]).len();
            if to(hashed_word(&pair[..both])).is_break() {
                return;
            }
        }
        before = unspaced.then_some(c);
        if c == '\\' && escapes == Escapes::Json {
            // Only the first letter belongs to the escape, except in `\u00e9`.
            if chars.next() == Some('u') {
                chars.by_ref().take(4).for_each(drop);
            }
        }
    }
    if let Some(hash) = word.finish() {
        let _ = to(hash);
    }
}

/// Returns true for Chinese, Japanese and Korean letters.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{2ffff}')
}

/// Returns the hash of a lower-case word without its plural ending: FNV-1a, 32 bit.
pub const fn hashed_word(bytes: &[u8]) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_wherever_it_stands() {
        let words = hashed_words("tokens");
        assert_eq!(words.len(), 1);
        for text in ["token", "TOKEN", "a token.", "x2token", "Token_7", "(token)"] {
            assert_eq!(hashed_words(text), words, "{text}");
        }
        let mut two = hashed_words("auth token");
        two.sort_unstable();
        assert_eq!(hashed_words("authToken auth_tokens"), two);
    }

    #[test]
    fn what_is_no_word_is_passed_over() {
        assert!(hashed_words(&format!("a of 12 0x {}", "q".repeat(40))).is_empty());
    }

    #[test]
    fn a_line_break_in_json_is_no_letter() {
        let mut content = Content::default();
        content.read_json(r#""one\ntwo\tthree\u0007four\\five""#);
        assert_eq!(content.words(), hashed_words("one two three four five"));
    }

    #[test]
    fn text_without_spaces_has_words_too() {
        let long = hashed_words("用户登录令牌");
        assert_eq!(long.len(), 5);
        assert!(hashed_words("登录").iter().all(|word| long.contains(word)));
        assert!(hashed_words("主题").iter().all(|word| !long.contains(word)));
        assert_eq!(hashed_words("ログイン").len(), 3);
        assert!(!hashed_words("é à").iter().any(|_| true) && hashed_words("Größe") == hashed_words("größe"));
    }

    #[test]
    fn however_long_a_text_is_its_words_are_few() {
        let many: String =
            (0..100_000).map(|n| format!("w{} ", ['a', 'b', 'c'][n % 3].to_string().repeat(1 + n % 20))).collect();
        assert!(hashed_words(&many).len() <= Content::WORDS);
    }
}
