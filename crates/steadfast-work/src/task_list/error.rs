use std::io;
use std::path::PathBuf;

use steadfast_check::definition::DefineError;
use steadfast_model::{PlanId, RunId, SessionId, Status, TaskId};
use steadfast_store::{GrantError, SigningError};

use super::word;
use crate::error::Cause;

/// Why a task was not started, closed, blocked or changed.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("a task needs a title, and this one is empty")]
    NoTitle,
    #[error("a note says something, and this one is empty")]
    EmptyNote,
    #[error("a task is blocked by something: `--why` is empty")]
    NoReason,
    #[error("there are no tasks in this worktree")]
    NoTasks,
    #[error("task `{task}` is worked off by run `{run}`")]
    InRun { task: TaskId, run: RunId },
    #[error("task `{task}` is in progress in session {session}")]
    Leased { task: TaskId, session: SessionId },
    #[error("task `{0}` is blocked, and only a human puts it back")]
    Blocked(TaskId),
    #[error("task `{task}` is {}, not blocked", word(*status))]
    NotBlocked { task: TaskId, status: Status },
    #[error("task `{task}` cannot be closed from within the check of task `{checked}`")]
    InsideCheck { task: TaskId, checked: String },
    #[error("stale tasks cannot be checked from within the check of task `{checked}`")]
    ChecksInsideCheck { checked: String },
    #[error("task `{task}` waits for {}", quoted(open))]
    Waits { task: TaskId, open: Vec<TaskId> },
    #[error("only a human closes task `{0}` without its check")]
    ForcedByAgent(TaskId),
    #[error("only a human says yes to a changed check")]
    AcceptedByAgent(TaskId),
    #[error(
        "task `{task}` stays open: its check `{command}` is not what it was when the plan was loaded: {difference}"
    )]
    CheckChanged { task: TaskId, command: String, difference: String },
    #[error("no check of task `{0}` runs")]
    NoCheckRuns(TaskId),
    #[error("task `{0}` has no command to check it by")]
    NoCommand(TaskId),
    #[error("task `{0}` is closed by a picture that shows it")]
    NoArtifact(TaskId),
    #[error("what the check `{command}` stands for cannot be read: {source}")]
    Undefined { command: String, source: DefineError },
    #[error("the check of task `{task}` cannot be started: {source}")]
    NotStarted { task: TaskId, source: io::Error },
    #[error("task `{task}` stays open: its files cannot be looked at: {why}")]
    NotSeen { task: TaskId, why: String },
    #[error("the check of task `{task}` says nothing: {how}")]
    CheckLost { task: TaskId, how: String },
    #[error("the check `{command}`, which the request states, cannot be started: {source}")]
    StatedNotStarted { command: String, source: io::Error },
    #[error("the check `{command}`, which the request states, has no result: {how}")]
    StatedLost { command: String, how: String },
    #[error("the check of task `{task}` says nothing: `{}` is nearly full", folder.display())]
    DiskFull { task: TaskId, folder: PathBuf },
}

impl TaskError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::NoTitle | Self::EmptyNote | Self::NoReason => Cause::Input,
            Self::NoTasks => Cause::NotFound,
            Self::InRun { .. }
            | Self::Leased { .. }
            | Self::Blocked(_)
            | Self::InsideCheck { .. }
            | Self::ChecksInsideCheck { .. }
            | Self::ForcedByAgent(_)
            | Self::AcceptedByAgent(_) => Cause::Refused,
            Self::CheckChanged { .. } => Cause::NeedsHuman,
            Self::NotBlocked { .. }
            | Self::Waits { .. }
            | Self::NoCheckRuns(_)
            | Self::NoCommand(_)
            | Self::NoArtifact(_) => Cause::State,
            // What is too large or leads too far is written by whoever does the task.
            Self::Undefined { source: DefineError::TooLarge(_) | DefineError::TooMany { .. }, .. } => Cause::State,
            Self::Undefined { source: DefineError::File { .. } | DefineError::NotHashed { .. }, .. }
            | Self::NotStarted { .. }
            | Self::NotSeen { .. }
            | Self::CheckLost { .. }
            | Self::StatedNotStarted { .. }
            | Self::StatedLost { .. }
            | Self::DiskFull { .. } => Cause::Infrastructure,
        }
    }
}

