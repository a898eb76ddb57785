//! The gate at the end of a loop: the facts about the final tree, and the objections that follow from them. A claim is
//! not evidence.

mod input;
mod objection;

pub use input::{Broken, GateInput, GateTask, Rerun, StatedRun, Weak, judge};
pub use objection::{Objection, Offence, Remedy, WeakPlace};
