//! Reads text: sentences, words, named lists of phrases from a text file, and patterns over them. Every crate that
//! reads words uses this one. Pure: no files, no clock, nothing of the product.
//!
//! - `prompt`: a human's prompt as sentences, without quotations and pasted text. Start here.
//! - `sentence`: splits a line into sentences. `word`: the tokeniser, with [`Word`].
//! - `vocabulary`: [`Vocabulary`], a file of named lists. `word_list`: lists that are read at compile time.
//! - `pattern`: [`Pattern`], phrases with slots, and what each of them is about.
//! - `blocks`: Markdown as lines.

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
pub use word::{Word, WordKind, spoken_words, words};
pub use word_list::WordList;
