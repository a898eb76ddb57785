use serde::{Deserialize, Serialize};

/// The proof that a task is done. A task without a check can only be claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A command line that exits with 0.
    Command {
        command: String,
        /// The expected result in the author's words. Shown to reviewers, never evaluated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        criteria: Option<String>,
    },
    /// The task's files changed since it was started. A later task of its chain runs the real check.
    Changed,
    /// The task's files exist and changed since the task before it in the chain was started.
    Written,
    /// A picture that is newer than the last change of the task's files.
    Artifact {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        criteria: Option<String>,
    },
    /// The task's section of the decisions file exists and is filled in.
    Decision,
    Skills {
        names: Vec<String>,
    },
}

/// A command that must pass according to the human's own words: "Done when `make test` passes".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedCheck {
    pub command: String,
    /// The sentence that names the command.
    pub said: String,
    /// The definition of the command when Steadfast recorded it, frozen like a check's. `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
}

impl StatedCheck {
    pub fn new(command: impl Into<String>, said: impl Into<String>) -> Self {
        Self { command: command.into(), said: said.into(), frozen: None }
    }
}

impl Check {
    /// The first words of the check of a task that answers an objection of the gate: Steadfast itself decides whether
    /// the objection is met.
    pub const TAKE_BACK: &str = "steadfast loop objection";

    /// Returns true if the task undoes a broken must-not. While it is in progress, the agent may write the paths that
    /// broke it.
    pub fn takes_back(&self) -> bool {
        self.as_command()
            .is_some_and(|command| command.starts_with(Self::TAKE_BACK) && command.contains(" --must-not "))
    }

    pub fn command(command: impl Into<String>) -> Self {
        Self::Command { command: command.into(), criteria: None }
    }

    pub fn as_command(&self) -> Option<&str> {
        match self {
            Self::Command { command, .. } => Some(command),
            _ => None,
        }
    }

    pub fn criteria(&self) -> Option<&str> {
        match self {
            Self::Command { criteria, .. } | Self::Artifact { criteria } => criteria.as_deref(),
            Self::Changed | Self::Written | Self::Decision | Self::Skills { .. } => None,
        }
    }

    /// Describes the requirement in words.
    pub fn describe(&self) -> String {
        match self {
            Self::Command { command, .. } => format!("`{command}` exits with 0"),
            Self::Changed => "its files changed".into(),
            Self::Written => "its files are there and changed".into(),
            Self::Artifact { .. } => "a picture that is newer than the change (`--artifact FILE`)".into(),
            Self::Decision => "its section of the decisions file is there".into(),
            Self::Skills { names } => {
                format!("{} used", names.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(" and "))
            }
        }
    }

    /// Returns one word for listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Changed => "changed",
            Self::Written => "written",
            Self::Artifact { .. } => "artifact",
            Self::Decision => "decision",
            Self::Skills { .. } => "skills",
        }
    }
}
