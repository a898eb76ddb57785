//! The hosts: Claude Code, Codex, and the simulated agent. This crate knows their formats and nothing about rules or
//! state.
//!
//! - `wire`: [`decode`] turns a hook payload into an event, [`encode`] a verdict into the host's answer.
//! - [`install`]: adds our hooks, MCP server, skills and agents to a host, and removes them.
//! - [`launch`]: command lines that start a host without a human. [`stream`] reads what such a host prints.
//! - [`transcript`]: sessions as the hosts wrote them down. [`price`] estimates their cost.
//!
//! `claude/` and `codex/` hold the parts that differ, `shape/` the common shape of hook payloads. Start with `wire.rs`,
//! then `claude/wire.rs`.

mod claude;
mod codex;
pub mod install;
pub mod launch;
pub mod price;
mod proxied;
mod shape;
mod skill;
pub mod stream;
pub mod transcript;
mod wire;

pub use claude::{ClaudeVersion, KeptList, read_task_list, task_list_folder, text_after_write};
pub use codex::{SANDBOX_CAPABILITY, Sandbox};
pub use proxied::{ProxiedCall, ProxiedPrompt};
pub use shape::{HandedOver, handed_over};
pub use skill::is_skill_installed;
pub use wire::{WireContext, WireError, decode, encode, transcript_path};
