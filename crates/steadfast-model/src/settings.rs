//! Configuration in three forms: [`Options`] is what a file may say, [`Settings`] is what holds and from where,
//! [`Rules`] is the little that deciding needs.

mod approval;
mod drift;
mod ledger;
mod limit;
mod looped;
mod period;
mod run;
mod source;
mod stop;
mod usd;

use serde::{Deserialize, Serialize};

use crate::{Level, Mode};

pub use approval::{ApprovalOptions, ApprovalRules, Possible, Profile};
pub use drift::{DriftOptions, DriftRules};
pub use ledger::{LedgerOptions, TaskSource};
pub use looped::{LoopOptions, LoopSettings};
pub use period::{NoPeriod, Period};
pub use run::{Permissions, Price, RunOptions, RunSettings};
pub use source::{Source, Sourced};
pub use stop::{ExitOn, StopOptions, StopRules};
pub use usd::Usd;

/// What `steadfast.toml` may say. Every key has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    pub mode: ModeOptions,
    pub stop: StopOptions,
    pub approval: ApprovalOptions,
    pub drift: DriftOptions,
    pub run: RunOptions,
    #[serde(rename = "loop")]
    pub looped: LoopOptions,
    pub ledger: LedgerOptions,
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
    /// The plan gate: refuses to write what is protected until a human approved the plan. Default: `enforce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Mode>,
    /// What the human forbade in a prompt or with `steadfast goal forbid`: refuses it. Default: `enforce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Mode>,
    /// The score: tells the agent when it leaves its work; with `enforce`, refuses at the fourth level. Default: `advise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Mode>,
    /// The stop gate: refuses to end a turn while tasks are open. Default: `enforce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<Mode>,
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

/// What holds: every option resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub mode_integrity: Sourced<Mode>,
    pub mode_approval: Sourced<Mode>,
    pub mode_constraint: Sourced<Mode>,
    pub mode_drift: Sourced<Mode>,
    pub mode_completion: Sourced<Mode>,
    pub stop_enabled: Sourced<bool>,
    pub stop_check_ready_tasks: Sourced<bool>,
    pub stop_check_in_progress: Sourced<bool>,
    pub stop_max_cycles: Sourced<u32>,
    pub stop_max_idle: Sourced<u32>,
    pub stop_allow_exit_on: Sourced<Vec<ExitOn>>,
    pub stop_completion_promises: Sourced<Vec<String>>,
    pub approval_required: Sourced<bool>,
    pub approval_protected: Sourced<Vec<String>>,
    pub approval_triggers: Sourced<Vec<String>>,
    pub approval_scratch: Sourced<String>,
    pub approval_possible: Sourced<Possible>,
    pub approval_expires_hours: Sourced<u32>,
    pub approval_profile: Sourced<Profile>,
    pub approval_key: Sourced<Option<String>>,
    pub drift_scope: Sourced<Vec<String>>,
    pub drift_never: Sourced<Vec<String>>,
    pub drift_constraints: Sourced<Vec<String>>,
    pub drift_quiet_below: Sourced<Level>,
    /// Empty: none.
    pub drift_refine: Sourced<String>,
    pub run: RunSettings,
    pub looped: LoopSettings,
    pub ledger_check_seconds: Sourced<u32>,
    pub ledger_ui_skills: Sourced<Vec<String>>,
    pub ledger_source: Sourced<TaskSource>,
    pub ledger_epic: Sourced<Option<String>>,
    pub ledger_task_list_id: Sourced<Option<String>>,
    pub ledger_path: Sourced<Option<String>>,
    pub privacy_retain_days: Sourced<u32>,
    /// Keys that a file says and may not, with whose file it is.
    pub ignored: Vec<(&'static str, Source)>,
}

