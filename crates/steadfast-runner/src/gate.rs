//! The gate at the end: what was seen of the final tree, and what that leaves to object to. A claim is no evidence.

mod input;
mod objection;

pub use input::{Broken, GateInput, GateTask, Rerun, StatedRun, Weak, judge};
pub use objection::{Objection, Offence, Remedy, WeakPlace};
