//! Counts with their noun.

use std::fmt::Display;

/// `1 session`, `2 sessions`.
pub fn several<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