const UI_SKILLS: [&str; 2] = ["frontend-design", "vercel-design-guidelines"];

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode_integrity: Sourced::default(Mode::Enforce),
            mode_approval: Sourced::default(Mode::Enforce),
            mode_constraint: Sourced::default(Mode::Enforce),
            mode_drift: Sourced::default(Mode::Advise),
            mode_completion: Sourced::default(Mode::Enforce),
            stop_enabled: Sourced::default(true),
            stop_check_ready_tasks: Sourced::default(true),
            stop_check_in_progress: Sourced::default(true),
            stop_max_cycles: Sourced::default(50),
            stop_max_idle: Sourced::default(3),
            stop_allow_exit_on: Sourced::default(ExitOn::ALL.to_vec()),
            stop_completion_promises: Sourced::default(StopRules::PROMISES.map(str::to_owned).to_vec()),
            approval_required: Sourced::default(false),
            approval_protected: Sourced::default(vec![ApprovalRules::PROTECTED.to_owned()]),
            approval_triggers: Sourced::default(ApprovalRules::TRIGGERS.map(str::to_owned).to_vec()),
            approval_scratch: Sourced::default(ApprovalRules::SCRATCH.to_owned()),
            approval_possible: Sourced::default(Possible::Watch),
            approval_expires_hours: Sourced::default(ApprovalRules::EXPIRES_HOURS),
            approval_profile: Sourced::default(Profile::Default),
            approval_key: Sourced::default(None),
            drift_scope: Sourced::default(Vec::new()),
            drift_never: Sourced::default(Vec::new()),
            drift_constraints: Sourced::default(Vec::new()),
            drift_quiet_below: Sourced::default(DriftRules::QUIET_BELOW),
            drift_refine: Sourced::default(String::new()),
            run: RunSettings::default(),
            looped: LoopSettings::default(),
            ledger_check_seconds: Sourced::default(1_800),
            ledger_ui_skills: Sourced::default(UI_SKILLS.map(str::to_owned).to_vec()),
            ledger_source: Sourced::default(TaskSource::Native),
            ledger_epic: Sourced::default(None),
            ledger_task_list_id: Sourced::default(None),
            ledger_path: Sourced::default(None),
            privacy_retain_days: Sourced::default(30),
            ignored: Vec::new(),
        }
    }
}

impl Settings {
    /// What says which commands are run and what agents may do is taken from the user's own settings alone: in a file that
    /// comes with a project it is ignored.
    pub const USERS_ALONE: [&str; 4] = ["drift.refine", "run.notify", "run.permissions", "run.arguments"];

    /// Lays what one file says over what held before it. A list replaces the one before it.
    pub fn combine(mut self, options: &Options, source: Source) -> Self {
        let Options {
            mode: ModeOptions { integrity, approval, constraint, drift, completion },
            stop:
                StopOptions {
                    enabled,
                    check_ready_tasks,
                    check_in_progress,
                    max_cycles,
                    max_idle,
                    allow_exit_on,
                    completion_promises,
                },
            approval: ApprovalOptions { required, protected, triggers, scratch, possible, expires_hours, profile, key },
            drift: DriftOptions { scope, never, constraints, quiet_below, refine },
            run,
            looped,
            ledger: LedgerOptions { check_seconds, ui_skills, source: tasks_from, epic, task_list_id, path },
            privacy: PrivacyOptions { retain_days },
        } = options;
        self.mode_integrity.take(*integrity, source);
        self.mode_approval.take(*approval, source);
        self.mode_constraint.take(*constraint, source);
        self.mode_drift.take(*drift, source);
        self.mode_completion.take(*completion, source);
        self.stop_enabled.take(*enabled, source);
        self.stop_check_ready_tasks.take(*check_ready_tasks, source);
        self.stop_check_in_progress.take(*check_in_progress, source);
        self.stop_max_cycles.take(*max_cycles, source);
        self.stop_max_idle.take(*max_idle, source);
        self.stop_allow_exit_on.take(allow_exit_on.clone(), source);
        self.stop_completion_promises.take(completion_promises.clone(), source);
        self.approval_required.take(*required, source);
        self.approval_protected.take(protected.clone(), source);
        self.approval_triggers.take(triggers.clone(), source);
        self.approval_scratch.take(scratch.clone(), source);
        self.approval_possible.take(*possible, source);
        self.approval_expires_hours.take(*expires_hours, source);
        self.approval_profile.take(*profile, source);
        self.approval_key.take(key.clone().map(Some), source);
        self.drift_scope.take(scope.clone(), source);
        self.drift_never.take(never.clone(), source);
        self.drift_constraints.take(constraints.clone(), source);
        self.drift_quiet_below.take(*quiet_below, source);
        let mut users = run.clone();
        if source.is_the_users() {
            self.drift_refine.take(refine.clone(), source);
        } else {
            let given = [refine.is_some(), run.notify.is_some(), run.permissions.is_some(), run.arguments.is_some()];
            self.ignored
                .extend(Self::USERS_ALONE.iter().zip(given).filter(|(_, given)| *given).map(|(key, _)| (*key, source)));
            (users.notify, users.permissions, users.arguments) = (None, None, None);
        }
        self.run.combine(&users, source);
        self.looped.combine(looped, source);
        self.ledger_check_seconds.take(*check_seconds, source);
        self.ledger_ui_skills.take(ui_skills.clone(), source);
        self.ledger_source.take(*tasks_from, source);
        self.ledger_epic.take(named(epic), source);
        self.ledger_task_list_id.take(named(task_list_id), source);
        self.ledger_path.take(named(path), source);
        self.privacy_retain_days.take(*retain_days, source);
        self
    }

