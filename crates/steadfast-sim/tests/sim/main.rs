//! The crate from outside: raw HTTP to the scripted model, a real hook program for the simulated agent.

#![expect(clippy::unwrap_used, reason = "clippy spares only the test functions themselves, not what they call")]

mod agent;
mod fake_hook;
mod recordings;
mod scripted_model;
