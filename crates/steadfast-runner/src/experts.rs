//! Experts: fresh agents that see a change and write nothing. A panel says what to do differently after a failed check;
//! a review says what is wrong with what was done.
//!
//! What they are told is made here ([`ReviewBrief`]), and what they answer is read here ([`Advice`],
//! [`ExpertOpinion`]), both without a process. [`Panel`] asks them.

mod answer;
mod brief;
mod diff;
mod expert;
mod panel;
mod spec;

pub use answer::{Advice, ExpertOpinion, Noted, advice_text};
pub use brief::{Failed, ReviewBrief, Reviewed};
pub use diff::{Diff, DiffFile, DiffKind};
pub use expert::{Expert, Purpose, choose};
pub use panel::{ExpertAnswer, Panel, Spoken};
pub use spec::spec_of;
