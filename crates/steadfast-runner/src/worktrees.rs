//! The branches and worktrees of a run. They never touch the user's own branch, index and files.

mod cleanup;
mod merge;
mod name;
mod read_only;
mod submodule;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use steadfast_check::MARK;
use steadfast_observe::{GitCommand, GitFailed, Program};

use cleanup::{git_dir, remove_dir};
pub use merge::{Candidate, Landing, Merge};
use name::plain;
pub use read_only::difference;
use submodule::Before;
pub use submodule::{Submodule, has_commit, has_content, submodules};

/// A checkout of a very large repository takes a while.
const CHECKOUT: Duration = Duration::from_secs(600);
const QUICK: Duration = Duration::from_secs(60);

/// The folder for rendered files in a checkout.
const OWN: &str = ".steadfast";

/// Locked while a worktree is added or removed: git reads all of them then, and fails on a half-made one.
static MAKING: Mutex<()> = Mutex::new(());

#[derive(Clone, Debug)]
pub struct RunWorktrees {
    checkout: PathBuf,
    /// Git's own folder, which all worktrees share.
    common: PathBuf,
    /// The folder of the run's worktrees.
    folder: PathBuf,
    run: String,
    /// The author of commits, if the user has not configured one.
    identity: Identity,
    /// Set once this process has laid out a candidate, so that its worktree is whole.
    laid_out: Arc<AtomicBool>,
    /// The submodules of the run, once they were read.
    modules: Arc<OnceLock<Vec<Submodule>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    Users,
    Ours,
}

#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error(transparent)]
    Git(#[from] GitFailed),
    #[error("`{}`: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cannot parse the output of git: {0}")]
    Unreadable(String),
}

impl RunWorktrees {
    /// `folder` is the parent of all worktrees of this run.
    pub fn of(checkout: &Path, folder: &Path, run: &str) -> Self {
        let named = GitCommand::at(checkout).call("config").args(["user.email"]).outcome(&[0, 1], QUICK);
        let identity = match named {
            Ok((0, email)) if !email.is_empty() => Identity::Users,
            _ => Identity::Ours,
        };
        let common = GitCommand::at(checkout).call("rev-parse").args(["--path-format=absolute", "--git-common-dir"]);
        // If this git call fails, the later ones report the error.
        let common = common.answer(QUICK).map_or_else(|_| checkout.join(".git"), PathBuf::from);
        let (checkout, folder, run) = (checkout.to_owned(), folder.to_owned(), run.to_owned());
        Self { checkout, common, folder, run, identity, laid_out: Arc::default(), modules: Arc::default() }
    }

    /// The branch with the result of the run.
    pub fn branch(&self) -> String {
        format!("steadfast/{}", self.run)
    }

    pub fn unit_branch(&self, unit: &str) -> String {
        format!("steadfast/{}-{}", self.run, plain(unit))
    }

    pub fn unit_folder(&self, unit: &str) -> PathBuf {
        self.folder.join(plain(unit))
    }

    /// Creates the run's branch, unless it exists.
    pub fn begin(&self, base: &str) -> Result<(), WorktreeError> {
        if self.tip()?.is_none() {
            let none = "0".repeat(base.len());
            self.git().call("update-ref").args([&reference(&self.branch()), base, &none]).answer(QUICK)?;
        }
        Ok(())
    }

    /// Returns the commit of the run's branch.
    pub fn tip(&self) -> Result<Option<String>, WorktreeError> {
        self.commit_of(&reference(&self.branch()))
    }

    /// Returns the worktree of a unit: the existing one if it is whole, else a new one at the tip of the run's branch.
    pub fn prepare(&self, unit: &str) -> Result<PathBuf, WorktreeError> {
        let (folder, branch) = (self.unit_folder(unit), self.unit_branch(unit));
        if self.is_whole(&folder) {
            self.undo_half_a_merge(&folder)?;
            self.fill(&folder, Before::Keep)?;
            return Ok(folder);
        }
        self.make_room(&folder)?;
        let add = || self.git().call("worktree").args(["add", "--quiet", "--force"]);
        let made = self.make(&folder, add().args(["-b", &branch]).args([&folder]).args([&self.branch()]));
        if let Err(error) = made {
            // An earlier attempt left its branch.
            if self.commit_of(&reference(&branch))?.is_none() {
                return Err(error);
            }
            self.make_room(&folder)?;
            self.make(&folder, add().args([&folder]).args([&branch]))?;
        }
        Ok(folder)
    }

    fn make(&self, folder: &Path, worktree: GitCommand) -> Result<(), WorktreeError> {
        let alone = self.alone();
        worktree.answer(CHECKOUT)?;
        drop(alone);
        self.fill(folder, Before::Reset)
    }

