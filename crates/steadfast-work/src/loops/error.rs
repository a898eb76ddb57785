use steadfast_model::{LoopId, Stage};

use crate::error::Cause;

/// Why a loop was not begun or did not move.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    #[error("no loop is under way in this checkout")]
    None,
    #[error("the loop is at {}, and {} does not follow it", from.as_str(), to.as_str())]
    OutOfOrder { from: Stage, to: Stage },
    #[error("the request is not clear enough: {score} of 10, and 5 is the least")]
    Unclear { score: u8 },
    #[error("the loop has no shape: nobody said what the result has to be")]
    NoShape,
    #[error("nothing is open: there is no work to go back to")]
    NothingOpen,
    #[error("{open} of {all} tasks are open")]
    OpenTasks { open: u32, all: u32 },
    #[error("no word completes a loop")]
    NotByWord,
    #[error("somebody else moved the loop meanwhile")]
    Moved,
    #[error("the loop has no plan: there is nothing to work off")]
    NoPlan { spec: Option<String> },
    #[error("there is no file `{0}`")]
    NoFile(String),
    #[error("a request says something, and this one is empty")]
    EmptyRequest,
    #[error("loop {id} is at its limit: {reached}")]
    LimitReached { id: LoopId, reached: String },
    #[error("only a human raises the limits of a loop")]
    RaisedByAgent,
}

impl LoopError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::None | Self::NoFile(_) => Cause::NotFound,
            Self::EmptyRequest => Cause::Input,
            Self::Moved => Cause::State,
            Self::OutOfOrder { .. }
            | Self::Unclear { .. }
            | Self::NoShape
            | Self::NothingOpen
            | Self::OpenTasks { .. }
            | Self::NotByWord
            | Self::RaisedByAgent
            | Self::NoPlan { .. } => Cause::Refused,
            Self::LimitReached { .. } => Cause::NeedsHuman,
        }
    }
}
