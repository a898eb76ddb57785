//! The branches and worktrees of a run. The user's own branch, index and files are never touched.

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

/// Where rendered files go in a checkout.
const OWN: &str = ".steadfast";

/// Held while a worktree is made or forgotten: git looks at all of them then, and takes one that is half there for a
/// broken one.
static MAKING: Mutex<()> = Mutex::new(());

#[derive(Clone, Debug)]
pub struct RunWorktrees {
    /// The checkout the run was started in.
    checkout: PathBuf,
    /// Git's own folder, which all worktrees share.
    common: PathBuf,
    /// Where its worktrees lie.
    folder: PathBuf,
    run: String,
    /// Whose commits these are, where the user did not say who they are.
    identity: Identity,
    /// What is to land was laid out by this process before, so its worktree is whole.
    laid_out: Arc<AtomicBool>,
    /// What the submodules of the run are, once that was asked.
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
    #[error("git gave an answer that cannot be read: {0}")]
    Unreadable(String),
}

impl RunWorktrees {
    /// `folder` is where all worktrees of this run go.
    pub fn of(checkout: &Path, folder: &Path, run: &str) -> Self {
        let named = GitCommand::at(checkout).call("config").args(["user.email"]).outcome(&[0, 1], QUICK);
        let identity = match named {
            Ok((0, email)) if !email.is_empty() => Identity::Users,
            _ => Identity::Ours,
        };
        let common = GitCommand::at(checkout).call("rev-parse").args(["--path-format=absolute", "--git-common-dir"]);
        // Where git does not answer, nothing else here will come far.
        let common = common.answer(QUICK).map_or_else(|_| checkout.join(".git"), PathBuf::from);
        let (checkout, folder, run) = (checkout.to_owned(), folder.to_owned(), run.to_owned());
        Self { checkout, common, folder, run, identity, laid_out: Arc::default(), modules: Arc::default() }
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
    pub fn begin(&self, base: &str) -> Result<(), WorktreeError> {
        if self.tip()?.is_none() {
            let none = "0".repeat(base.len());
            self.git().call("update-ref").args([&reference(&self.branch()), base, &none]).answer(QUICK)?;
        }
        Ok(())
    }

    /// Where the run's branch is.
    pub fn tip(&self) -> Result<Option<String>, WorktreeError> {
        self.commit_of(&reference(&self.branch()))
    }

    /// A worktree for a unit, from the tip of the run's branch: the one it has already, if that is whole.
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

    /// All that changed in a unit's worktree becomes a commit of its branch.
    pub fn save(&self, unit: &str, message: &str) -> Result<(), WorktreeError> {
        let folder = self.unit_folder(unit);
        // Whoever was killed while it made our own folder left nothing that says so: what is in there is no work.
        let own = folder.join(OWN);
        if own.is_dir() {
            steadfast_work::file::ignore_all(&own).map_err(file(&own))?;
        }
        let others = self.but_submodules()?;
        self.in_worktree(&folder).call("add").args(["--all"]).args(others).answer(CHECKOUT)?;
        let commit = self.in_worktree(&folder).call("commit");
        // 1: nothing changed, or nothing that git keeps.
        commit.args(["--quiet", "--no-verify", "--message", message]).outcome(&[0, 1], CHECKOUT)?;
        Ok(())
    }

    /// The same, where most often nothing changed. Returns what the worktree stands on then.
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

    /// Removes a unit's worktree and branch. Twice is once.
    pub fn remove(&self, unit: &str) -> Result<(), WorktreeError> {
        self.remove_all(&[unit])
    }

    /// The same of several.
    pub fn remove_all(&self, units: &[&str]) -> Result<(), WorktreeError> {
        let folders: Vec<PathBuf> = units.iter().map(|unit| self.unit_folder(unit)).collect();
        // It takes as long as git took to make them, so it is left to another process, as that was.
        let _ = Program::anywhere("rm").call(["-rf", "--"]).args(&folders).env(MARK, &self.run).answer(CHECKOUT);
        for folder in &folders {
            remove_dir(folder)?;
        }
        self.forget(&folders)?;
        let branches: Vec<String> = units.iter().map(|unit| reference(&self.unit_branch(unit))).collect();
        self.delete(&branches.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Removes all that is left but the run's branch.
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

    /// No worktree, and nothing that git remembers of one.
    fn make_room(&self, folder: &Path) -> Result<(), WorktreeError> {
        remove_dir(folder)?;
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(file(parent))?;
        }
        self.forget(&[folder.to_owned()])
    }

    /// Whether an earlier attempt left a worktree that can be worked in. A lock of git's in there is nobody's: whoever
    /// took it was ended before.
    fn is_whole(&self, folder: &Path) -> bool {
        let Ok(dir) = git_dir(folder) else { return false };
        let _ = fs::remove_file(dir.join("index.lock"));
        // Without an index its checkout did not come to its end.
        dir.join("index").is_file()
            && self.in_worktree(folder).call("status").args(["--porcelain"]).answer(CHECKOUT).is_ok()
    }

    /// Whether what landed meanwhile is in a unit's worktree and not in a commit yet.
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
        // Neither a process that stays, nor a line in the user's configuration.
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
