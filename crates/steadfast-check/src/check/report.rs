use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use steadfast_model::CheckEnd;

/// A check to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The task of the check. The check, and a `steadfast` that it calls, find it in `STEADFAST_CHECK`.
    pub task: String,
    /// A command line for `/bin/sh`.
    pub command: String,
    pub directory: PathBuf,
    pub limit: Duration,
    /// Added to the supervisor's environment, and overrides it.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// The number of bytes of output to keep, from the end.
    pub tail: usize,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// `Exited`, `Signalled`, `TimedOut`, `NotStarted`, or `Lost` when the supervisor was stopped.
    pub end: CheckEnd,
    pub seconds: f64,
    /// The end of its output as a terminal shows it: no escapes, one line for a redrawn progress bar.
    pub output_tail: String,
    /// The length of the whole output.
    pub output_bytes: u64,
    /// Processes that still ran after the check, and were ended then.
    pub left_behind: Vec<LeftBehind>,
    /// One line for the reader: why the check did not start, what stopped it, or what it left running.
    pub note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBehind {
    pub pid: i32,
    /// The command line, shortened.
    pub command: String,
    /// True if the process is gone. Only the kernel can hold a process.
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
