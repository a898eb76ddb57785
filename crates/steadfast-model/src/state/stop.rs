use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::is_default;
use crate::{Answer, Via};

/// The stop gate's account between two prompts of the human.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StopCount {
    /// Refusals since the human last spoke.
    pub refused: u32,
    /// What closed tasks gave back.
    pub earned: u32,
    /// Refusals in a row without a tool call in between.
    pub idle: u32,
    /// The agent asked for the human and was told what else there is to do.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asked: bool,
    /// The budget was spent. Nothing that happens to the tasks afterwards arms the gate again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capped: bool,
    /// Why the last stop was let go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Release>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastStop>,
}

labels! {
    /// Why a stop was let go.
    #[serde(rename_all = "snake_case")]
    pub enum Release {
        /// Nothing is open.
        Complete = "complete",
        /// Nothing is open, and only the agent's word closed some of the tasks.
        NeedsReview = "needs review",
        /// Nothing is open, and some of it is done on the branch of a run that is not merged here.
        Unmerged = "unmerged",
        /// Nothing is open, and whether what is done still holds could not be found out.
        Unverified = "unverified",
        /// What is left is blocked.
        AllBlocked = "all blocked",
        /// The context is full; a fresh one goes on.
        Checkpoint = "checkpoint",
        /// The agent asks for the human.
        NeedsUser = "needs user",
        /// The budget is spent, or the agent only talks. Never `complete`.
        Capped = "capped",
        /// Nobody approved the plan: nothing of it is to be done.
        NotApproved = "not approved",
        /// The human released the session from its plan.
        Dismissed = "released by the user",
        /// Something else will go on: a background task, a check, plan mode, the human.
        Yielded = "yielded",
    }
}

/// The last stop and through which wirings it has been answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastStop {
    pub key: u64,
    pub vias: Vec<Via>,
    pub answer: Answer,
}
