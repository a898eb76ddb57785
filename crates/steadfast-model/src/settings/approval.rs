use serde::{Deserialize, Serialize};

use crate::{Millis, Trigger, Waiting};

/// When a plan needs a human's yes, and what is not written before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalOptions {
    /// Whether every plan that an agent loads needs a human's yes before its first task is started. Default: `false`:
    /// only what was drafted before a closed gate does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// What is not written while a gate is closed, from the root of the checkout: files, folders with a `/` behind them,
    /// `*` and `?` within a part, `**` for any number of folders. The path of the draft is protected, too. Default:
    /// `.tdd-progress.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected: Option<Vec<String>>,
    /// What closes the gate: `plan-mode`, `agent:NAME` (a subagent of that type, of whatever plugin, which may then
    /// only read), `command:NAME` (a slash command the human types). Default: `plan-mode`, `agent:planner`,
    /// `agent:steadfast-planner`, `agent:tdd-planner`, `command:tdd-plan`, `command:steadfast-plan`,
    /// `command:steadfast:plan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triggers: Option<Vec<String>>,
    /// Where a planner may write, from the root of the checkout. Default: `.steadfast/scratch/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch: Option<String>,
    /// What becomes of a command that may write something protected, but need not: `watch` lets it run and puts back
    /// what it changed, `ask` asks the human, `deny` refuses it. A planner is refused in any case. Default: `watch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possible: Option<Possible>,
    /// How many hours a gate that was closed in a terminal stands; `0`: until it is opened. Default: `24`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_hours: Option<u32>,
    /// How an approval is signed: `default` with a key of Steadfast's in the user's own state, `hardened` by
    /// `ssh-keygen -Y sign` with the key named in `approval.key`, only in a terminal. Default: `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The SSH key of the hardened profile, best one that wants a touch or a passphrase. No default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What becomes of a command that may write something protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Possible {
    #[default]
    Watch,
    Ask,
    Deny,
}

impl Possible {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// How an approval is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    #[default]
    Default,
    Hardened,
}

impl Profile {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Hardened => "hardened",
        }
    }
}

/// When a plan needs a human's yes. What is as by default is not written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalRules {
    pub required: bool,
    /// `None`: [`Self::PROTECTED`] alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected: Option<Vec<String>>,
    /// `None`: those of [`Self::TRIGGERS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triggers: Option<Vec<String>>,
    /// `None`: [`Self::SCRATCH`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch: Option<String>,
    pub possible: Possible,
    pub expires_hours: u32,
    pub profile: Profile,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Default for ApprovalRules {
    fn default() -> Self {
        Self {
            required: false,
            protected: None,
            triggers: None,
            scratch: None,
            possible: Possible::Watch,
            expires_hours: Self::EXPIRES_HOURS,
            profile: Profile::Default,
            key: None,
        }
    }
}

impl ApprovalRules {
    /// How long a draft waits for its human that was proposed then.
    pub fn waiting(&self, since: Millis) -> Waiting {
        const HOUR: i64 = 60 * 60 * 1_000;
        let hours = i64::from(self.expires_hours);
        let until = (hours > 0).then(|| Millis(since.0.saturating_add(hours.saturating_mul(HOUR))));
        Waiting { since, until }
    }

    pub const PROTECTED: &str = ".tdd-progress.md";
    pub const TRIGGERS: [&str; 7] = [
        "plan-mode",
        "agent:planner",
        "agent:steadfast-planner",
        "agent:tdd-planner",
        "command:tdd-plan",
        "command:steadfast-plan",
        "command:steadfast:plan",
    ];
    pub const SCRATCH: &str = ".steadfast/scratch/";
    pub const EXPIRES_HOURS: u32 = 24;

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What is not written while a gate is closed.
    pub fn protected(&self) -> impl Iterator<Item = &str> {
        let by_default = self.protected.is_none().then_some(Self::PROTECTED);
        by_default.into_iter().chain(self.protected.iter().flatten().map(String::as_str))
    }

    /// What closes a gate.
    pub fn triggers(&self) -> impl Iterator<Item = Trigger> {
        let by_default = if self.triggers.is_none() { &Self::TRIGGERS[..] } else { &[] };
        let said = self.triggers.iter().flatten().map(String::as_str);
        by_default.iter().copied().chain(said).filter_map(Trigger::parse)
    }

    /// Whether a subagent of this type is a planner. The plugin before its name does not matter.
    pub fn is_planner(&self, agent_type: &str) -> bool {
        let name = agent_type.rsplit(':').next().unwrap_or(agent_type);
        self.triggers().any(|trigger| matches!(&trigger, Trigger::Agent(role) if role == name || role == agent_type))
    }

    /// Where a planner may write.
    pub fn scratch(&self) -> &str {
        self.scratch.as_deref().unwrap_or(Self::SCRATCH)
    }
}
