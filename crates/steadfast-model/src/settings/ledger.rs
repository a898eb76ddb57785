use serde::{Deserialize, Serialize};

/// How tasks come about and are closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LedgerOptions {
    /// How long a check may run, in seconds, before it is ended. Default: `1800`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_seconds: Option<u32>,
    /// The skills an agent uses before it works on an interface (tasks of type `ui`), in a plan that is loaded from now
    /// on. None: such a task has no such part. A skill that neither the project, nor the user, nor a plugin has is left
    /// out, and `spec lint` and `plan load` say so. Default: `frontend-design` and `vercel-design-guidelines`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ui_skills: Option<Vec<String>>,
    /// Where the tasks are kept. `native`: here, in plans that are loaded and tasks that are added. Another one is
    /// followed as it changes, and told what is done here; evidence, leases and history are kept here all the same.
    /// `beads`: the issues that `bd` or `br` lists. `claude-tasks`: the task list of Claude Code. `tdd-progress`: the
    /// slices of `.tdd-progress.md`. Default: `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<TaskSource>,
    /// The epic of beads whose descendants are the tasks, like `bd-x7y8`. Empty: every issue is one. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic: Option<String>,
    /// The id of Claude Code's task list. Empty: the one the session works with. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_list_id: Option<String>,
    /// The file of `tdd-progress`, from the root of the checkout. Empty: `.tdd-progress.md`. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Where tasks are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TaskSource {
    /// Here.
    #[default]
    Native,
    /// Issues that `bd` or `br` lists.
    Beads,
    /// The task list of Claude Code.
    ClaudeTasks,
    /// The slices of `.tdd-progress.md`.
    TddProgress,
}

impl TaskSource {
    pub const ALL: [Self; 4] = [Self::Native, Self::Beads, Self::ClaudeTasks, Self::TddProgress];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Beads => "beads",
            Self::ClaudeTasks => "claude-tasks",
            Self::TddProgress => "tdd-progress",
        }
    }

    /// Whether there is nobody else to ask.
    pub fn is_native(&self) -> bool {
        *self == Self::Native
    }
}
