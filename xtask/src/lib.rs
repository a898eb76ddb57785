//! The shared code of `xtask`, `xtask-package` and `xtask-product`.

#![expect(clippy::print_stderr, reason = "chores talk")]
#![expect(clippy::disallowed_methods, reason = "chores run programs and read the environment")]

pub mod process;
pub mod prose;
pub mod random;
pub mod skip;
pub mod sources;
pub mod tool;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
