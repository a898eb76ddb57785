use steadfast_model::TaskLines;

/// How a run, or this part of it, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every task is done.
    Complete,
    /// Every task is done, these on the agent's word alone.
    NeedsReview(TaskLines),
    /// As far as it was to go this time: more is to be done, and nothing stands in its way.
    Reached,
    /// It can be resumed.
    Paused(String),
}
