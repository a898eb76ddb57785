//! The rules. Pure: no file, no clock, no randomness. The same state, event and facts give the same decision,
//! whether they come from a hook, from a replayed transcript or from a test.

mod claim;
mod decide;
pub mod drift;
mod forged;
pub mod goal;
pub mod host_list;
mod order;
mod parsed_event;
mod policy;
mod repeat;
mod scheduled;
mod session_changes;

pub use decide::{PolicyDecision, decide, needs};
pub use parsed_event::{ParsedEvent, Touched};
pub use policy::{Judgement, POLICIES, Policy};
