//! What the tests of several crates share. A dev-dependency only: nothing in the product knows it.

mod corpus;
mod skip;
mod wait;

pub use corpus::{corpus, unescaped, unpacked_corpus};
pub use skip::{SKIPS, skip, skip_optional};
pub use wait::{PATIENCE, wait_for};
