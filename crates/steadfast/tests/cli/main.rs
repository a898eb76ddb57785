//! The binary as its users call it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test starts the binary")]

mod crowd;
mod sandbox;
mod tasks;
mod wiring;
