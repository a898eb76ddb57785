use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::Git;
use crate::deadline::Deadline;
use crate::error::ObserveError;

/// Runs git for callers that change a repository: worktrees, commits and references of their own. Git runs no hooks of
/// the user and asks no questions, and a call that takes too long is killed.
#[derive(Debug)]
pub struct GitCommand {
    git: Git,
}

/// The error of a failed [`GitCommand`].
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct GitFailed(ObserveError);

impl GitCommand {
    pub fn at(dir: &Path) -> Self {
        // Let git fetch the objects that a partial clone lacks: a worktree needs them.
        Self { git: Git::at(dir).env("GIT_NO_LAZY_FETCH", "0") }
    }

    /// Applies a setting to this call only.
    #[must_use]
    pub fn setting(self, setting: &str) -> Self {
        Self { git: self.git.setting(setting) }
    }

    #[must_use]
    pub fn env(self, name: &str, value: impl AsRef<OsStr>) -> Self {
        Self { git: self.git.env(name, value) }
    }

    #[must_use]
    pub fn call(self, command: &'static str) -> Self {
        Self { git: self.git.call(command) }
    }

    #[must_use]
    pub fn args(self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        Self { git: self.git.args(args) }
    }

    #[must_use]
    pub fn input(self, input: impl Into<Vec<u8>>) -> Self {
        Self { git: self.git.input(input.into()) }
    }

    /// Returns git's output if it succeeds.
    pub fn answer(self, budget: Duration) -> Result<String, GitFailed> {
        self.outcome(&[0], budget).map(|(_, output)| output)
    }

    /// Returns the exit code and the output if the code is one of these.
    pub fn outcome(self, accepted: &[i32], budget: Duration) -> Result<(i32, String), GitFailed> {
        let (code, output) = self.git.outcome(accepted, Deadline::after(budget)).map_err(GitFailed)?;
        Ok((code, String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned()))
    }
}
