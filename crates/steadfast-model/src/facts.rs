use serde::{Deserialize, Serialize};

use crate::sparse::{is_default, sparse};
use crate::{
    AddedBy, Approval, DoneHere, Gate, GitAlias, Leased, LoopView, Marks, Millis, NamedPath, PlanId, Rules, RunId,
    SealBreak, SessionId, TaskFile, TaskId, TaskLine,
};

macro_rules! needs {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* $need:ident,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $need: bool,)+
        }

        impl $name {
            pub fn and(self, other: Self) -> Self {
                Self { $($need: self.$need || other.$need,)+ }
            }
        }
    };
}

needs! {
    /// The facts that an event needs. Most tool events need none.
    pub struct Needs {
        /// The plan of this worktree.
        plan,
        /// The files of the plan's tasks.
        task_files,
        /// The gate of this session.
        gate,
        /// The changes of sealed files.
        seal,
        /// The changes of sealed trees. Requires git.
        tree,
        /// The processes that a tool call of the agent started.
        running,
        /// The protected paths with uncommitted changes. Requires git.
        uncommitted,
        /// The state of our hooks in the hosts' settings.
        wiring,
        /// The files that a call changed without naming them. Requires git.
        changed,
        /// The files that usually change together with the written ones.
        neighbours,
        /// The budget of the run that this session works for.
        budget,
        /// The paths behind names that the human used. Requires git.
        found,
        /// The unfinished loop of this worktree.
        looped,
        /// The ledger's name of this checkout.
        checkout,
        /// The state of the processes that the session waits for.
        processes,
        /// The settings files in the checkout that contain our hooks, and their status in git.
        wired,
        /// The settings files that a call removed and Steadfast restores.
        removed,
        /// The paths where this program is installed.
        programs,
        /// The files that a call would create.
        new_files,
        /// The history and the manifests, for constraints that a script can break unnoticed.
        marks,
        /// The definitions of the git aliases in a command.
        aliases,
    }
}

/// A fact about the world. `Unknown` has the reason why it could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    #[default]
    NotAsked,
    Unknown(String),
    Known(T),
}

sparse! {
    /// The facts about the world that a decision used. They are journalled with it, so that a replay is exact.
    pub struct Facts {
        /// The configuration, if it differs from the one in the session's state.
        rules: Option<NewRules>,
        plan: Fact<Option<PlanView>>,
        /// The state of the plan's done tasks here. Read if no task is open.
        done: Fact<DoneHere>,
        /// The plan's tasks that other living sessions have started.
        leased: Vec<Leased>,
        /// The files of the plan's open tasks, from the session's root; at most [`Facts::TASK_FILES`].
        task_files: Vec<TaskFile>,
        /// The changes in the external tracker, or why they are not known, one line each.
        elsewhere: Vec<String>,
        /// The change of the file that the plan was loaded from. Read at the start of a session.
        spec: Option<SpecChange>,
        /// The marker of this session's gate.
        gate: Option<Gate>,
        /// The sealed files that changed.
        seal: Vec<SealBreak>,
        /// The changes in sealed trees, at most [`SealBreak::AT_ONCE`].
        tree: Fact<Vec<SealBreak>>,
        /// A process that a tool call of the agent started still runs. Read only at a closed gate.
        running: Fact<bool>,
        /// Protected paths with uncommitted changes. Read before a call that would discard such changes.
        uncommitted: Vec<String>,
        /// The changes of our hooks in the hosts' settings. Read if there is a change to report, or was one.
        wiring: Fact<Vec<String>>,
        /// The real targets of written paths that lead through links.
        behind_links: Vec<String>,
        /// The real targets of paths in a command line, and of protected paths, that lead through links. Read at a
        /// closed gate.
        links: Vec<PathLink>,
        /// The files that changed during a call, from the session's root; at most [`Facts::CHANGED`].
        changed: Fact<Vec<String>>,
        /// The files that change together with the written ones in the history.
        neighbours: Vec<Neighbours>,
        /// The spent budget of the run that this session works for, with the amount if it is known.
        spent: Option<String>,
        /// The plans of the session that `/clear` has just ended in the same host. Read at the start of the next
        /// session.
        inherited: Vec<PlanId>,
        /// A run started this session. Read at the start of a session.
        of_run: bool,
        /// The processes of the session's hosts, if the hook records them again.
        hosts: Option<String>,
        /// The path of the host's transcript. Set at the start of a session.
        transcript: Option<String>,
        /// The paths behind names that the human used.
        found: Fact<Vec<NamedPath>>,
        /// The text about the unfinished loop of this worktree.
        looped: Option<String>,
        /// The unfinished loop of this worktree, if any.
        unfinished: Fact<Option<LoopView>>,
        /// The ledger's name of this checkout.
        checkout: Option<String>,
        /// The processes behind [`Stopping::processes`](crate::Stopping::processes), in that order. Empty: not read.
        processes: Vec<Liveness>,
        /// The settings files in the checkout that contain our hooks. Read before git deletes files.
        wired: Vec<WiredFile>,
        /// The settings files that the call removed, and the result of restoring them.
        removed: Vec<RemovedFile>,
        /// The paths where this program is installed. Read if a call names one.
        programs: Vec<String>,
        /// The call writes a host's settings and leaves our hooks in them unchanged.
        keeps_hooks: bool,
        /// The files that a call would create, as absolute paths.
        new_files: Vec<String>,
        marks: Option<Marks>,
        aliases: Vec<GitAlias>,
    }
}

