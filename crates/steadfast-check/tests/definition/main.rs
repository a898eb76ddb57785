//! What command lines stand for, and when that is another thing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod project;

mod change;
mod lead;
mod reference;
