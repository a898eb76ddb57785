use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;

use crate::git::MINIMUM;

/// The reason why a fact is unknown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ObserveError {
    #[error("not a git repository")]
    NotARepository,
    #[error("a bare repository has no checkout")]
    Bare,
    #[error("`.git` in `{}` does not lead to a git repository", .0.display())]
    BrokenGit(PathBuf),
    #[error("no answer within {} ms", .0.as_millis())]
    OverBudget(Duration),
    #[error("`git` is not on the PATH")]
    GitMissing,
    #[error("git {found} is too old; Steadfast needs {MINIMUM} or newer")]
    GitTooOld { found: String },
    #[error("`git {command}` failed: {message}")]
    GitFailed { command: String, message: String },
    #[error("cannot read the output of `git {command}`: {part}")]
    Unreadable { command: &'static str, part: String },
    #[error("the output is too long or cannot be read")]
    NotRead,
    #[error("`{}` is outside the checkout", .0.display())]
    Outside(PathBuf),
    #[error("`{}` is neither a file, a folder nor a link", .0.display())]
    Special(PathBuf),
    #[error("`{}`: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cannot start or watch a thread or process: {0}")]
    Process(#[from] io::Error),
}

impl ObserveError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }

    /// Turns a system error into one that names the file.
    pub(crate) fn about(self, path: &Path) -> Self {
        match self {
            Self::Process(source) => Self::File { path: path.to_owned(), source },
            error => error,
        }
    }

    pub(crate) fn unreadable(command: &'static str, part: &[u8]) -> Self {
        const SHOWN: usize = 200;
        let part = String::from_utf8_lossy(&part[..part.len().min(SHOWN)]).trim_end().to_owned();
        Self::Unreadable { command, part }
    }
}

pub(crate) fn fact<T>(found: Result<T, ObserveError>) -> Fact<T> {
    match found {
        Ok(value) => Fact::Known(value),
        Err(error) => Fact::Unknown(error.to_string()),
    }
}
