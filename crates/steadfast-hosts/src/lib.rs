//! The hosts, one module each, all with the same doors: `wire` (as they spell it), `install`, `launch`,
//! `transcript`.

mod claude;
mod codex;
pub mod install;
pub mod launch;
mod shape;
pub mod transcript;
mod wire;

pub use codex::{SANDBOX_CAPABILITY, Sandbox};
pub use wire::{Around, WireError, decode, encode};
