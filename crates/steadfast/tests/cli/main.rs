//! The binary as its users call it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test starts the binary")]
#![expect(clippy::print_stderr, reason = "a loop says how far it came")]

mod crowd;
mod demo;
mod mcp;
mod sandbox;
mod tasks;
mod wiring;
