//! A session's memory of its subagents, its answers, its last write and its reports.

use serde::{Deserialize, Serialize};

use super::LastStop;
use crate::sparse::is_default;
use crate::{AgentId, Answer, Millis, TaskId, Vias};

/// Hashes of the last reports about changed wiring, for the human and for the agent. Zero: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiringTold {
    pub human: u64,
    pub agent: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgedSeen {
    pub count: u32,
    /// Number of events that the human was informed of.
    #[serde(default)]
    pub told: u32,
    /// The last event, in words.
    pub last: String,
}

/// A subagent and the tasks it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubagentTasks {
    pub agent: AgentId,
    pub tasks: Vec<TaskId>,
    /// Number of refused stops since the human's last prompt.
    #[serde(default)]
    pub refused: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastStop>,
}

/// An answered tool event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub key: u64,
    /// The wirings that delivered it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vias: Vias,
    #[serde(default, skip_serializing_if = "Answer::is_pass")]
    pub answer: Answer,
}

/// The last write of a session, according to its calls. A call that writes files and then closes a task ends after the
/// evidence was recorded; the times of the files show whether it wrote them later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrite {
    pub at: Millis,
    /// The paths that the call wrote, from the session's root. Empty: unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The end of the writing call before it.
    #[serde(default)]
    pub before: Millis,
}

impl LastWrite {
    /// The limit of stored paths. A longer list is not stored at all.
    const PATHS: usize = 16;

    pub(super) fn after(last: Option<Self>, at: Millis, paths: &[String]) -> Self {
        let paths = if paths.len() <= Self::PATHS { paths.to_vec() } else { Vec::new() };
        Self { at, paths, before: last.map_or(Millis(0), |last| last.at) }
    }

    /// Returns true if the session wrote anything after `since`. `changed_after` returns true for a file that was
    /// removed or changed after that time.
    pub fn is_after(&self, since: Millis, changed_after: impl Fn(&str) -> bool) -> bool {
        if self.before > since {
            return true;
        }
        self.at > since && (self.paths.is_empty() || self.paths.iter().any(|path| changed_after(path)))
    }
}
