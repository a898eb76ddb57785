//! Answers the hooks of a host. This is the hot path: bytes in, bytes out, in about the time an empty process takes.
//!
//! Start with [`answer`]: it never fails, and never lets a panic out. If it cannot decide, or takes too long,
//! [`fallback()`] answers: silence, or a refusal before a tool behind a closed gate. [`handle`] is the pipeline that
//! all events go through (redact, look, decide, record, act), and [`World`] is its environment: a checkout, a
//! transcript or a journal. `facts` reads what the rules need, `effects` carries out what they decide, and `sender`
//! detects forged events.

mod answer;
mod approved;
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
mod notice;
mod pipeline;
mod process;
mod proxied;
mod redacted;
mod restoring;
mod sender;
mod settings;
mod speaker;

pub use answer::{BackgroundWork, HookAnswer, HookEnvironment, answer};
pub use approved::{ApprovedDraft, LoadApproved};
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
pub use process::{HostProcess, host_above, host_process, is_gone};
pub use proxied::ProxiedSession;
pub use redacted::Redacted;
