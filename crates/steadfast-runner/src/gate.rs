//! The gate at the end: what was seen of the final tree, and what that leaves to object to. A claim is no evidence.

mod objection;
mod standing;

pub use objection::{Objection, Offence, Remedy, WeakPlace};
pub use standing::{Broken, GateInput, Rerun, StatedRun, TaskStanding, Weak, judge};
