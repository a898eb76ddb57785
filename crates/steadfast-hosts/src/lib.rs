//! The hosts, one module each, all with the same doors: `wire` (as they spell it), `install`, `launch`.

mod claude;
mod codex;
pub mod install;
pub mod launch;
mod shape;
mod wire;

pub use codex::{SANDBOX_CAPABILITY, Sandbox};
pub use wire::{Around, WireError, decode, encode};
