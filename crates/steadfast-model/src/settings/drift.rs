use serde::{Deserialize, Serialize};

use crate::Level;

/// Where the work of every session is, what it never is, and from when on the agent is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DriftOptions {
    /// What belongs to every session's work, from the root of the checkout: files, folders with a `/` behind them, `*` and
    /// `?` within a part. Default: nothing but what the human's words, the tasks and the work itself say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<String>>,
    /// What no session writes, spelled as in `scope`. Refused like what a human forbids. Default: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never: Option<Vec<String>>,
    /// What every session is forbidden, each a sentence as a human would say it, like `don't commit`. Default: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Vec<String>>,
    /// The mildest level at which the agent is told: `nudge`, `correct`, `intervene` or `halt`. What is milder is only
    /// recorded. Default: `nudge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_below: Option<Level>,
    /// A command line for the shell that is told, on its standard input, what the human asked for and says on its standard
    /// output what else belongs to the work: `{"scope": [path], "keywords": [word]}`. Taken from your own settings alone: in
    /// the `steadfast.toml` that is committed with a project it is ignored. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refine: Option<String>,
}

/// What the score and its answers need of the settings. Read with every event: what is as by default is not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftRules {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub never: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// `None`: [`Self::QUIET_BELOW`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_below: Option<Level>,
    /// There is a command that refines goals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refine: bool,
}

impl DriftRules {
    pub const QUIET_BELOW: Level = Level::Nudge;

    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub fn quiet_below(&self) -> Level {
        self.quiet_below.unwrap_or(Self::QUIET_BELOW)
    }
}
