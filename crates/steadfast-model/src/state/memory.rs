//! What a session remembers of its subagents, its answers, its last write and what it told.

use serde::{Deserialize, Serialize};

use super::LastStop;
use crate::sparse::is_default;
use crate::{AgentId, Answer, Millis, TaskId, Vias};

/// Who was told what of a changed wiring, by a number for the words. Zero: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiringTold {
    pub human: u64,
    pub agent: u64,
}

/// The forged events of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgedSeen {
    pub count: u32,
    /// How many of them the human was told of.
    #[serde(default)]
    pub told: u32,
    /// The last one in words.
    pub last: String,
}

/// A subagent and the tasks it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubagentTasks {
    pub agent: AgentId,
    pub tasks: Vec<TaskId>,
    /// How often it was refused to stop since the human last spoke.
    #[serde(default)]
    pub refused: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastStop>,
}

/// A tool event that was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub key: u64,
    /// The wirings it came through.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vias: Vias,
    #[serde(default, skip_serializing_if = "Answer::is_pass")]
    pub answer: Answer,
}

/// When a session last wrote a file, as far as its calls show it. A call that writes and then closes a task ends after the
/// evidence was recorded: its files tell whether it wrote them since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrite {
    pub at: Millis,
    /// What that call wrote, from the session's root. Empty: not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// When the call before it that wrote ended.
    #[serde(default)]
    pub before: Millis,
}

impl LastWrite {
    /// The most paths that are kept; of more none is.
    const PATHS: usize = 16;

    pub(super) fn after(last: Option<Self>, at: Millis, paths: &[String]) -> Self {
        let paths = if paths.len() <= Self::PATHS { paths.to_vec() } else { Vec::new() };
        Self { at, paths, before: last.map_or(Millis(0), |last| last.at) }
    }

    /// Whether anything was written after `since`. `changed_after`: whether a file is gone or was changed after that.
    pub fn is_after(&self, since: Millis, changed_after: impl Fn(&str) -> bool) -> bool {
        if self.before > since {
            return true;
        }
        self.at > since && (self.paths.is_empty() || self.paths.iter().any(|path| changed_after(path)))
    }
}
