//! The rules of Steadfast: they decide what a session may do. Pure: no file, no clock, no randomness. The same state,
//! event and facts give the same decision, whether they come from a hook, a replayed transcript or a test.
//!
//! - [`needs`] names the facts that an event requires; [`decide`] turns state, event and facts into a
//!   [`PolicyDecision`].
//! - [`ParsedEvent`]: an event with its command line and its prompt, each parsed once.
//! - [`Policy`]: a rule. [`POLICIES`] lists the six of them, one file each in `policy/`.
//! - [`goal`]: what a human's prompt forbids, allows and names. `order`: what it orders about the plan.
//! - [`drift`]: how far an action is from the goal. [`host_list`]: the task list that a host keeps.
//!
//! Start reading in `decide.rs`, then one policy, for example `policy/completion.rs`.

/// Returns a list of `words.txt`.
macro_rules! words {
    ($name:literal) => {
        steadfast_words::phrases!(steadfast_words::word_list::list(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/words.txt")),
            $name
        ))
    };
}

mod claim;
mod decide;
pub mod drift;
mod forged;
pub mod goal;
pub mod host_list;
mod human_line;
mod order;
mod parsed_event;
mod policy;
mod repeat;
mod scheduled;
mod session_changes;

pub use decide::{PolicyDecision, decide, needs};
pub use parsed_event::{ParsedEvent, Touched};
pub use policy::{Judgement, POLICIES, Policy, session_brief};
