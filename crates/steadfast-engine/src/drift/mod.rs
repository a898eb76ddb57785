//! The drift score: how far an action is from what the human asked for.
//!
//! Reading costs nothing, and neither does anything before the first write after a human prompt: the places read then
//! are the place of the work. From there on, a write is scored by the distance of its path to that place. Repeated
//! failures and a different kind of work cost points, too. A step is scored by itself and by a window of fixed size,
//! never by the number of other steps.

mod content;
mod memory;
mod opaque;
mod place;
mod repetition;
mod score;
mod tool_effects;
mod topic;
mod words;

pub use content::Fit;
pub use place::{Distance, Signal, Without, WorkScope, distance};
pub use repetition::{Repeated, Repetition, repeated, to_and_fro};
pub use score::{Leads, StepScore, score};
pub use tool_effects::ToolEffects;
pub use topic::{WorkTopic, off_topic};

pub use crate::policy::{follow, leads_astray, written};

pub(crate) use content::learn_reading;
pub(crate) use memory::{prompt_changes, read_changes, write_changes};
pub(crate) use opaque::only_looks;
pub(crate) use place::folder;
pub(crate) use repetition::failure;
pub(crate) use tool_effects::{mark, unix};
pub(crate) use words::of_prompt as words_of;
