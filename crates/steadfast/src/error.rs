mod run;
mod work;

use std::fmt;

use steadfast_work::chain;

/// Exit code for a command line that cannot be understood.
pub(crate) const USAGE: u8 = 64;

/// What a command says when it cannot do what it was asked: what happened, and what to do.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    hints: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    Failure,
    /// A rule of the house says no.
    Refused,
    /// Only a human can go on.
    NeedsHuman,
    Usage,
}

impl ErrorKind {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Failure => 1,
            Self::Refused => 2,
            Self::NeedsHuman => 3,
            Self::Usage => USAGE,
        }
    }
}

impl CommandError {
    pub(crate) fn failure(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Failure, message)
    }

    pub(crate) fn refused(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    pub(crate) fn needs_human(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::NeedsHuman, message)
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), hints: Vec::new() }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        for hint in &self.hints {
            write!(f, "\n\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl From<steadfast_store::ledger::LedgerError> for CommandError {
    fn from(error: steadfast_store::ledger::LedgerError) -> Self {
        use steadfast_store::ledger::LedgerError as E;
        let said = Self::failure(chain(&error));
        match error {
            E::Locked { .. } => said.hint("another steadfast is writing; try again in a moment"),
            E::Damaged { path, .. } => said.hint(format!(
                "move `{}` away and run `steadfast status`: a new ledger is made, sessions and journals are kept, tasks \
                 have to be added again",
                path.display()
            )),
            E::ReadOnly { .. } => said.hint(
                "where a sandbox keeps `.git` read-only, the tools of the MCP server `steadfast` (`task_done`, …) do the same",
            ),
            E::Unreachable { .. } | E::Failed { .. } => {
                said.hint("look at the path, its permissions and the disk; `steadfast doctor` says more")
            }
            E::Older { .. } => said.hint("run `steadfast status` where the repository can be written"),
            E::DuplicateTask { .. } => said.hint("without `--id` a task gets the next free number"),
            E::Full { .. } => said.hint("free some space; nothing was lost"),
            E::UnknownPlan { .. } => said.hint("`steadfast plan show` shows the plan of this worktree"),
            E::UnknownTask { .. } | E::UnknownDependency { .. } => said.hint("`steadfast task list` shows all tasks"),
            E::TooLong { .. } | E::TooMany { .. } => Self { kind: ErrorKind::Usage, ..said }
                .hint("the whole of it belongs into a file; name that instead, for a task by `--file PATH`"),
            E::LearningFiles { .. } => Self { kind: ErrorKind::Usage, ..said }
                .hint("a folder stands for what is in it: `--file src/auth/`"),
            E::OpenLearnings { .. } => said.hint(
                "a human looks at them with `steadfast learn list`, and runs `steadfast learn confirm ID` or `learn dismiss ID`",
            ),
            E::InRun { .. } | E::UnknownRun { .. } | E::UnknownUnit { .. } => {
                said.hint("`steadfast progress` shows how the run stands, `steadfast resume` goes on with it, `steadfast resume --give-up` ends it")
            }
            E::InLoop { .. } | E::UnknownLoop { .. } | E::LoopIsOver { .. } | E::StageSkipped { .. } => {
                said.hint("`steadfast loop status` shows how it stands, `steadfast loop next` what takes it further")
            }
            E::UnknownFinding { .. } => said.hint("`steadfast loop status` shows the reviews and their findings"),
            E::UnknownLearning { .. } => said.hint("`steadfast learn list` shows them with their numbers"),
            E::IllegalMove { .. } => said.hint("`steadfast task list` shows where every task stands"),
            _ => said,
        }
    }
}

impl From<steadfast_hook::StepError> for CommandError {
    fn from(error: steadfast_hook::StepError) -> Self {
        use steadfast_hook::StepError as E;
        use steadfast_store::SessionError;
        let said = Self::failure(chain(&error));
        match error {
            E::Session(SessionError::Locked(_)) => {
                said.hint("a hook of this session is at work; try again in a moment")
            }
            E::Session(SessionError::Newer { .. }) => said.hint("update steadfast, or end that session"),
            E::Ledger(error) => error.into(),
            E::Session(_) | E::Files { .. } | E::Claims(_) | E::Gate(_) | E::Grant(_) => {
                said.hint("`steadfast doctor` looks at the journals and the disk they are on")
            }
        }
    }
}

impl From<steadfast_store::ConfigError> for CommandError {
    fn from(error: steadfast_store::ConfigError) -> Self {
        let hint = match &error {
            steadfast_store::ConfigError::Unreadable { .. } => {
                "see to it that this is a file you may read, and try again"
            }
            steadfast_store::ConfigError::Invalid { .. } => {
                "mend it; `steadfast config schema` lists every key with what it may be"
            }
        };
        Self::failure(error).hint(hint)
    }
}
