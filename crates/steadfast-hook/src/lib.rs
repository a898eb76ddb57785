//! The hot path: bytes in, bytes out, in about the time an empty process takes.
//!
//! [`answer`] never fails and never panics outward; what goes wrong on the way to a verdict, or takes too long,
//! ends in [`fallback()`]: silence, or, before a tool and behind a closed gate, a refusal.

mod answer;
mod call;
mod checkout;
mod cost;
mod drain;
mod effects;
mod facts;
mod fallback;
mod follow;
mod gate;
mod host_list;
mod memory;
mod pipeline;
mod process;
mod redacted;
mod restoring;
mod sender;
mod settings;
mod speaker;

pub use answer::{BackgroundWork, HookAnswer, HookEnvironment, answer};
pub use call::{CallError, HookCall};
pub use checkout::{EventError, handle_event};
pub use cost::cost_since;
pub use drain::drain;
pub use facts::{is_silent, note_wiring, spec_change, text_digest};
pub use fallback::{fallback, last_word};
pub use follow::{Follow, FollowResult};
pub use gate::draft_hash;
pub use memory::{InMemorySession, Replayed, replay_journal};
pub use pipeline::{World, handle};
pub use process::{host_above, is_gone};
pub use redacted::Redacted;
