//! Worktrees for experts, with one commit each, and differences between commits.

use std::path::{Path, PathBuf};

use steadfast_observe::{GitCommand, GitFailed};

use super::name::plain;
use super::{CHECKOUT, QUICK, RunWorktrees, WorktreeError, reference};

impl RunWorktrees {
    /// Lays out a commit in a worktree that nothing lands from. The caller chooses a name that is not in use.
    pub fn read_only_worktree(&self, name: &str, commit: &str) -> Result<PathBuf, WorktreeError> {
        let folder = self.read_only_folder(name);
        self.make_room(&folder)?;
        let add = self.git().call("worktree").args(["add", "--quiet", "--force", "--detach"]);
        self.make(&folder, add.args([&folder]).args([commit]))?;
        Ok(folder)
    }

    /// Removes the worktree, if it exists.
    pub fn remove_read_only(&self, name: &str) -> Result<(), WorktreeError> {
        self.make_room(&self.read_only_folder(name))
    }

    /// No unit has this folder, because names of units do not begin with a dot.
    fn read_only_folder(&self, name: &str) -> PathBuf {
        self.folder.join(format!(".look-{}", plain(name)))
    }

    /// Returns the difference of two commits, for [`crate::experts::Diff`].
    pub fn diff(&self, from: &str, to: &str) -> Result<String, WorktreeError> {
        self.difference(&[from, to])
    }

    /// Returns the changes of a commit since it left the run's branch.
    pub fn diff_from_branch(&self, commit: &str) -> Result<String, WorktreeError> {
        self.difference(&[&format!("{}...{commit}", reference(&self.branch()))])
    }

    fn difference(&self, range: &[&str]) -> Result<String, WorktreeError> {
        Ok(difference(self.git(), range)?)
    }

    /// Returns the checkout that the run was started in.
    pub fn checkout(&self) -> &Path {
        &self.checkout
    }

    pub fn tree_of(&self, commit: &str) -> Result<String, WorktreeError> {
        Ok(self.git().call("rev-parse").args(["--verify", &format!("{commit}^{{tree}}")]).answer(QUICK)?)
    }

    /// Returns the first parent of a commit.
    pub fn parent(&self, commit: &str) -> Result<String, WorktreeError> {
        Ok(self.git().call("rev-parse").args(["--verify", &format!("{commit}^1")]).answer(QUICK)?)
    }
}

/// Returns the difference of two trees, for [`crate::experts::Diff`], independent of the user's diff settings.
pub fn difference(git: GitCommand, range: &[&str]) -> Result<String, GitFailed> {
    let diff = git.setting("diff.suppressBlankEmpty=false").call("diff");
    let diff = diff.args(["--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--unified=3"]);
    let diff = diff.args(["--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"]);
    diff.args(range).args(["--"]).answer(CHECKOUT)
}
