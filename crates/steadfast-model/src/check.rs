use serde::{Deserialize, Serialize};

/// What proves a task done. A task without one can only be claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A command line that exits with 0.
    Command {
        command: String,
        /// What the author expects to see, in words. Shown, never judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        criteria: Option<String>,
    },
    /// Its files changed since it was started: the check itself belongs to a later link of its chain.
    Changed,
    /// Its files are there, and changed since the task before it in the chain was started.
    Written,
    /// A picture that is newer than the last change of its files.
    Artifact {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        criteria: Option<String>,
    },
    /// Its section of the decisions file is really there.
    Decision,
    /// The named skills were used.
    Skills { names: Vec<String> },
}

/// A command that the human's own words say has to pass: "Done when `make test` passes".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedCheck {
    pub command: String,
    /// The sentence that says so.
    pub said: String,
    /// What the command stood for when it was taken over, as a check's definition is frozen. `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
}

impl StatedCheck {
    pub fn new(command: impl Into<String>, said: impl Into<String>) -> Self {
        Self { command: command.into(), said: said.into(), frozen: None }
    }
}

impl Check {
    /// How the check of a task begins that meets an objection of the gate: the program itself looks whether it is met.
    pub const TAKE_BACK: &str = "steadfast loop objection";

    /// Whether it is about a must-not that was broken: what broke it may be written while its task is in progress.
    pub fn takes_back(&self) -> bool {
        self.as_command()
            .is_some_and(|command| command.starts_with(Self::TAKE_BACK) && command.contains(" --must-not "))
    }

    pub fn command(command: impl Into<String>) -> Self {
        Self::Command { command: command.into(), criteria: None }
    }

    /// The command line, where it is one.
    pub fn as_command(&self) -> Option<&str> {
        match self {
            Self::Command { command, .. } => Some(command),
            _ => None,
        }
    }

    /// What its author expects to see.
    pub fn criteria(&self) -> Option<&str> {
        match self {
            Self::Command { criteria, .. } | Self::Artifact { criteria } => criteria.as_deref(),
            Self::Changed | Self::Written | Self::Decision | Self::Skills { .. } => None,
        }
    }

    /// What it takes, in words.
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

    /// One word for listings.
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
