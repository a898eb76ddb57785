/// How a run, or this part of it, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every task is done.
    Complete,
    /// It can be resumed.
    Paused(String),
}
