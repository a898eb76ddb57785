//! What `xtask` and `xtask-product` share.

#![expect(clippy::disallowed_methods, reason = "chores run programs and read the environment")]

pub mod process;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
