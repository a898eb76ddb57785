//! The facts, asked of real repositories with the real git.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "the tests set repositories up with git, and run themselves again")]

mod again;
mod back;
mod branches;
mod changes;
mod kept_index;
mod killed;
mod limits;
mod neighbours;
mod objects;
mod places;
#[cfg(target_os = "linux")]
mod processes;
mod recent;
mod sandbox;
mod stats;
mod tracked;
mod trees;
