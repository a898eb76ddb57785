use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::is_default;
use crate::{Answer, Via};

/// The stop gate's count between two prompts of the human.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StopCount {
    /// Number of refusals since the human's last prompt.
    pub refused: u32,
    /// Number of refusals that closed tasks gave back.
    pub earned: u32,
    /// Number of refusals in a row without a tool call in between.
    pub idle: u32,
    /// The agent asked for the human, and Steadfast named the other ready tasks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asked: bool,
    /// The refusals are used up. Later changes of tasks do not arm the gate again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capped: bool,
    /// Why Steadfast let the session stop the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Release>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastStop>,
}

labels! {
    /// The reason why Steadfast let the session stop.
    #[serde(rename_all = "snake_case")]
    pub enum Release {
        /// No task is open.
        Complete = "complete",
        /// No task is open, but some were closed only by the agent's word.
        NeedsReview = "needs review",
        /// No task is open, but some are done on the branch of a run that is not merged here.
        Unmerged = "unmerged",
        /// No task is open, but Steadfast could not check whether the evidence is still fresh.
        Unverified = "unverified",
        /// All open tasks are blocked.
        AllBlocked = "all blocked",
        /// The context is full. A fresh session continues.
        Checkpoint = "checkpoint",
        NeedsUser = "needs user",
        /// The refusals are used up, or the agent only talks. Never reported as `complete`.
        Capped = "capped",
        /// The plan has no approval, so its tasks must not be done.
        NotApproved = "not approved",
        Dismissed = "released by the user",
        /// The work continues by other means: a background task, a check, plan mode or the human.
        Yielded = "yielded",
    }
}

/// The last stop, and the wirings through which it was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastStop {
    pub key: u64,
    pub vias: Vec<Via>,
    pub answer: Answer,
}
