use std::io;
use std::path::PathBuf;

use steadfast_check::definition::DefineError;
use steadfast_model::{PlanId, RunId, SessionId, Status, TaskId};
use steadfast_store::{GrantError, SigningError};

use super::word;
use crate::error::Cause;

/// The reason why a task was not started, closed, blocked or changed.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("the title of the task is empty")]
    NoTitle,
    #[error("the note is empty")]
    EmptyNote,
    #[error("`--why` is empty; a blocked task needs a reason")]
    NoReason,
    #[error("there are no tasks in this worktree")]
    NoTasks,
    #[error("run `{run}` is working on task `{task}`")]
    InRun { task: TaskId, run: RunId },
    #[error("task `{task}` is in progress in session {session}")]
    Leased { task: TaskId, session: SessionId },
    #[error("task `{0}` is blocked; only a human can unblock it")]
    Blocked(TaskId),
    #[error("task `{task}` is {}, not blocked", word(*status))]
    NotBlocked { task: TaskId, status: Status },
    #[error("task `{task}` cannot be closed from inside the check of task `{checked}`")]
    InsideCheck { task: TaskId, checked: String },
    #[error("stale tasks cannot be checked from inside the check of task `{checked}`")]
    ChecksInsideCheck { checked: String },
    #[error("task `{task}` depends on open tasks: {}", quoted(open))]
    Waits { task: TaskId, open: Vec<TaskId> },
    #[error("only a human can close task `{0}` without its check")]
    ForcedByAgent(TaskId),
    #[error("only a human can accept a changed check")]
    AcceptedByAgent(TaskId),
    #[error("task `{task}` stays open: its check `{command}` changed since the plan was loaded: {difference}")]
    CheckChanged { task: TaskId, command: String, difference: String },
    #[error("no check of task `{0}` is running")]
    NoCheckRuns(TaskId),
    #[error("the check of task `{0}` is not a command")]
    NoCommand(TaskId),
    #[error("task `{0}` needs a picture that shows the result")]
    NoArtifact(TaskId),
    #[error("cannot read what the check `{command}` runs: {source}")]
    Undefined { command: String, source: DefineError },
    #[error("cannot start the check of task `{task}`: {source}")]
    NotStarted { task: TaskId, source: io::Error },
    #[error("task `{task}` stays open: cannot read its files: {why}")]
    NotSeen { task: TaskId, why: String },
    #[error("the check of task `{task}` gave no result: {how}")]
    CheckLost { task: TaskId, how: String },
    #[error("cannot start the check `{command}`, which the request states: {source}")]
    StatedNotStarted { command: String, source: io::Error },
    #[error("the check `{command}`, which the request states, gave no result: {how}")]
    StatedLost { command: String, how: String },
    #[error("the check of task `{task}` gave no result: the disk of `{}` is nearly full", folder.display())]
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
            // The agent that does the task writes these files, so it can fix their size or number.
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

/// The reason why a plan was not loaded, proposed, found or cleared.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("there is no plan in this worktree")]
    NoPlan,
    #[error("there is no plan `{plan}` in this worktree")]
    Unknown { plan: PlanId, known: Vec<PlanId> },
    #[error("every task of plan `{plan}` is done; plan `{other}` has open tasks and stays in force")]
    AllDone { plan: PlanId, other: PlanId },
    #[error("cannot load {name}: the plan gate is closed")]
    GateClosed {
        name: String,
        /// The file that could be proposed instead.
        source_file: Option<String>,
    },
    #[error("cannot load `{path}`: it differs from plan {short}, which was proposed for that file")]
    NotTheDraft { path: String, short: String },
    #[error("`{path}` is loaded as plan `{plan}` and has changed since; only a human can load it again")]
    Changed { path: String, plan: PlanId },
    #[error(
        "`{path}` is loaded with {}, whose skills are not installed any more; only a human can load it again",
        quoted(tasks)
    )]
    SkillsGone { path: String, tasks: Vec<TaskId> },
    #[error("there are no tasks in {0}")]
    NothingTracked(String),
    #[error("there are no open tasks in {0}")]
    NothingOpen(String),
    #[error("plan `{plan}` is cleared, but `{file}` cannot be archived: {source}")]
    NotArchived { plan: PlanId, file: String, source: io::Error },
    #[error("cannot save the draft: {0}")]
    NotKept(io::Error),
    #[error("a plan cannot be written to `{path}`: {why}")]
    NoPlace { path: String, why: &'static str },
    #[error("a plan cannot be written to `{}`: its name is not UTF-8 text", .0.display())]
    NameNotText(PathBuf),
    #[error("several drafts wait in this checkout; name one of them")]
    SeveralDrafts(Vec<DraftName>),
    #[error("no draft waits for approval in this checkout")]
    NoDraft,
    #[error("there is no draft `{short}` in this checkout")]
    UnknownDraft { short: String, waiting: Vec<DraftName> },
    #[error("draft `{short}` changed since it was proposed: its text has another hash")]
    DraftChanged { short: String },
    #[error("git could not read the files of its tasks in the time of a hook")]
    NoTime,
}

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
            Self::NotArchived { .. } | Self::NotKept(_) | Self::NoTime => Cause::Infrastructure,
        }
    }
}

/// The reason why a plan is not approved.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    #[error("{refused}: plan `{plan}` is not approved: {why}")]
    Missing {
        /// The operation that is refused, as the start of the message.
        refused: String,
        plan: PlanId,
        why: &'static str,
        /// The beginning of its hash, if this checkout has a draft with it.
        draft: Option<String>,
        /// The file from which it was loaded.
        file: Option<String>,
    },
    #[error("draft `{short}` was proposed again in `{worktree}` and would be written there")]
    Elsewhere { short: String, worktree: String },
    #[error("another draft waits at the gate of this checkout: {short}")]
    OtherDraft { short: String },
    #[error("`HOME` is not set, so there is no folder for the approval key")]
    NoHome,
    #[error("`approval.profile` is `hardened`, but `approval.key` names no key")]
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

/// The reason why a plan gate was not closed or opened.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error("cannot close the gate: {0}")]
    NotClosed(io::Error),
    #[error("cannot remove the marker of the gate: {source}")]
    NotOpened { folder: PathBuf, source: io::Error },
}

/// The reason why a decision was not saved, or its file not written.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error("the decision or its reason (`--why`) is empty")]
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