    fn alone(&self) -> MutexGuard<'static, ()> {
        MAKING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits all changes in a unit's worktree to its branch.
    pub fn save(&self, unit: &str, message: &str) -> Result<(), WorktreeError> {
        let folder = self.unit_folder(unit);
        // A process that was killed while it created this folder left no ignore file in it. Nothing in there is work.
        let own = folder.join(OWN);
        if own.is_dir() {
            steadfast_work::file::ignore_all(&own).map_err(file(&own))?;
        }
        let others = self.but_submodules()?;
        self.in_worktree(&folder).call("add").args(["--all"]).args(others).answer(CHECKOUT)?;
        let commit = self.in_worktree(&folder).call("commit");
        // Exit status 1: nothing changed, or all changes are ignored.
        commit.args(["--quiet", "--no-verify", "--message", message]).outcome(&[0, 1], CHECKOUT)?;
        Ok(())
    }

    /// Does the same, faster if nothing changed. Returns the worktree's commit.
    pub fn commit(&self, unit: &str, message: &str) -> Result<String, WorktreeError> {
        let folder = self.unit_folder(unit);
        let status = self.in_worktree(&folder).call("status");
        let status = status.args(["--porcelain=v2", "--branch", "--untracked-files=normal"]).answer(CHECKOUT)?;
        let (about, changes): (Vec<&str>, Vec<&str>) = status.lines().partition(|line| line.starts_with("# "));
        if changes.is_empty() && !self.is_merging(&folder) {
            let head = about.iter().find_map(|line| line.strip_prefix("# branch.oid "));
            return head.map(str::to_owned).ok_or(WorktreeError::Unreadable(status));
        }
        self.save(unit, message)?;
        Ok(self.in_worktree(&folder).call("rev-parse").args(["HEAD"]).answer(QUICK)?)
    }

    /// Removes a unit's worktree and branch, if they exist.
    pub fn remove(&self, unit: &str) -> Result<(), WorktreeError> {
        self.remove_all(&[unit])
    }

    pub fn remove_all(&self, units: &[&str]) -> Result<(), WorktreeError> {
        let folders: Vec<PathBuf> = units.iter().map(|unit| self.unit_folder(unit)).collect();
        // Removal takes as long as the checkout did, so another process does it.
        let _ = Program::anywhere("rm").call(["-rf", "--"]).args(&folders).env(MARK, &self.run).answer(CHECKOUT);
        for folder in &folders {
            remove_dir(folder)?;
        }
        self.forget(&folders)?;
        let branches: Vec<String> = units.iter().map(|unit| reference(&self.unit_branch(unit))).collect();
        self.delete(&branches.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Removes everything but the run's branch.
    pub fn clear(&self) -> Result<(), WorktreeError> {
        let pattern = format!("refs/heads/steadfast/{}-*", self.run);
        let branches = self.git().call("for-each-ref").args(["--format=%(refname)", &pattern]).answer(QUICK)?;
        if let Ok(entries) = fs::read_dir(&self.folder) {
            for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                remove_dir(&entry.path())?;
            }
        }
        self.forget_all()?;
        self.delete(&branches.lines().collect::<Vec<_>>())?;
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file(&self.folder)(error)),
            _ => Ok(()),
        }
    }

    /// Removes the worktree, and git's record of it.
    fn make_room(&self, folder: &Path) -> Result<(), WorktreeError> {
        remove_dir(folder)?;
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(file(parent))?;
        }
        self.forget(&[folder.to_owned()])
    }

    /// Returns whether an earlier attempt left a usable worktree. A lock of git's in there is stale: the process that
    /// took it has ended.
    fn is_whole(&self, folder: &Path) -> bool {
        let Ok(dir) = git_dir(folder) else { return false };
        let _ = fs::remove_file(dir.join("index.lock"));
        // A worktree without an index is an incomplete checkout.
        dir.join("index").is_file()
            && self.in_worktree(folder).call("status").args(["--porcelain"]).answer(CHECKOUT).is_ok()
    }

    /// Returns whether a merge of landed work into a unit's worktree is not committed yet.
    pub fn is_bringing_in(&self, unit: &str) -> bool {
        self.is_merging(&self.unit_folder(unit))
    }

    fn is_merging(&self, folder: &Path) -> bool {
        git_dir(folder).is_ok_and(|dir| dir.join("MERGE_HEAD").is_file())
    }

    fn commit_of(&self, name: &str) -> Result<Option<String>, WorktreeError> {
        let name = format!("{name}^{{commit}}");
        let asked = self.git().call("rev-parse").args(["--verify", "--quiet", &name]);
        let (code, commit) = asked.outcome(&[0, 1], QUICK)?;
        Ok((code == 0).then_some(commit))
    }

    fn git(&self) -> GitCommand {
        self.in_worktree(&self.checkout)
    }

    fn in_worktree(&self, folder: &Path) -> GitCommand {
        let git = GitCommand::at(folder).env(MARK, &self.run).setting("commit.gpgSign=false").setting("gc.auto=0");
        // Start no daemon, and write nothing into the user's configuration.
        let git = git.setting("core.fsmonitor=false").setting("branch.autoSetupMerge=false");
        match self.identity {
            Identity::Users => git,
            Identity::Ours => git.setting("user.name=Steadfast").setting("user.email=steadfast@localhost"),
        }
    }
}

fn reference(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> WorktreeError {
    move |source| WorktreeError::File { path: path.to_owned(), source }
}
