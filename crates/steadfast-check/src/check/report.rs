use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use steadfast_model::CheckEnd;

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The task it is for. The check finds it in `STEADFAST_CHECK`, and so does a `steadfast` that it calls.
    pub task: String,
    /// A command line for `/bin/sh`.
    pub command: String,
    pub directory: PathBuf,
    pub limit: Duration,
    /// Set beside what the supervisor has; it comes last, so it wins.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// How many bytes of its output are kept: the last ones.
    pub tail: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// `Exited`, `Signalled`, `TimedOut`, `NotStarted`, or `Lost` when the supervisor was told to stop.
    pub end: CheckEnd,
    pub seconds: f64,
    /// The end of its output as a person would have seen it: no escapes, one line where progress was drawn over.
    pub output_tail: String,
    /// How much it said in all.
    pub output_bytes: u64,
    /// What still ran after it had ended, and was ended then.
    pub left_behind: Vec<LeftBehind>,
    /// What a reader should know beside it, one line: why it did not start, what stopped it, what it left behind.
    pub note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBehind {
    pub pid: i32,
    /// Its command line, as far as it is known and not too long.
    pub command: String,
    /// Whether it is gone now. What the kernel holds cannot be ended.
    pub ended: bool,
}

impl CheckReport {
    pub fn passed(&self) -> bool {
        self.end == CheckEnd::Exited(0)
    }

    pub(crate) fn not_started(why: String) -> Self {
        Self {
            end: CheckEnd::NotStarted,
            seconds: 0.0,
            output_tail: String::new(),
            output_bytes: 0,
            left_behind: Vec::new(),
            note: Some(why),
        }
    }
}
