use serde::{Deserialize, Serialize};

use crate::{Check, Millis, PlanId, TaskId};

/// One piece of work in a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub plan: PlanId,
    pub id: TaskId,
    pub title: String,
    pub kind: TaskKind,
    #[serde(rename = "type")]
    pub task_type: Option<TaskType>,
    /// The id of its phase.
    #[serde(default)]
    pub phase: Option<String>,
    /// The item of its loop phase.
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
    /// The line of its notes that what a panel recommends follows.
    pub const COUNSEL: &'static str = "A panel recommends:";

    /// What panels recommended when it was stuck: the first line of each.
    pub fn counsel(&self) -> impl Iterator<Item = &str> {
        let mut lines = self.notes.as_deref().unwrap_or_default().lines();
        std::iter::from_fn(move || {
            lines.by_ref().find(|line| *line == Self::COUNSEL)?;
            Some(lines.next().unwrap_or_default())
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Done,
    Blocked,
}

impl Status {
    pub const ALL: [Self; 4] = [Self::Pending, Self::InProgress, Self::Done, Self::Blocked];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::Blocked => "blocked",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// Nothing is left to do for the agent.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Blocked)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    #[default]
    Main,
    Decision,
    Pre,
    Post,
    Remediation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    Ui,
    Backend,
    Func,
    Docs,
}

/// Who put a task into the plan. What an agent adds brings no budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddedBy {
    #[default]
    Human,
    Agent,
}

impl TaskKind {
    pub const ALL: [Self; 5] = [Self::Main, Self::Decision, Self::Pre, Self::Post, Self::Remediation];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Decision => "decision",
            Self::Pre => "pre",
            Self::Post => "post",
            Self::Remediation => "remediation",
        }
    }
}

impl TaskType {
    pub const ALL: [Self; 4] = [Self::Ui, Self::Backend, Self::Func, Self::Docs];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ui => "ui",
            Self::Backend => "backend",
            Self::Func => "func",
            Self::Docs => "docs",
        }
    }
}

impl AddedBy {
    pub const ALL: [Self; 2] = [Self::Human, Self::Agent];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

/// A task as a refusal names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLine {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
}
