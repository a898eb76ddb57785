//! Configuration in three forms: [`Options`] is what a file may say, [`Settings`] is what holds and from where,
//! [`Rules`] is the little that deciding needs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Mode;

/// What `steadfast.toml` may say. Every key has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    pub mode: ModeOptions,
    pub stop: StopOptions,
    pub privacy: PrivacyOptions,
}

/// How far each policy may go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ModeOptions {
    /// Steadfast's own state, and the commands that are for a human. Default: `enforce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Mode>,
    /// The stop gate: refuses to end a turn while tasks are open. Default: `enforce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<Mode>,
}

/// When the agent may stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StopOptions {
    /// Whether stopping is looked at at all. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How many refusals to stop there may be between two prompts of the human, before what finished tasks give
    /// back. Default: `50`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cycles: Option<u32>,
    /// How many refusals in a row there may be without a single tool call in between. Default: `3`. Claude Code
    /// overrides the ninth refusal in a row by itself; `8` or more needs `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_idle: Option<u32>,
}

/// What is kept, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PrivacyOptions {
    /// How many days after its last event `steadfast clean` removes a session, with its journal and its history. Tasks,
    /// plans and evidence are kept. Default: `30`. A session that was heard of within a day is never removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retain_days: Option<u32>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    #[default]
    Default,
    /// The user's own file.
    User,
    /// The project's `steadfast.toml`.
    Project,
    /// The user's own for this repository, beside its state.
    Local,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::User => "user",
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
    fn default(value: T) -> Self {
        Self { value, source: Source::Default }
    }

    fn take(&mut self, said: Option<T>, source: Source) {
        if let Some(value) = said {
            *self = Self { value, source };
        }
    }
}

/// What holds: every option resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub mode_integrity: Sourced<Mode>,
    pub mode_completion: Sourced<Mode>,
    pub stop_enabled: Sourced<bool>,
    pub stop_max_cycles: Sourced<u32>,
    pub stop_max_idle: Sourced<u32>,
    pub privacy_retain_days: Sourced<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode_integrity: Sourced::default(Mode::Enforce),
            mode_completion: Sourced::default(Mode::Enforce),
            stop_enabled: Sourced::default(true),
            stop_max_cycles: Sourced::default(50),
            stop_max_idle: Sourced::default(3),
            privacy_retain_days: Sourced::default(30),
        }
    }
}

impl Settings {
    /// Lays what one file says over what held before it.
    pub fn combine(mut self, options: &Options, source: Source) -> Self {
        let Options {
            mode: ModeOptions { integrity, completion },
            stop: StopOptions { enabled, max_cycles, max_idle },
            privacy: PrivacyOptions { retain_days },
        } = options;
        self.mode_integrity.take(*integrity, source);
        self.mode_completion.take(*completion, source);
        self.stop_enabled.take(*enabled, source);
        self.stop_max_cycles.take(*max_cycles, source);
        self.stop_max_idle.take(*max_idle, source);
        self.privacy_retain_days.take(*retain_days, source);
        self
    }

    /// Every key with its value and source, in the order of the file.
    pub fn lines(&self) -> Vec<(&'static str, String, Source)> {
        vec![
            ("mode.integrity", format!("\"{}\"", self.mode_integrity.value), self.mode_integrity.source),
            ("mode.completion", format!("\"{}\"", self.mode_completion.value), self.mode_completion.source),
            ("stop.enabled", self.stop_enabled.value.to_string(), self.stop_enabled.source),
            ("stop.max_cycles", self.stop_max_cycles.value.to_string(), self.stop_max_cycles.source),
            ("stop.max_idle", self.stop_max_idle.value.to_string(), self.stop_max_idle.source),
            ("privacy.retain_days", self.privacy_retain_days.value.to_string(), self.privacy_retain_days.source),
        ]
    }

    pub fn rules(&self) -> Rules {
        Rules {
            integrity: self.mode_integrity.value,
            completion: self.mode_completion.value,
            stop: StopRules {
                enabled: self.stop_enabled.value,
                max_cycles: self.stop_max_cycles.value,
                max_idle: self.stop_max_idle.value,
            },
        }
    }
}

/// The settings a decision needs. Part of a session's state, so that a replay decides by what held then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    #[serde(default)]
    pub integrity: Mode,
    pub completion: Mode,
    pub stop: StopRules,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRules {
    pub enabled: bool,
    pub max_cycles: u32,
    pub max_idle: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Settings::default().rules()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_wins_over_the_user_and_each_value_knows_its_source() {
        let user = Options {
            stop: StopOptions { max_idle: Some(5), max_cycles: Some(9), enabled: None },
            ..Options::default()
        };
        let project = Options {
            mode: ModeOptions { completion: Some(Mode::Advise), integrity: None },
            stop: StopOptions { max_cycles: Some(7), ..StopOptions::default() },
            privacy: PrivacyOptions::default(),
        };
        let settings = Settings::default().combine(&user, Source::User).combine(&project, Source::Project);
        let seen = settings.lines();
        assert_eq!(
            seen,
            [
                ("mode.integrity", "\"enforce\"".to_owned(), Source::Default),
                ("mode.completion", "\"advise\"".to_owned(), Source::Project),
                ("stop.enabled", "true".to_owned(), Source::Default),
                ("stop.max_cycles", "7".to_owned(), Source::Project),
                ("stop.max_idle", "5".to_owned(), Source::User),
                ("privacy.retain_days", "30".to_owned(), Source::Default),
            ]
        );
    }
}
