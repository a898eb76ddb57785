//! Agents as real processes: shell scripts that print what the simulated agent prints.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "the tests start whoever attends, and tell it what to do")]

mod attendant;
mod end;
mod hears;
mod left_behind;
mod timing;
