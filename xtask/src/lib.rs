//! The shared code of `xtask` and `xtask-product`.

#![expect(clippy::disallowed_methods, reason = "chores run programs and read the environment")]

pub mod process;
pub mod prose;
pub mod random;
pub mod sources;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
