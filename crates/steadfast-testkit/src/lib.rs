//! Helpers for the tests of several crates: corpora, skips and waiting. A dev-dependency only; no product crate uses
//! it.

mod corpus;
mod skip;
mod wait;

pub use corpus::{corpus, unescaped, unpacked_corpus};
pub use skip::{SKIPS, skip, skip_optional};
pub use wait::{PATIENCE, wait_for};
