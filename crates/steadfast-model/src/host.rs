use serde::{Deserialize, Serialize};

use crate::label::{from_label, labels};

labels! {
    /// The agent program.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Host {
        Claude = "claude",
        Codex = "codex",
        /// The simulated agent of `steadfast-sim`. It uses Claude Code's protocol.
        Sim = "sim",
    }
}

labels! {
    /// The wiring that delivered an event. The same event can arrive through several; Steadfast counts it once.
    #[serde(rename_all = "snake_case")]
    pub enum Via {
        /// The user's own settings for this repository, not committed.
        Local = "local",
        /// The settings committed with the repository.
        Project = "project",
        /// The user's settings for all repositories.
        User = "user",
        Plugin = "plugin",
        /// Passed at launch by the runner, for one session.
        Run = "run",
        /// The proxy, for a session whose hooks are not there.
        Proxy = "proxy",
    }
}

from_label!(Host "host", Via "wiring");

/// The wirings that delivered one event. A state has many of these, so the usual one is not written.
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
}

impl Default for Vias {
    fn default() -> Self {
        Self::of(Via::Local)
    }
}

impl Host {
    pub const REAL: [Self; 2] = [Self::Claude, Self::Codex];

    pub fn full_name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Sim => "the simulated agent",
        }
    }
}
