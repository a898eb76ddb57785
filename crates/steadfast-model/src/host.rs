use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Host {
    Claude,
    Codex,
    /// The simulated agent of `steadfast-sim`, which speaks as Claude Code does.
    Sim,
}

/// Through which wiring an event came. The same event may come through several: it is counted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The user's own settings for this repository, not committed.
    Local,
    /// The settings committed with the repository.
    Project,
    /// The user's settings for all repositories.
    User,
    Plugin,
    /// Passed at launch by the runner, for one session.
    Run,
}

/// The wirings that one event came through. A state has many of these: the usual one is not written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Vias(u8);

impl Vias {
    pub fn of(via: Via) -> Self {
        Self(1 << via as u8)
    }

    #[must_use]
    pub fn with(self, via: Via) -> Self {
        Self(self.0 | Self::of(via).0)
    }

    pub fn contains(self, via: Via) -> bool {
        self.with(via) == self
    }

    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Vias {
    fn default() -> Self {
        Self::of(Via::Local)
    }
}

/// A name that is none of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    pub what: &'static str,
    pub name: String,
    pub expected: &'static str,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`, expected {}", self.what, self.name, self.expected)
    }
}

impl std::error::Error for UnknownName {}

impl Host {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Sim];
    /// All but the simulated agent.
    pub const REAL: [Self; 2] = [Self::Claude, Self::Codex];

    /// The name that people use.
    pub fn full_name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Sim => "the simulated agent",
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Sim => "sim",
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Host {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|host| host.as_str() == name).ok_or_else(|| UnknownName {
            what: "host",
            name: name.to_owned(),
            expected: "`claude`, `codex` or `sim`",
        })
    }
}

impl Via {
    pub const ALL: [Self; 5] = [Self::Local, Self::Project, Self::User, Self::Plugin, Self::Run];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin => "plugin",
            Self::Run => "run",
        }
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Via {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|via| via.as_str() == name).ok_or_else(|| UnknownName {
            what: "wiring",
            name: name.to_owned(),
            expected: "`local`, `project`, `user`, `plugin` or `run`",
        })
    }
}
