//! The policies, one file each, in the order in which they are asked.

use steadfast_model::{Change, Direction, Effect, Facts, Mode, Needs, PolicyName, Rules, State, Verdict};

use crate::ParsedEvent;

mod approval;
mod completion;
mod constraint;
mod drift;
mod evidence;
mod integrity;
mod target;

pub use completion::session_brief;
pub(crate) use constraint::{covers, is_free, is_manifest, unknown_git_words};
pub use drift::{follow, leads_astray, written};
pub(crate) use target::{absolute, only_reads};

pub const POLICIES: [&dyn Policy; 6] = [
    &integrity::Integrity,
    &approval::Approval,
    &constraint::Constraint,
    &drift::Drift,
    &evidence::Evidence,
    &completion::Completion,
];

/// A policy. It judges an event; its mode and the other policies are applied afterwards.
pub trait Policy: Sync {
    fn name(&self) -> PolicyName;

    /// The direction in which its verdict falls if the host cannot express it.
    fn direction(&self) -> Direction;

    fn mode(&self, rules: &Rules) -> Mode;

    /// Returns the facts that it requires for this event. This runs for every tool call, so it must be cheap.
    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs;

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement;
}

/// The opinion of a policy about an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub changes: Vec<Change>,
    pub effects: Vec<Effect>,
    /// For the agent, if the verdict is a note for the human.
    pub aside: Option<String>,
    /// For the human, if the verdict is for the agent.
    pub note: Option<String>,
    /// One short line for the human about what Steadfast does, unless they want to read only what needs them.
    pub line: Option<String>,
    /// The number of a refusal to stop, and the limit.
    pub count: Option<(u32, u32)>,
}

impl Judgement {
    fn of(verdict: Verdict) -> Self {
        Self { verdict, ..Self::default() }
    }
}
