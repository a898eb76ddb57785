use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::{Millis, SeenFile};

/// What a task's end rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub class: EvidenceClass,
    /// Whether it closes the task.
    pub passed: bool,
    pub end: CheckEnd,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The end of what the check said, redacted and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
    /// The tree it was checked on. `None`: not known, with the reason in `note`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Object ids of the task's files by path; a missing file has none. Stale when those are others now.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Option<String>>,
    /// The same files as a stop compares them, which asks no git.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenFile>,
    /// What a reader should know beside it, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: Millis,
}

impl Evidence {
    /// Evidence for which nothing ran.
    pub fn looked(class: EvidenceClass, passed: bool, note: String, at: Millis) -> Self {
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
        /// A picture was shown.
        Artifact = "artifact",
        /// Steadfast looked at the files.
        Observed = "observed",
        /// The agent said so, and nothing checks it.
        Claimed = "claimed",
        /// A human closed it without its check.
        Forced = "forced",
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnd {
    Exited(i32),
    /// A signal ended it, its own or another's.
    Signalled(i32),
    TimedOut,
    /// It could not be started.
    NotStarted,
    /// Whoever ran it is gone.
    Lost,
    /// It changes the files it is about each time it runs.
    Unsettled,
    /// What it runs is no longer what was frozen when the plan was loaded. A human says yes or no.
    Redefined,
    /// Nothing ran: what was looked at is in the note.
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
