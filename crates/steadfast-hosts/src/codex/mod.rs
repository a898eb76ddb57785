//! Codex.

mod sandbox;
mod wire;

pub use sandbox::{SANDBOX_CAPABILITY, Sandbox};
pub(crate) use wire::{TEXT_LIMIT, action, can};
