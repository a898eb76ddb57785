//! What experts look at: a commit in a worktree of its own, and how commits differ.

use std::path::{Path, PathBuf};

use steadfast_observe::{GitCommand, GitFailed};

use super::name::plain;
use super::{CHECKOUT, QUICK, RunWorktrees, WorktreeError, reference};

impl RunWorktrees {
    /// A commit's files in a worktree that nothing lands from. The name is one nobody else uses at this time.
    pub fn read_only_worktree(&self, name: &str, commit: &str) -> Result<PathBuf, WorktreeError> {
        let folder = self.read_only_folder(name);
        self.make_room(&folder)?;
        let add = self.git().call("worktree").args(["add", "--quiet", "--force", "--detach"]);
        self.make(&folder, add.args([&folder]).args([commit]))?;
        Ok(folder)
    }

    /// Removes what was shown. Twice is once.
    pub fn remove_read_only(&self, name: &str) -> Result<(), WorktreeError> {
        self.make_room(&self.read_only_folder(name))
    }

    /// No unit is called like that: names do not begin with a dot.
    fn read_only_folder(&self, name: &str) -> PathBuf {
        self.folder.join(format!(".look-{}", plain(name)))
    }

    /// How two commits differ, as [`crate::experts::Diff`] reads it.
    pub fn diff(&self, from: &str, to: &str) -> Result<String, WorktreeError> {
        self.difference(&[from, to])
    }

    /// What a commit has that the run's branch had not when its work began.
    pub fn diff_from_branch(&self, commit: &str) -> Result<String, WorktreeError> {
        self.difference(&[&format!("{}...{commit}", reference(&self.branch()))])
    }

    fn difference(&self, range: &[&str]) -> Result<String, WorktreeError> {
        Ok(difference(self.git(), range)?)
    }

    /// The checkout the run was begun in.
    pub fn checkout(&self) -> &Path {
        &self.checkout
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, WorktreeError> {
        Ok(self.git().call("rev-parse").args(["--verify", &format!("{commit}^{{tree}}")]).answer(QUICK)?)
    }

    /// The commit before another, on its first line of parents.
    pub fn parent(&self, commit: &str) -> Result<String, WorktreeError> {
        Ok(self.git().call("rev-parse").args(["--verify", &format!("{commit}^1")]).answer(QUICK)?)
    }
}

/// How two trees differ, as [`crate::experts::Diff`] reads it, whatever the user's settings for differences are.
pub fn difference(git: GitCommand, range: &[&str]) -> Result<String, GitFailed> {
    let diff = git.setting("diff.suppressBlankEmpty=false").call("diff");
    let diff = diff.args(["--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--unified=3"]);
    let diff = diff.args(["--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"]);
    diff.args(range).args(["--"]).answer(CHECKOUT)
}
