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
        /// The files of its tasks.
        task_files,
        /// The gate that stands before this session.
        gate,
        /// Whether what it seals is as it was.
        seal,
        /// Whether what it seals as a tree is: that takes git.
        tree,
        /// Whether something runs that a tool call of the agent started.
        running,
        /// Which protected paths have changes that are not committed: that takes git.
        uncommitted,
        /// Whether the hosts' settings still call us.
        wiring,
        /// What a call changed that does not show it: that takes git.
        changed,
        /// What goes with the files that a call wrote.
        neighbours,
        /// Whether the run that this session works for has spent its budget.
        budget,
        /// Where in the tree is what the human called by its name: that takes git.
        found,
        /// The loop of this worktree that is not finished.
        looped,
        /// Which checkout this is, as the ledger names it.
        checkout,
        /// What the processes are doing that the session waits for.
        processes,
        /// The settings in the checkout that our hooks stand in, and what git knows of them.
        wired,
        /// Whether a call removed them, which is undone.
        removed,
        /// Where this program is installed.
        programs,
        /// Which of the files that a call would write are not there yet.
        new_files,
        /// The history and the manifests, for a constraint that a script can break unseen.
        marks,
        /// What the aliases of git stand for that a command uses.
        aliases,
    }
}

/// Something about the world, or that it is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    #[default]
    NotAsked,
    /// Why not.
    Unknown(String),
    Known(T),
}

sparse! {
    /// What the world said before a decision. Journalled with it, so that a replay is exact.
    pub struct Facts {
        /// The configuration, where it is not the one the session's state knows.
        rules: Option<NewRules>,
        /// The plan of this worktree, if there is one.
        plan: Fact<Option<PlanView>>,
        /// How its done tasks stand here. Asked where nothing is open.
        done: Fact<DoneHere>,
        /// Its tasks that other living sessions have started.
        leased: Vec<Leased>,
        /// The files of its open tasks, from the session's root; at most [`Facts::TASK_FILES`].
        task_files: Vec<TaskFile>,
        /// What happened in the list that its tasks are kept in, or why that is not known, a line each.
        elsewhere: Vec<String>,
        /// What became of the file that the plan was loaded from. Asked at the start of a session.
        spec: Option<SpecChange>,
        /// The marker of the gate that stands before this session.
        gate: Option<Gate>,
        /// What of the sealed paths is not as it was.
        seal: Vec<SealBreak>,
        /// The same of what is sealed as a tree, at most [`SealBreak::AT_ONCE`].
        tree: Fact<Vec<SealBreak>>,
        /// Whether something runs that a tool call of the agent started. Asked at a closed gate alone.
        running: Fact<bool>,
        /// Protected paths with changes that are not committed. Asked before a call that puts such changes away.
        uncommitted: Vec<String>,
        /// What of our hooks in the hosts' settings is not as it was; asked where there is something to say, or was.
        wiring: Fact<Vec<String>>,
        /// Where the paths of a write really lead, if that is elsewhere than they say.
        behind_links: Vec<String>,
        /// Where paths of a command line, and protected paths, really lead, if that is elsewhere than they say. Asked at a closed
        /// gate.
        links: Vec<PathLink>,
        /// The files that changed while a call ran, from the session's root; at most [`Facts::CHANGED`].
        changed: Fact<Vec<String>>,
        /// What history changes together with the files that were written.
        neighbours: Vec<Neighbours>,
        /// The budget of the run that this session works for is spent: how much of what, if that is known.
        spent: Option<String>,
        /// The plans that a session was bound to which `/clear` has just ended in the same host. Asked at the start of the
        /// session that follows it.
        inherited: Vec<PlanId>,
        /// A run started this session. Asked at the start of a session.
        of_run: bool,
        /// The processes of the session's hosts, where the hook notes them anew.
        hosts: Option<String>,
        /// Where the host writes the session down. Said at the start of a session.
        transcript: Option<String>,
        /// Where in the tree is what the human called by its name.
        found: Fact<Vec<NamedPath>>,
        /// What is said of the loop of this worktree that is not finished.
        looped: Option<String>,
        /// The loop of this worktree that is not finished, if there is one.
        unfinished: Fact<Option<LoopView>>,
        /// The checkout, as the ledger names it.
        checkout: Option<String>,
        /// The processes behind [`Stopping::processes`](crate::Stopping::processes), in that order. Empty: not asked.
        processes: Vec<Liveness>,
        /// The settings in the checkout that our hooks stand in. Asked where git is about to sweep files away.
        wired: Vec<WiredFile>,
        /// What the call removed of them, and what came of putting it back.
        removed: Vec<RemovedFile>,
        /// The paths by which this program is installed. Asked where a call names it.
        programs: Vec<String>,
        /// The call writes settings of a host, and leaves what concerns us in them as it is.
        keeps_hooks: bool,
        /// Files that a call would write and that are not there yet: absolute paths.
        new_files: Vec<String>,
        marks: Option<Marks>,
        aliases: Vec<GitAlias>,
    }
}

