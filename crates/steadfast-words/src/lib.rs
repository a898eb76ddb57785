//! The one reader of words: a text as sentences, a sentence as words, named lists of phrases from a text file, and
//! patterns over them. Pure: no files, no clock, nothing of the product.
//!
//! - `sentence`: where a line is cut. `word`: the tokeniser. `prompt`: a human's prompt, without quotes and pastes.
//! - `blocks`: Markdown as its lines. `word_list`: lists that are known when the code is compiled.
//! - `vocabulary`: a file of named lists. `pattern`: phrases with slots, and what they stand for.

pub mod blocks;
pub mod pattern;
pub mod prompt;
mod sentence;
mod vocabulary;
mod word;
pub mod word_list;

pub use pattern::{Pattern, PatternMatch, Slot};
pub use sentence::{split, split_at};
pub use vocabulary::{Phrases, Vocabulary};
pub use word::{Word, WordKind, words};
pub use word_list::WordList;
