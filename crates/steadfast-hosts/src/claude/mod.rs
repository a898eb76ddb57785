//! Claude Code.

pub(crate) mod transcript;
mod wire;

pub(crate) use wire::{TEXT_LIMIT, action, can, mcp, origin, shell, words};