    /// Every key with its value and source, in the order of the file. Values are spelled as TOML and JSON both have
    /// them.
    pub fn lines(&self) -> Vec<(&'static str, String, Source)> {
        fn line<T>(
            key: &'static str,
            Sourced { value, source }: &Sourced<T>,
            spell: impl FnOnce(&T) -> String,
        ) -> (&'static str, String, Source) {
            (key, spell(value), *source)
        }
        let mode = |mode: &Mode| format!("\"{mode}\"");
        let name = |name: &Option<String>| quoted(name.as_deref().unwrap_or_default());
        let mut lines = vec![
            line("mode.integrity", &self.mode_integrity, mode),
            line("mode.approval", &self.mode_approval, mode),
            line("mode.constraint", &self.mode_constraint, mode),
            line("mode.drift", &self.mode_drift, mode),
            line("mode.completion", &self.mode_completion, mode),
            line("stop.enabled", &self.stop_enabled, bool::to_string),
            line("stop.check_ready_tasks", &self.stop_check_ready_tasks, bool::to_string),
            line("stop.check_in_progress", &self.stop_check_in_progress, bool::to_string),
            line("stop.max_cycles", &self.stop_max_cycles, u32::to_string),
            line("stop.max_idle", &self.stop_max_idle, u32::to_string),
            line("stop.allow_exit_on", &self.stop_allow_exit_on, |exits| list(exits.iter().map(|exit| exit.as_str()))),
            line("stop.completion_promises", &self.stop_completion_promises, |promises| {
                list(promises.iter().map(String::as_str))
            }),
            line("approval.required", &self.approval_required, bool::to_string),
            line("approval.protected", &self.approval_protected, |paths| list(paths.iter().map(String::as_str))),
            line("approval.triggers", &self.approval_triggers, |triggers| list(triggers.iter().map(String::as_str))),
            line("approval.scratch", &self.approval_scratch, |path| quoted(path)),
            line("approval.possible", &self.approval_possible, |possible| quoted(possible.as_str())),
            line("approval.expires_hours", &self.approval_expires_hours, u32::to_string),
            line("approval.profile", &self.approval_profile, |profile| quoted(profile.as_str())),
            line("approval.key", &self.approval_key, name),
            line("drift.scope", &self.drift_scope, |paths| list(paths.iter().map(String::as_str))),
            line("drift.never", &self.drift_never, |paths| list(paths.iter().map(String::as_str))),
            line("drift.constraints", &self.drift_constraints, |said| list(said.iter().map(String::as_str))),
            line("drift.quiet_below", &self.drift_quiet_below, |level| quoted(level.as_str())),
            line("drift.refine", &self.drift_refine, |command| quoted(command)),
        ];
        lines.extend(self.run.lines());
        lines.extend(self.looped.lines());
        lines.extend([
            line("ledger.check_seconds", &self.ledger_check_seconds, u32::to_string),
            line("ledger.ui_skills", &self.ledger_ui_skills, |skills| list(skills.iter().map(String::as_str))),
            line("ledger.source", &self.ledger_source, |tasks_from| quoted(tasks_from.as_str())),
            line("ledger.epic", &self.ledger_epic, name),
            line("ledger.task_list_id", &self.ledger_task_list_id, name),
            line("ledger.path", &self.ledger_path, name),
            line("privacy.retain_days", &self.privacy_retain_days, u32::to_string),
        ]);
        lines
    }

