use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Check, StatedCheck, Status, TaskId, TaskKind, TaskType};

/// A compiled spec: what goes into the ledger, with generated tasks in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub feature: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What must not happen, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// How its author knows that it is done, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// Commands that its own words say have to pass at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<StatedCheck>,
    /// A promise of completion beside the configured ones, the text of the tag only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    pub phases: Vec<Phase>,
    /// How long its author thinks tasks take, in milliseconds. Not part of what is approved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<TaskId, u64>,
    /// In the order they are worked on; what a task waits for is in here, too.
    pub tasks: Vec<PlannedTask>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub id: String,
    pub name: String,
    /// A loop phase does its tasks once for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
}

impl Plan {
    /// The check that an author gave a task, where a generated one runs it: that one, and its command.
    pub fn check_behind(&self, task: &PlannedTask) -> Option<(&TaskId, &str)> {
        if task.kind != TaskKind::Main || task.verify.as_ref().and_then(Check::as_command).is_some() {
            return None;
        }
        let link = |other: &&PlannedTask| other.kind == TaskKind::Post && is_link(&other.id, &task.id);
        let link = self.tasks.iter().find(link)?;
        Some((&link.id, link.verify.as_ref()?.as_command()?))
    }
}

/// `1.2a` and `1.2b` are links of `1.2`.
pub fn is_link(link: &TaskId, main: &TaskId) -> bool {
    matches!(link.as_str().strip_prefix(main.as_str()), Some("a" | "b"))
}

/// A task before it is in a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    pub id: TaskId,
    pub title: String,
    pub kind: TaskKind,
    #[serde(rename = "type")]
    pub task_type: Option<TaskType>,
    /// The id of its phase.
    pub phase: Option<String>,
    /// The item of its loop phase, by its place in [`Phase::items`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    pub files: Vec<String>,
    pub notes: Option<String>,
    pub verify: Option<Check>,
    pub blocked_by: Vec<TaskId>,
}

/// How a task stood in the list it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    pub task: TaskId,
    pub status: Status,
    /// Why it is blocked, or how it was closed there.
    pub reason: Option<String>,
}
