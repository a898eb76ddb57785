//! The JSON shape that Claude Code coined and most hosts follow. Reading it is shared and liberal; which parts of an
//! answer a host understands is that host's own table ([`Capabilities`]), because one unknown field makes Codex drop
//! the whole.

mod capabilities;
mod check;
pub(crate) mod content;
pub(crate) mod document;
mod input;
mod list;
mod output;
mod schedule;
mod text;

pub(crate) use capabilities::Capabilities;
pub(crate) use input::{Input, ToolInput, text};
pub(crate) use list::{answered, kept_item, list_call, told_item};
pub(crate) use output::write;
pub use schedule::{HandedOver, handed_over};
pub(crate) use text::{cut, cut_front};
