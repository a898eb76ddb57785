use serde::{Deserialize, Serialize};

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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// The budget was spent. Nothing that happens to the tasks afterwards arms the gate again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capped: bool,
    /// Why the last stop was let go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Release>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastStop>,
}

/// Why a stop was let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// Nothing is open.
    Complete,
    /// Nothing is open, and only the agent's word closed some of the tasks.
    NeedsReview,
    /// Nothing is open, and some of it is done on the branch of a run that is not merged here.
    Unmerged,
    /// Nothing is open, and whether what is done still holds could not be found out.
    Unverified,
    /// What is left is blocked.
    AllBlocked,
    /// The context is full; a fresh one goes on.
    Checkpoint,
    /// The agent asks for the human.
    NeedsUser,
    /// The budget is spent, or the agent only talks. Never `complete`.
    Capped,
    /// Nobody approved the plan: nothing of it is to be done.
    NotApproved,
    /// The human released the session from its plan.
    Dismissed,
    /// Something else will go on: a background task, a check, plan mode, the human.
    Yielded,
}

impl Release {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::NeedsReview => "needs review",
            Self::Unmerged => "unmerged",
            Self::Unverified => "unverified",
            Self::AllBlocked => "all blocked",
            Self::Checkpoint => "checkpoint",
            Self::NeedsUser => "needs user",
            Self::Capped => "capped",
            Self::NotApproved => "not approved",
            Self::Dismissed => "released by the user",
            Self::Yielded => "yielded",
        }
    }
}

/// The last stop and through which wirings it has been answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastStop {
    pub key: u64,
    pub vias: Vec<Via>,
    pub answer: Answer,
}
