//! Experts: fresh agents that see a change and write nothing. A panel says what to do differently after a failed check;
//! a review says what is wrong with what was done.
//!
//! What they are told is made here ([`ReviewBrief`]), and what they answer is read here ([`Advice`], [`ExpertOpinion`]), both
//! without a process. [`Panel`] asks them.

mod advice;
mod answer;
mod brief;
mod change;
mod expert;
mod sitting;
mod spec;

pub use advice::told;
pub use answer::{Advice, ExpertOpinion, Noted};
pub use brief::{Failed, ReviewBrief, Reviewed};
pub use change::{Diff, DiffFile, DiffKind};
pub use expert::{Expert, Purpose, choose};
pub use sitting::{ExpertAnswer, Panel, Spoken};
pub use spec::spec_of;
