//! The JSON shape of hook payloads that Claude Code introduced and most hosts follow. Reading is shared and tolerant.
//! Writing is not: each host has its own table of [`Capabilities`], because Codex drops a whole answer for one unknown
//! field.

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
pub(crate) use list::{kept_item, list_call, reported_item, with_response};
pub(crate) use output::write;
pub use schedule::{HandedOver, handed_over};
pub(crate) use text::{cut, cut_front};
