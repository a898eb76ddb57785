//! Transcripts as they are found on people's disks.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod beside;
mod claude;
mod codex;
mod corpus;
mod damage;
mod packed;
mod sample;
mod tail;
