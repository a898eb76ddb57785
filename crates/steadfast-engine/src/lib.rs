//! The rules. Pure: no file, no clock, no randomness. The same state, event and facts give the same decision,
//! whether they come from a hook, from a replayed transcript or from a test.

mod book;
mod claim;
mod decide;
pub mod drift;
mod forged;
pub mod goal;
mod heard;
pub mod host_list;
mod order;
mod policy;
mod repeat;
mod scheduled;

pub use decide::{PolicyDecision, decide, needs};
pub use heard::{ParsedEvent, Touched};
pub use policy::{Judgement, POLICIES, Policy};
