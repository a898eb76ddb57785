//! The score: how far an action is from what the human asked for.
//!
//! Reading is free, and so is everything before the first write after the human spoke: what is looked at then is where
//! the work is. From there on a write is measured by how its path stands to that place; what is repeated without success
//! and what is another kind of work altogether count beside it. A step is scored by itself and by a window of fixed
//! size, never by how many others there were.

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

pub(crate) use content::explored;
pub(crate) use memory::{prompted, went, wrote};
pub(crate) use place::folder;
pub(crate) use repetition::failure;
pub(crate) use tool_effects::{mark, unix};
pub(crate) use words::of_prompt as words_of;
