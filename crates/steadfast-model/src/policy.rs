use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UnknownName;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyName {
    /// Steadfast's own state, and who may run which command.
    Integrity,
    /// The plan gate and the seal.
    Approval,
    /// What the human forbade.
    Constraint,
    /// Scope, score and corrections.
    Drift,
    /// What is said to be completed.
    Evidence,
    /// The stop gate.
    Completion,
}

impl PolicyName {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Integrity => "integrity",
            Self::Approval => "approval",
            Self::Constraint => "constraint",
            Self::Drift => "drift",
            Self::Evidence => "evidence",
            Self::Completion => "completion",
        }
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which way a verdict falls when a host cannot express it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards refusing: what cannot be asked is denied.
    Gate,
    /// Towards silence: what cannot be asked is said, what cannot be said is noted.
    Advice,
}

/// How far a policy may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Record what it would have said.
    Observe,
    /// Say it, never refuse.
    Advise,
    /// Refuse.
    #[default]
    Enforce,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::Observe, Self::Advise, Self::Enforce];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Advise => "advise",
            Self::Enforce => "enforce",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name).ok_or_else(|| UnknownName {
            what: "mode",
            name: name.to_owned(),
            expected: "`observe`, `advise` or `enforce`",
        })
    }
}