    pub fn rules(&self) -> Rules {
        let exits = &self.stop_allow_exit_on.value;
        let promises = &self.stop_completion_promises.value;
        Rules {
            integrity: self.mode_integrity.value,
            approval_mode: self.mode_approval.value,
            constraint: self.mode_constraint.value,
            drift_mode: self.mode_drift.value,
            completion: self.mode_completion.value,
            task_list: self.ledger_task_list_id.value.clone(),
            approval: ApprovalRules {
                // A file of slices is somebody's draft until a human loads it.
                required: self.approval_required.value || self.ledger_source.value == TaskSource::TddProgress,
                protected: Some(&self.approval_protected.value)
                    .filter(|paths| **paths != [ApprovalRules::PROTECTED])
                    .cloned(),
                triggers: Some(&self.approval_triggers.value)
                    .filter(|triggers| **triggers != ApprovalRules::TRIGGERS)
                    .cloned(),
                scratch: Some(&self.approval_scratch.value).filter(|path| *path != ApprovalRules::SCRATCH).cloned(),
                possible: self.approval_possible.value,
                expires_hours: self.approval_expires_hours.value,
                profile: self.approval_profile.value,
                key: self.approval_key.value.clone(),
            },
            drift: DriftRules {
                scope: self.drift_scope.value.clone(),
                never: self.drift_never.value.clone(),
                constraints: self.drift_constraints.value.clone(),
                quiet_below: Some(self.drift_quiet_below.value).filter(|level| *level != DriftRules::QUIET_BELOW),
                refine: !self.drift_refine.value.trim().is_empty(),
            },
            tasks_from: self.ledger_source.value,
            stop: StopRules {
                enabled: self.stop_enabled.value,
                check_ready_tasks: self.stop_check_ready_tasks.value,
                check_in_progress: self.stop_check_in_progress.value,
                max_cycles: self.stop_max_cycles.value,
                max_idle: self.stop_max_idle.value,
                exits: Some(exits).filter(|exits| !ExitOn::ALL.iter().all(|exit| exits.contains(exit))).cloned(),
                promises: Some(promises).filter(|promises| **promises != StopRules::PROMISES).cloned(),
            },
        }
    }
}

/// What a key names; an empty text names nothing, which is said too.
fn named(text: &Option<String>) -> Option<Option<String>> {
    text.as_ref().map(|text| Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<_> = texts.map(quoted).collect();
    format!("[{}]", texts.join(", "))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The settings a decision needs. Part of a session's state, so that a replay decides by what held then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    #[serde(default)]
    pub integrity: Mode,
    #[serde(default)]
    pub approval_mode: Mode,
    #[serde(default, skip_serializing_if = "is_enforce")]
    pub constraint: Mode,
    #[serde(default = "advise", skip_serializing_if = "is_advise")]
    pub drift_mode: Mode,
    pub completion: Mode,
    /// Which of the host's lists it is. `None`: as the host's environment says, else the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_list: Option<String>,
    #[serde(default, skip_serializing_if = "ApprovalRules::is_default")]
    pub approval: ApprovalRules,
    #[serde(default, skip_serializing_if = "DriftRules::is_default")]
    pub drift: DriftRules,
    /// Where tasks are kept.
    #[serde(default, skip_serializing_if = "TaskSource::is_native")]
    pub tasks_from: TaskSource,
    pub stop: StopRules,
}

fn advise() -> Mode {
    Mode::Advise
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_advise(mode: &Mode) -> bool {
    *mode == Mode::Advise
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_enforce(mode: &Mode) -> bool {
    *mode == Mode::Enforce
}

impl Default for Rules {
    fn default() -> Self {
        Settings::default().rules()
    }
}

#[cfg(test)]
mod tests;
