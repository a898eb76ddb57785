//! Experts: fresh agents that see a change and write nothing. A panel says what to do differently after a failed check;
//! a review says what is wrong with what was done.
//!
//! What they are told is made here ([`Matter`]), and what they answer is read here ([`Advice`], [`Opinion`]), both
//! without a process. [`Sitting`] asks them.

mod advice;
mod answer;
mod brief;
mod change;
mod expert;
mod sitting;
mod spec;

pub use advice::told;
pub use answer::{Advice, Noted, Opinion};
pub use brief::{Failed, Matter, Reviewed};
pub use change::{Change, ChangeKind, Changed};
pub use expert::{Expert, Purpose, choose};
pub use sitting::{Sitting, Spoken, Statement};
pub use spec::spec_of;