/// A path as it was written, and the target it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathLink {
    pub path: String,
    pub target: String,
}

/// A settings file in the checkout that contains our hooks, and its status in git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiredFile {
    pub path: String,
    /// The same path, from the root of the checkout.
    pub within: String,
    pub tracked: bool,
    /// The folder contains a tracked file.
    pub folder_tracked: bool,
    pub ignored: bool,
}

impl WiredFile {
    pub fn relative(&self) -> &str {
        &self.within
    }

    /// The first folder of the relative path.
    pub fn folder(&self) -> &str {
        self.within.split('/').next().unwrap_or_default()
    }

    pub fn root(&self) -> &str {
        self.path.strip_suffix(&self.within).unwrap_or(&self.path).trim_end_matches('/')
    }
}

/// A settings file with our hooks that a call removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedFile {
    pub path: String,
    /// Why Steadfast could not restore the file. `None`: the file was restored and verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The state of a background process, according to the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveness {
    /// The process could not be looked up. Only the host reports that it runs.
    Unknown,
    Gone,
    Runs,
    /// The process, or one that it started, listens on this TCP port.
    Listens {
        port: u16,
    },
}

impl Facts {
    /// The limit of reported changed files.
    pub const CHANGED: usize = 32;
    /// The limit of remembered task files.
    pub const TASK_FILES: usize = 32;
}

/// A file and the files that usually changed in the same commits, from the session's root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    pub path: String,
    pub with: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRules {
    /// Identifies this version of the configuration files.
    pub stamp: u64,
    pub rules: Rules,
}

/// The part of a plan that a decision needs. It is also the content of a plan's slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanView {
    pub id: PlanId,
    pub title: String,
    pub worktree: String,
    /// Hash of the authored plan. A plain list of tasks has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The author of the plan in the ledger.
    #[serde(default)]
    pub added_by: AddedBy,
    #[serde(default, skip_serializing_if = "is_default")]
    pub approval: Approval,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<SessionId>,
    /// The end of the owner's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_ended: Option<OwnerEnd>,
    /// The run of this plan, until it ends. Meanwhile no session can take the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    pub counts: Counts,
    /// The first few open tasks, the next one first.
    pub open: Vec<TaskLine>,
    /// Tasks whose check is running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checking: Vec<Checking>,
    #[serde(default, skip_serializing_if = "Brief::is_empty")]
    pub brief: Brief,
}

/// The change of a plan's spec since it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecChange {
    /// Loading the spec again would change the plan.
    Changed,
    /// The spec no longer compiles.
    Broken,
    Gone,
}

impl SpecChange {
    /// Describes the change and the next step.
    pub fn describe(self, spec: &str, plan: &PlanId) -> String {
        match self {
            Self::Changed => format!(
                "`{spec}` changed since plan {plan} was loaded; `steadfast plan load {spec}` loads it again, and what did \
                 not change keeps its status"
            ),
            Self::Broken => format!(
                "`{spec}` changed since plan {plan} was loaded, and does not compile; `steadfast spec lint {spec}` shows \
                 why, then `steadfast plan load {spec}` loads it again"
            ),
            Self::Gone => format!("`{spec}`, from which plan {plan} was loaded, does not exist any more"),
        }
    }
}

/// A running check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checking {
    pub task: TaskId,
    /// The name of the check's run. Its supervisor holds the lock of that name.
    pub run: String,
}

/// The context that an agent needs again after a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The file that the plan was compiled from, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// The success criteria of the whole plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// The must-nots of the unfinished loop. Steadfast refuses actions that visibly break one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_nots: Vec<String>,
    /// Exceptions to the must-nots: tasks in progress that undo a broken must-not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taking_back: Vec<TakingBack>,
    /// A completion promise of this plan only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    /// The name of the current phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The decisions of all phases, as `what: why`. Those of this phase are at the end, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// How often in a row the agent ran out of context without closing a task.
    #[serde(default)]
    pub checkpoints: u32,
    /// Details of the first open task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Current>,
}

/// A task that undoes a broken must-not, and the paths that broke it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakingBack {
    pub task: TaskId,
    pub paths: Vec<String>,
}

/// The details of the first open task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Description of the check, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Number of failed attempts.
    #[serde(default)]
    pub stuck_count: u32,
    /// The current attempt is already in `stuck_count`: its check failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counted: bool,
}

impl Brief {
    /// The limit of constraints and of criteria.
    pub const SHOWN: usize = 6;
    pub const DECISIONS: usize = 12;
    pub const MUST_NOTS: usize = 24;

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl OwnerEnd {
    /// The reason for an owner whose end was not recorded.
    pub const SILENT: &str = "silent";
}

impl PlanView {
    /// The limit of open tasks in a view.
    pub const SHOWN: usize = 6;
}

/// The end of a session, in the host's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerEnd {
    pub reason: String,
    pub at: Millis,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub pending: u32,
    pub in_progress: u32,
    pub done: u32,
    pub blocked: u32,
}

impl Counts {
    pub fn open(self) -> u32 {
        self.pending + self.in_progress
    }

    pub fn all(self) -> u32 {
        self.open() + self.closed()
    }

    pub fn closed(self) -> u32 {
        self.done + self.blocked
    }
}
