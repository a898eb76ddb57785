use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    #[default]
    Default,
    /// The user's own file.
    User,
    /// `workflow.stop_hook` of the project's `project.yaml`.
    #[serde(rename = "project.yaml")]
    ProjectYaml,
    /// The project's `steadfast.toml`.
    Project,
    /// The user's own for this repository, beside its state.
    Local,
}

impl Source {
    /// Nobody but the user wrote it. What comes with a project may not say which commands are run.
    pub fn is_the_users(self) -> bool {
        match self {
            Self::Default | Self::User | Self::Local => true,
            Self::ProjectYaml | Self::Project => false,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::User => "user",
            Self::ProjectYaml => "project.yaml",
            Self::Project => "project",
            Self::Local => "local",
        })
    }
}

/// A value that knows its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sourced<T> {
    pub value: T,
    pub source: Source,
}

impl<T> Sourced<T> {
    pub(super) fn default(value: T) -> Self {
        Self { value, source: Source::Default }
    }

    pub(super) fn take(&mut self, said: Option<T>, source: Source) {
        if let Some(value) = said {
            *self = Self { value, source };
        }
    }
}
