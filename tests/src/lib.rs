//! The real programs the end-to-end tests run: which versions, and how they get onto this machine.

#![expect(clippy::disallowed_methods, reason = "a chore: it starts npm, and the environment says where to keep things")]

pub mod agents;
