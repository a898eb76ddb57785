//! Configuration in three forms: [`Options`] is the content of a file, [`Settings`] is the result of all files with the
//! source of each value, [`Rules`] is the part that decisions need.
//!
//! `settings/table.rs` writes each key once. Everything else about a key is derived from that line.

mod choice;
mod limit;
mod period;
mod rules;
mod table;
mod usd;
mod value;

use serde::{Deserialize, Serialize};

use crate::Limits;
use crate::label::labels;

pub use choice::{ExitOn, Permissions, Possible, Price, Profile, ProxyMode, TaskSource, Verbosity};
pub use limit::{Budget, Iterations, Tokens};
pub use period::{InvalidPeriod, Period};
pub use rules::{ApprovalRules, DriftRules, Rules, StopRules};
pub use table::{
    ApprovalOptions, ApprovalSettings, DriftOptions, DriftSettings, LedgerOptions, LedgerSettings, LoopOptions,
    LoopSettings, ModeOptions, ModeSettings, Options, PrivacyOptions, PrivacySettings, ProxyOptions, ProxySettings,
    RunOptions, RunSettings, Settings, StopOptions, StopSettings, UiOptions, UiSettings,
};
pub use usd::Usd;
pub use value::SettingValue;

labels! {
    /// The origin of a value. A later file overrides an earlier one.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum Source {
        #[default]
        Default = "default",
        User = "user",
        /// `workflow.stop_hook` of the project's `project.yaml`.
        #[serde(rename = "project.yaml")]
        ProjectYaml = "project.yaml",
        /// The project's `steadfast.toml`.
        Project = "project",
        /// The user's own file for this repository, beside its state.
        Local = "local",
    }
}

impl Source {
    /// Returns true for files that only the user writes. A file that comes with a project must not choose commands that
    /// run.
    pub fn is_the_users(self) -> bool {
        match self {
            Self::Default | Self::User | Self::Local => true,
            Self::ProjectYaml | Self::Project => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sourced<T> {
    pub value: T,
    pub source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetBy {
    Anyone,
    /// Only the user's own files: the key chooses commands that run, or the permissions of agents.
    UserOnly,
}

/// The description of a key, for the commands and for the generated documents.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// `stop.max_idle`
    pub name: &'static str,
    pub set_by: SetBy,
    /// The flag that overrides it for one command.
    pub flag: Option<&'static str>,
    expected: fn() -> String,
}

impl Key {
    /// Describes the values that the key accepts.
    pub fn expected(&self) -> String {
        (self.expected)()
    }
}

impl Settings {
    pub fn key(name: &str) -> Option<&'static Key> {
        Self::KEYS.iter().find(|key| key.name == name)
    }
}

impl RunSettings {
    pub fn limits(&self) -> Limits {
        Limits {
            parallel: self.parallel.value.get(),
            iterations: self.iterations.value.0,
            micro_usd: Some(self.budget_usd.value.0.micro).filter(|micro| *micro > 0),
            tokens: Some(self.tokens.value.0).filter(|tokens| *tokens > 0),
            wall_ms: self.wall_time.value.limit(),
            unit_ms: self.unit_time.value.limit(),
            silence_ms: self.silence.value.limit(),
            behind_proxy: self.proxy.value,
        }
    }
}

#[cfg(test)]
mod tests;
