mod sandbox;
pub(crate) mod transcript;
mod wire;

pub use sandbox::{SANDBOX_CAPABILITY, Sandbox};
pub(crate) use wire::{TEXT_LIMIT, action, can};
