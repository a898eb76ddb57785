use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Check, StatedCheck, Status, TaskId, TaskKind, TaskType};

/// A compiled spec, including generated tasks, as it goes into the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub feature: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The must-nots, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// The author's success criteria, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// Commands that must pass at the end according to the spec's own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<StatedCheck>,
    /// A completion promise in addition to the configured ones: only the text of the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    pub phases: Vec<Phase>,
    /// The author's estimates, in milliseconds. Not part of the approved content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<TaskId, u64>,
    /// In working order. A task's dependencies are included.
    pub tasks: Vec<PlannedTask>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub id: String,
    pub name: String,
    /// The items of a loop phase. Each of its tasks is done once for each item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
}

impl Plan {
    /// Returns the task and the command of the author's check, if a generated task runs it.
    pub fn check_behind(&self, task: &PlannedTask) -> Option<(&TaskId, &str)> {
        if task.kind != TaskKind::Main || task.verify.as_ref().and_then(Check::as_command).is_some() {
            return None;
        }
        let link = |other: &&PlannedTask| other.kind == TaskKind::Post && is_link(&other.id, &task.id);
        let link = self.tasks.iter().find(link)?;
        Some((&link.id, link.verify.as_ref()?.as_command()?))
    }
}

/// Returns true if `link` is part of the chain of `main`: `1.2a` and `1.2b` belong to `1.2`.
pub fn is_link(link: &TaskId, main: &TaskId) -> bool {
    matches!(link.as_str().strip_prefix(main.as_str()), Some("a" | "b"))
}

/// A task before it is in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    pub id: TaskId,
    pub title: String,
    pub kind: TaskKind,
    #[serde(rename = "type")]
    pub task_type: Option<TaskType>,
    pub phase: Option<String>,
    /// The index of its item in [`Phase::items`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    pub files: Vec<String>,
    pub notes: Option<String>,
    pub verify: Option<Check>,
    pub blocked_by: Vec<TaskId>,
}

/// The status of a task in the list it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    pub task: TaskId,
    pub status: Status,
    /// Why it is blocked, or how it was closed in that list.
    pub reason: Option<String>,
}
