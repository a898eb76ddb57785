//! Experts: fresh agents that read a change and write nothing. A panel recommends a new approach after a failed check;
//! a review reports what is wrong with finished work.
//!
//! [`ReviewBrief`] makes their prompts, and [`Advice`] and [`ExpertOpinion`] parse their answers, all without a
//! process. [`Panel`] runs the agents.

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
