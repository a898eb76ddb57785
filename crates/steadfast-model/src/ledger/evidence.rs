use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::{Millis, SeenFile};

/// The proof behind the end of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub class: EvidenceClass,
    /// The evidence closes the task.
    pub passed: bool,
    pub end: CheckEnd,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The end of the check's output, redacted and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
    /// The git tree of the checked state. `None`: not known, and `note` has the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Git object ids of the task's files by path; `None` for a missing file. The evidence is stale when the ids
    /// differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Option<String>>,
    /// The same files in the form that a stop compares without git.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenFile>,
    /// One line for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: Millis,
}

impl Evidence {
    /// Returns evidence without a command run.
    pub fn without_run(class: EvidenceClass, passed: bool, note: String, at: Millis) -> Self {
        Self {
            class,
            passed,
            end: CheckEnd::Looked,
            command: None,
            seconds: None,
            output_tail: None,
            tree: None,
            files: BTreeMap::new(),
            seen: Vec::new(),
            note: Some(note),
            at,
        }
    }
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum EvidenceClass {
        /// Steadfast ran the check.
        Executed = "executed",
        /// The agent provided a picture.
        Artifact = "artifact",
        /// Steadfast inspected the files.
        Observed = "observed",
        /// The agent said so, and no check confirms it.
        Claimed = "claimed",
        /// A human closed the task without its check.
        Forced = "forced",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnd {
    Exited(i32),
    /// A signal ended the check, sent by itself or by another process.
    Signalled(i32),
    TimedOut,
    NotStarted,
    /// The supervisor of the check is gone.
    Lost,
    /// The check changes the task's own files each time it runs.
    Unsettled,
    /// The command changed since the plan was loaded and its definition frozen. A human decides.
    Redefined,
    /// No command ran; the note names what was inspected.
    Looked,
}

impl CheckEnd {
    pub fn exit(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            _ => None,
        }
    }
}
