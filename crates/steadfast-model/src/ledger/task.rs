use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::{Check, Millis, PlanId, TaskId};

/// A unit of work in a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub plan: PlanId,
    pub id: TaskId,
    pub title: String,
    pub kind: TaskKind,
    #[serde(rename = "type")]
    pub task_type: Option<TaskType>,
    #[serde(default)]
    pub phase: Option<String>,
    #[serde(default)]
    pub item: Option<u32>,
    pub files: Vec<String>,
    pub notes: Option<String>,
    pub verify: Option<Check>,
    pub blocked_by: Vec<TaskId>,
    pub status: Status,
    pub stuck_count: u32,
    pub wave: Option<u32>,
    pub added_by: AddedBy,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Task {
    /// The line in the notes before a panel's recommendation.
    pub const COUNSEL: &'static str = "A panel recommends:";

    /// Returns the first line of each panel's recommendation, from when the task was stuck.
    pub fn counsel(&self) -> impl Iterator<Item = &str> {
        let mut lines = self.notes.as_deref().unwrap_or_default().lines();
        std::iter::from_fn(move || {
            lines.by_ref().find(|line| *line == Self::COUNSEL)?;
            Some(lines.next().unwrap_or_default())
        })
    }
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        Pending = "pending",
        InProgress = "in_progress",
        Done = "done",
        Blocked = "blocked",
    }
}

impl Status {
    /// Returns true if the agent has nothing left to do.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Blocked)
    }
}

labels! {
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum TaskKind {
        #[default]
        Main = "main",
        Decision = "decision",
        Pre = "pre",
        Post = "post",
        Remediation = "remediation",
    }
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum TaskType {
        Ui = "ui",
        Backend = "backend",
        Func = "func",
        Docs = "docs",
    }
}

labels! {
    /// The author of a task. Tasks that an agent adds do not add to the budget.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum AddedBy {
        #[default]
        Human = "human",
        Agent = "agent",
    }
}

/// The part of a task that a refusal names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLine {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
}
