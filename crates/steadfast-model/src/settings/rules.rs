//! The part of the settings that decisions need. It is stored in the state of a session: its format does not change.

use serde::{Deserialize, Serialize};

use super::{ExitOn, Possible, Profile, Settings, Sourced, TaskSource, Verbosity};
use crate::sparse::{is_default, sparse};
use crate::{Level, Millis, Mode, Trigger, Waiting};

impl Settings {
    pub fn rules(&self) -> Rules {
        let Self { mode, stop, approval, drift, ledger, ui, .. } = self;
        let default = Self::default();
        let all_exits = ExitOn::ALL.iter().all(|exit| stop.allow_exit_on.value.contains(exit));
        Rules {
            integrity: mode.integrity.value,
            approval_mode: mode.approval.value,
            constraint: mode.constraint.value,
            drift_mode: mode.drift.value,
            completion: mode.completion.value,
            task_list: ledger.task_list_id.value.clone(),
            approval: ApprovalRules {
                // A file of slices stays a draft until a human loads it.
                required: approval.required.value || ledger.source.value == TaskSource::TddProgress,
                protected: approval.protected.unless(&default.approval.protected),
                triggers: approval.triggers.unless(&default.approval.triggers),
                scratch: approval.scratch.unless(&default.approval.scratch),
                possible: approval.possible.value,
                expires_hours: approval.expires_hours.value,
                profile: approval.profile.value,
                key: approval.key.value.clone(),
            },
            drift: DriftRules {
                scope: drift.scope.value.clone(),
                never: drift.never.value.clone(),
                constraints: drift.constraints.value.clone(),
                quiet_below: drift.quiet_below.unless(&default.drift.quiet_below),
                refine: !drift.refine.value.trim().is_empty(),
            },
            tasks_from: ledger.source.value,
            verbosity: ui.verbosity.value,
            stop: StopRules {
                enabled: stop.enabled.value,
                check_ready_tasks: stop.check_ready_tasks.value,
                check_in_progress: stop.check_in_progress.value,
                max_cycles: stop.max_cycles.value,
                max_idle: stop.max_idle.value,
                exits: (!all_exits).then(|| stop.allow_exit_on.value.clone()),
                promises: stop.completion_promises.unless(&default.stop.completion_promises),
            },
        }
    }
}

impl<T: Clone + PartialEq> Sourced<T> {
    /// Returns the value if it differs from the default.
    fn unless(&self, default: &Self) -> Option<T> {
        (self.value != default.value).then(|| self.value.clone())
    }
}

/// The settings that a decision needs. They are part of a session's state, so that a replay uses the settings of that
/// time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    #[serde(default)]
    pub integrity: Mode,
    #[serde(default)]
    pub approval_mode: Mode,
    #[serde(default, skip_serializing_if = "is_default")]
    pub constraint: Mode,
    #[serde(default = "advise", skip_serializing_if = "is_advise")]
    pub drift_mode: Mode,
    pub completion: Mode,
    /// The id of the host's list. `None`: the one from the host's environment, otherwise the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_list: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub approval: ApprovalRules,
    #[serde(default, skip_serializing_if = "is_default")]
    pub drift: DriftRules,
    /// The source of the tasks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tasks_from: TaskSource,
    /// What the human reads in the host.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verbosity: Verbosity,
    pub stop: StopRules,
}

fn advise() -> Mode {
    Mode::Advise
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_advise(mode: &Mode) -> bool {
    *mode == Mode::Advise
}

impl Default for Rules {
    fn default() -> Self {
        Settings::default().rules()
    }
}

/// The rules for approvals. Values that equal the default are not written.
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
    /// Returns how long a draft that was proposed at `since` waits for its human.
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

    /// Returns the paths that a closed gate protects.
    pub fn protected(&self) -> impl Iterator<Item = &str> {
        let by_default = self.protected.is_none().then_some(Self::PROTECTED);
        by_default.into_iter().chain(self.protected.iter().flatten().map(String::as_str))
    }

    /// Returns the triggers that close a gate.
    pub fn triggers(&self) -> impl Iterator<Item = Trigger> {
        let by_default = if self.triggers.is_none() { &Self::TRIGGERS[..] } else { &[] };
        let said = self.triggers.iter().flatten().map(String::as_str);
        by_default.iter().copied().chain(said).filter_map(Trigger::parse)
    }

    /// Returns true for a planner's agent type. The plugin before its name does not matter.
    pub fn is_planner(&self, agent_type: &str) -> bool {
        let name = agent_type.rsplit(':').next().unwrap_or(agent_type);
        self.triggers().any(|trigger| matches!(&trigger, Trigger::Agent(role) if role == name || role == agent_type))
    }

    /// Returns the folder that a planner may write to.
    pub fn scratch(&self) -> &str {
        self.scratch.as_deref().unwrap_or(Self::SCRATCH)
    }
}

sparse! {
    /// The settings of the drift policy. They are read with every event, so values that equal the default are not
    /// written.
    #[derive(Eq)]
    pub struct DriftRules {
        scope: Vec<String>,
        never: Vec<String>,
        constraints: Vec<String>,
        /// `None`: [`Self::QUIET_BELOW`].
        quiet_below: Option<Level>,
        /// A command that refines goals is configured.
        refine: bool,
    }
}

impl DriftRules {
    pub const QUIET_BELOW: Level = Level::Nudge;

    pub fn quiet_below(&self) -> Level {
        self.quiet_below.unwrap_or(Self::QUIET_BELOW)
    }
}

/// The settings of the stop gate. They are read with every event, so values that equal the default are not written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRules {
    pub enabled: bool,
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub check_ready_tasks: bool,
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub check_in_progress: bool,
    pub max_cycles: u32,
    pub max_idle: u32,
    /// `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exits: Option<Vec<ExitOn>>,
    /// `None`: those of [`Self::PROMISES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promises: Option<Vec<String>>,
}

fn yes() -> bool {
    true
}

impl StopRules {
    pub const NEEDS_USER: &str = "BLOCKED - NEEDS USER";
    pub const CHECKPOINT: &str = "CONTEXT LIMIT - CHECKPOINT";
    pub const PROMISES: [&str; 4] = ["ALL TASKS COMPLETE", "EPIC COMPLETE", Self::NEEDS_USER, Self::CHECKPOINT];

    pub fn allows(&self, exit: ExitOn) -> bool {
        self.exits.as_ref().is_none_or(|exits| exits.contains(&exit))
    }

    /// Returns the texts that count as promises.
    pub fn promises(&self) -> impl Iterator<Item = &str> {
        let by_default = if self.promises.is_none() { &Self::PROMISES[..] } else { &[] };
        by_default.iter().copied().chain(self.promises.iter().flatten().map(String::as_str))
    }
}

impl Default for StopRules {
    fn default() -> Self {
        Rules::default().stop
    }
}
