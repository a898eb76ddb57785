//! The hot path: bytes in, bytes out, in about the time an empty process takes.
//!
//! [`answer`] never fails and never panics outward; what goes wrong on the way to a verdict, or takes too long,
//! ends in [`fallback()`]: silence, or, before a tool and behind a closed gate, a refusal.

mod call;
mod cost;
mod done;
mod facts;
mod fallback;
mod follow;
mod gate;
mod list;
mod privacy;
mod process;
mod removed;
mod restoring;
mod sender;
mod settings;
mod share;
mod speaker;
mod spec;
mod step;
mod supervise;
mod watch;
mod wiring;

pub use call::{Call, CallError};
pub use cost::cost_since;
pub use facts::is_silent;
pub use fallback::{fallback, last_word};
pub use follow::{Follow, Followed};
pub use gate::draft_hash;
pub use process::{HOSTS, Process, is_gone};
pub use spec::{spec_change, text_digest};
pub use step::{StepError, drain, step};
pub use supervise::{Answered, Refining, Surroundings, answer};
pub use wiring::note_wiring;
