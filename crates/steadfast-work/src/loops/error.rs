use steadfast_model::{LoopId, Stage};

use crate::error::Cause;

/// The reason why a loop did not start or move.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    #[error("no loop is under way in this checkout")]
    None,
    #[error("the loop is at stage `{}`, and `{}` does not follow it", from.as_str(), to.as_str())]
    OutOfOrder { from: Stage, to: Stage },
    #[error("the request is not clear enough: {score} of 10 points, at least 5 are required")]
    Unclear { score: u8 },
    #[error("the loop has no shape: the expected result is not described yet")]
    NoShape,
    #[error("no task is open, so there is no work to go back to")]
    NothingOpen,
    #[error("{open} of {all} tasks are open")]
    OpenTasks { open: u32, all: u32 },
    #[error("a loop cannot be set to complete: only its gate completes it")]
    NotByWord,
    #[error("another process moved the loop meanwhile")]
    Moved,
    #[error("the loop has no plan, so there are no tasks to work on")]
    NoPlan { spec: Option<String> },
    #[error("there is no file `{0}`")]
    NoFile(String),
    #[error("the request is empty")]
    EmptyRequest,
    #[error("loop {id} reached its limit: {reached}")]
    LimitReached { id: LoopId, reached: String },
    #[error("only a human can raise the limits of a loop")]
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