/// Why a plan was not loaded, drafted, found or put away.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("there is no plan in this worktree")]
    NoPlan,
    #[error("there is no plan `{plan}` in this worktree")]
    Unknown { plan: PlanId, known: Vec<PlanId> },
    #[error("every task of plan `{plan}` is done, and plan `{other}` has open ones: it stays in force")]
    AllDone { plan: PlanId, other: PlanId },
    #[error("{name} is not loaded: the plan gate is closed")]
    GateClosed {
        name: String,
        /// The file that could be proposed instead.
        source_file: Option<String>,
    },
    #[error("`{path}` is not loaded: it is not plan {short}, which was drafted for that file")]
    NotTheDraft { path: String, short: String },
    #[error("`{path}` is loaded as plan `{plan}` and has changed since: a human loads it again")]
    Changed { path: String, plan: PlanId },
    #[error(
        "`{path}` is loaded with {}, whose skills are not installed any more: a human loads it again",
        quoted(tasks)
    )]
    SkillsGone { path: String, tasks: Vec<TaskId> },
    #[error("there are no tasks in {0}")]
    NothingTracked(String),
    #[error("nothing is open in {0}")]
    NothingOpen(String),
    #[error("plan `{plan}` is cleared, but `{file}` cannot be put away: {source}")]
    NotArchived { plan: PlanId, file: String, source: io::Error },
    #[error("the draft cannot be kept: {0}")]
    NotKept(io::Error),
    #[error("`{path}` is no place for a plan: {why}")]
    NoPlace { path: String, why: &'static str },
    #[error("`{}` is no place for a plan: its name is no UTF-8 text", .0.display())]
    NameNotText(PathBuf),
    #[error("several drafts wait in this checkout: say which")]
    SeveralDrafts(Vec<DraftName>),
    #[error("no draft waits for a yes in this checkout")]
    NoDraft,
    #[error("there is no draft `{short}` in this checkout")]
    UnknownDraft { short: String, waiting: Vec<DraftName> },
    #[error("draft `{short}` is not what was proposed: its text has another hash")]
    DraftChanged { short: String },
}

/// A draft in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftName {
    pub short: String,
    pub title: String,
}

impl PlanError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::NoPlan
            | Self::Unknown { .. }
            | Self::NothingTracked(_)
            | Self::NoDraft
            | Self::UnknownDraft { .. } => Cause::NotFound,
            Self::GateClosed { .. } | Self::NotTheDraft { .. } | Self::DraftChanged { .. } => Cause::Refused,
            Self::Changed { .. } | Self::SkillsGone { .. } => Cause::NeedsHuman,
            Self::NothingOpen(_) | Self::AllDone { .. } => Cause::State,
            Self::NoPlace { .. } | Self::NameNotText(_) | Self::SeveralDrafts(_) => Cause::Input,
            Self::NotArchived { .. } | Self::NotKept(_) => Cause::Infrastructure,
        }
    }
}

/// Why a plan is not approved.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    #[error("{refused}: plan `{plan}` is not approved, {why}")]
    Missing {
        /// What is not done for that.
        refused: String,
        plan: PlanId,
        why: &'static str,
        /// The beginning of its hash, where a draft with it is kept here.
        draft: Option<String>,
        /// The file it was loaded from.
        file: Option<String>,
    },
    #[error("draft `{short}` was proposed again in `{worktree}`, and would be written there")]
    Elsewhere { short: String, worktree: String },
    #[error("another draft waits at the gate of this checkout: {short}")]
    OtherDraft { short: String },
    #[error("`HOME` is not set, so there is nowhere to keep the key of approvals")]
    NoHome,
    #[error("the hardened profile signs with a key of yours, and `approval.key` names none")]
    NoKey,
    #[error(transparent)]
    Grant(#[from] GrantError),
    #[error(transparent)]
    Signing(#[from] SigningError),
}

impl ApprovalError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::Missing { .. } => Cause::Refused,
            Self::Elsewhere { .. }
            | Self::OtherDraft { .. }
            | Self::NoHome
            | Self::NoKey
            | Self::Grant(GrantError::Outside(_) | GrantError::OtherDraft(_) | GrantError::NoDraft(_)) => Cause::State,
            Self::Grant(_) | Self::Signing(_) => Cause::Infrastructure,
        }
    }
}

/// Why a plan gate was not closed or opened.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error("the gate cannot be closed: {0}")]
    NotClosed(io::Error),
    #[error("the marker of the gate cannot be removed: {source}")]
    NotOpened { folder: PathBuf, source: io::Error },
}

/// Why a decision was not kept, or its file not written.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error("a decision says what, and `--why` says why: one of them is empty")]
    Empty,
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`: {source}", path.display())]
    NotWritten { path: PathBuf, source: io::Error },
    #[error("cannot move `{}` to `{}`: {source}", from.display(), to.display())]
    NotMoved { from: PathBuf, to: PathBuf, source: io::Error },
}

fn quoted(tasks: &[TaskId]) -> String {
    tasks.iter().map(|task| format!("`{task}`")).collect::<Vec<_>>().join(", ")
}