/// A path as it is said, and the place it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathLink {
    pub path: String,
    pub target: String,
}

/// A settings file in the checkout that our hooks stand in, as git knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiredFile {
    pub path: String,
    /// The same from the root of the checkout.
    pub within: String,
    pub tracked: bool,
    /// Something in its folder is tracked.
    pub folder_tracked: bool,
    pub ignored: bool,
}

impl WiredFile {
    /// The path from the root of the checkout.
    pub fn relative(&self) -> &str {
        &self.within
    }

    /// The first folder of that path.
    pub fn folder(&self) -> &str {
        self.within.split('/').next().unwrap_or_default()
    }

    /// The root of the checkout.
    pub fn root(&self) -> &str {
        self.path.strip_suffix(&self.within).unwrap_or(&self.path).trim_end_matches('/')
    }
}

/// A settings file of ours that a call removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedFile {
    pub path: String,
    /// Why it is not back as it was. None: it is, and was read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A process in the background, as the operating system has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Liveness {
    /// It could not be looked up: only the host says that it runs.
    Unknown,
    /// It has ended.
    Gone,
    Runs,
    /// It, or one that it started, listens on this TCP port.
    Listens {
        port: u16,
    },
}

impl Facts {
    /// The most changed files that are told.
    pub const CHANGED: usize = 32;
    /// The most files of tasks that are kept in mind.
    pub const TASK_FILES: usize = 32;
}

/// A file, and those that were mostly changed in the same commits. From the session's root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    pub path: String,
    pub with: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRules {
    /// Tells this version of the configuration files from any other.
    pub stamp: u64,
    pub rules: Rules,
}

/// The little of a plan that a decision needs; also the content of a plan's slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanView {
    pub id: PlanId,
    pub title: String,
    pub worktree: String,
    /// Over what was authored; a plain list of tasks has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Who put it into the ledger.
    #[serde(default)]
    pub added_by: AddedBy,
    /// How it stands with its human.
    #[serde(default, skip_serializing_if = "is_default")]
    pub approval: Approval,
    /// The session that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<SessionId>,
    /// The owner's session is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_ended: Option<OwnerEnd>,
    /// The run that works it off, until that is over: it is nobody else's meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    pub counts: Counts,
    /// The first few open tasks, what to do next first.
    pub open: Vec<TaskLine>,
    /// Tasks whose check runs just now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checking: Vec<Checking>,
    #[serde(default, skip_serializing_if = "Brief::is_empty")]
    pub brief: Brief,
}

/// What became of the spec of a plan since it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecChange {
    /// Loading it again would change the plan.
    Changed,
    /// It does not compile any more.
    Broken,
    Gone,
}

impl SpecChange {
    /// In words, with what to do next.
    pub fn describe(self, spec: &str, plan: &PlanId) -> String {
        match self {
            Self::Changed => format!(
                "`{spec}` changed since plan {plan} was loaded; `steadfast plan load {spec}` loads it again, and what did \
                 not change keeps its status"
            ),
            Self::Broken => format!(
                "`{spec}` changed since plan {plan} was loaded, and does not compile; `steadfast spec lint {spec}` says \
                 why, then `steadfast plan load {spec}` loads it again"
            ),
            Self::Gone => format!("`{spec}`, from which plan {plan} was loaded, is not there any more"),
        }
    }
}

/// A check that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checking {
    pub task: TaskId,
    /// The name of the run; its supervisor holds the lock of that name.
    pub run: String,
}

/// What an agent has to know again after its context was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The file the plan was compiled from, as it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// By what the whole is seen to be right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// What must not happen while its loop goes on: enforced where an action shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_nots: Vec<String>,
    /// What may be written although it must not be: tasks in progress that take back what broke a must-not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taking_back: Vec<TakingBack>,
    /// A promise of completion of this plan alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    /// The name of the phase that is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The decisions of all phases, as `what: why`: those of this phase at the end, the newest of each last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// How often in a row its agent ran out of context with nothing closed in between.
    #[serde(default)]
    pub checkpoints: u32,
    /// More of the first open task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Current>,
}

/// A task that takes back what broke a must-not, and the paths that did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakingBack {
    pub task: TaskId,
    /// Absolute.
    pub paths: Vec<String>,
}

/// What is known of the first open task beside its line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// How it is checked, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// How many attempts came to nothing.
    #[serde(default)]
    pub stuck_count: u32,
    /// The attempt under way is one of them: its check failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counted: bool,
}

impl Brief {
    /// How many constraints and criteria it carries.
    pub const SHOWN: usize = 6;
    /// How many decisions it carries.
    pub const DECISIONS: usize = 12;
    /// How many must-nots it carries.
    pub const MUST_NOTS: usize = 24;

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl OwnerEnd {
    /// The reason of an owner whose end nobody saw.
    pub const SILENT: &str = "silent";
}

impl PlanView {
    /// How many open tasks a view carries.
    pub const SHOWN: usize = 6;
}

/// How a session ended, in the host's word.
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
