//! Checks as real processes. Each runs in a supervisor of its own: this program, started again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "the tests start a supervisor, and tell it what to do")]

mod end;
mod left_behind;
mod output;
mod supervisor;
mod surroundings;
