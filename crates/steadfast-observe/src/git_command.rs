use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::ObserveError;
use crate::git::Git;

/// Git for whoever changes a repository: worktrees, commits and references of their own. Hooks of the user do not run,
/// nobody is asked anything, and a call that takes too long is ended.
#[derive(Debug)]
pub struct GitCommand {
    git: Git,
}

/// Git did not do it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct GitFailed(ObserveError);

impl GitCommand {
    pub fn at(dir: &Path) -> Self {
        // What a partial clone lacks is fetched: a worktree without it is none.
        Self { git: Git::at(dir).env("GIT_NO_LAZY_FETCH", "0") }
    }

    /// A setting for this call alone.
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

    /// What it says.
    pub fn answer(self, budget: Duration) -> Result<String, GitFailed> {
        self.outcome(&[0], budget).map(|(_, said)| said)
    }

    /// The exit code, which is one of these, and what it says.
    pub fn outcome(self, fine: &[i32], budget: Duration) -> Result<(i32, String), GitFailed> {
        let (code, said) = self.git.outcome(fine, Deadline::after(budget)).map_err(GitFailed)?;
        Ok((code, String::from_utf8_lossy(&said).trim_end_matches('\n').to_owned()))
    }
}
