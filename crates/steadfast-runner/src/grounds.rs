//! The branches and worktrees of a run. The user's own branch, index and files are never touched.

mod merge;
mod name;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_observe::{GitCommand, GitFailed};

pub use merge::{Candidate, Landing, Merge};
use name::plain;

/// A checkout of a very large repository takes a while.
const CHECKOUT: Duration = Duration::from_secs(600);
const QUICK: Duration = Duration::from_secs(60);

/// What every process that works for a run has in its environment, with the run's id.
pub const MARK: &str = "STEADFAST_RUN_MARK";

#[derive(Clone, Debug)]
pub struct Grounds {
    /// The checkout the run was started in.
    checkout: PathBuf,
    /// Where its worktrees lie.
    folder: PathBuf,
    run: String,
    /// Whose commits these are, where the user did not say who they are.
    identity: Identity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    Users,
    Ours,
}

#[derive(Debug, thiserror::Error)]
pub enum GroundsError {
    #[error(transparent)]
    Git(#[from] GitFailed),
    #[error("`{}`: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("git gave an answer that cannot be read: {0}")]
    Unreadable(String),
}

impl Grounds {
    /// `folder` is where all worktrees of this run go.
    pub fn of(checkout: &Path, folder: &Path, run: &str) -> Self {
        let named = GitCommand::at(checkout).call("config").args(["user.email"]).outcome(&[0, 1], QUICK);
        let identity = match named {
            Ok((0, email)) if !email.is_empty() => Identity::Users,
            _ => Identity::Ours,
        };
        Self { checkout: checkout.to_owned(), folder: folder.to_owned(), run: run.to_owned(), identity }
    }

    /// What the run leaves: a branch of its own.
    pub fn branch(&self) -> String {
        format!("steadfast/{}", self.run)
    }

    pub fn unit_branch(&self, unit: &str) -> String {
        format!("steadfast/{}-{}", self.run, plain(unit))
    }

    pub fn unit_folder(&self, unit: &str) -> PathBuf {
        self.folder.join(plain(unit))
    }

    /// Makes the run's branch. One that is there already stays where it is.
    pub fn begin(&self, base: &str) -> Result<(), GroundsError> {
        if self.tip()?.is_none() {
            let none = "0".repeat(base.len());
            self.git().call("update-ref").args([&reference(&self.branch()), base, &none]).answer(QUICK)?;
        }
        Ok(())
    }

    /// Where the run's branch is.
    pub fn tip(&self) -> Result<Option<String>, GroundsError> {
        self.commit_of(&reference(&self.branch()))
    }

    /// A worktree for a unit, from the tip of the run's branch: the one it has already, if that is whole.
    pub fn prepare(&self, unit: &str) -> Result<PathBuf, GroundsError> {
        let (folder, branch) = (self.unit_folder(unit), self.unit_branch(unit));
        if self.is_whole(&folder) {
            return Ok(folder);
        }
        self.make_room(&folder)?;
        let known = self.commit_of(&reference(&branch))?.is_some();
        let add = self.git().call("worktree").args(["add", "--quiet", "--force"]);
        let add = if known {
            add.args([&folder]).args([&branch])
        } else {
            add.args(["-b", &branch]).args([&folder]).args([&self.branch()])
        };
        add.answer(CHECKOUT)?;
        Ok(folder)
    }

    /// All that changed in a unit's worktree becomes a commit of its branch. Returns what the worktree stands on then.
    pub fn commit(&self, unit: &str, message: &str) -> Result<String, GroundsError> {
        let folder = self.unit_folder(unit);
        self.in_worktree(&folder).call("add").args(["--all"]).answer(CHECKOUT)?;
        let staged = self.in_worktree(&folder).call("diff").args(["--cached", "--quiet"]).outcome(&[0, 1], QUICK)?.0;
        if staged == 1 || self.is_merging(&folder) {
            let commit = self.in_worktree(&folder).call("commit");
            commit.args(["--quiet", "--no-verify", "--message", message]).answer(CHECKOUT)?;
        }
        Ok(self.in_worktree(&folder).call("rev-parse").args(["HEAD"]).answer(QUICK)?)
    }

    /// Removes a unit's worktree and branch. Twice is once.
    pub fn remove(&self, unit: &str) -> Result<(), GroundsError> {
        self.make_room(&self.unit_folder(unit))?;
        let branch = reference(&self.unit_branch(unit));
        if self.commit_of(&branch)?.is_some() {
            self.git().call("update-ref").args(["-d", &branch]).answer(QUICK)?;
        }
        Ok(())
    }

    /// Removes all that is left but the run's branch.
    pub fn clear(&self) -> Result<(), GroundsError> {
        let pattern = format!("refs/heads/steadfast/{}-*", self.run);
        let branches = self.git().call("for-each-ref").args(["--format=%(refname)", &pattern]).answer(QUICK)?;
        if let Ok(entries) = fs::read_dir(&self.folder) {
            for entry in entries.flatten() {
                self.make_room(&entry.path())?;
            }
        }
        for branch in branches.lines() {
            self.git().call("update-ref").args(["-d", branch]).answer(QUICK)?;
        }
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file(&self.folder)(error)),
            _ => Ok(()),
        }
    }

    /// No worktree, and nothing that git remembers of one.
    fn make_room(&self, folder: &Path) -> Result<(), GroundsError> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file(folder)(error)),
            _ => {}
        }
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(file(parent))?;
        }
        self.git().call("worktree").args(["prune", "--expire=now"]).answer(QUICK)?;
        Ok(())
    }

    /// Whether an earlier attempt left a worktree that can be worked in. A lock of git's in there is nobody's: whoever
    /// took it was ended before.
    fn is_whole(&self, folder: &Path) -> bool {
        if !folder.join(".git").is_file() {
            return false;
        }
        let Ok(dir) = self.in_worktree(folder).call("rev-parse").args(["--absolute-git-dir"]).answer(QUICK) else {
            return false;
        };
        let _ = fs::remove_file(Path::new(&dir).join("index.lock"));
        // Without an index its checkout did not come to its end.
        Path::new(&dir).join("index").is_file()
            && self.in_worktree(folder).call("status").args(["--porcelain"]).answer(CHECKOUT).is_ok()
    }

    fn is_merging(&self, folder: &Path) -> bool {
        matches!(self.commit_in(folder, "MERGE_HEAD"), Ok(Some(_)))
    }

    fn commit_of(&self, name: &str) -> Result<Option<String>, GroundsError> {
        self.commit_in(&self.checkout, name)
    }

    fn commit_in(&self, folder: &Path, name: &str) -> Result<Option<String>, GroundsError> {
        let name = format!("{name}^{{commit}}");
        let asked = self.in_worktree(folder).call("rev-parse").args(["--verify", "--quiet", &name]);
        let (code, commit) = asked.outcome(&[0, 1], QUICK)?;
        Ok((code == 0).then_some(commit))
    }

    fn git(&self) -> GitCommand {
        self.in_worktree(&self.checkout)
    }

    fn in_worktree(&self, folder: &Path) -> GitCommand {
        let git = GitCommand::at(folder).env(MARK, &self.run).setting("commit.gpgSign=false").setting("gc.auto=0");
        match self.identity {
            Identity::Users => git,
            Identity::Ours => git.setting("user.name=Steadfast").setting("user.email=steadfast@localhost"),
        }
    }
}

fn reference(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> GroundsError {
    move |source| GroundsError::File { path: path.to_owned(), source }
}
