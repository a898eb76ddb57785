//! What experts look at: a commit in a worktree of its own, and how commits differ.

use std::path::PathBuf;

use super::name::plain;
use super::{CHECKOUT, Grounds, GroundsError, QUICK, reference};

impl Grounds {
    /// A commit's files in a worktree that nothing lands from. The name is one nobody else uses at this time.
    pub fn exhibit(&self, name: &str, commit: &str) -> Result<PathBuf, GroundsError> {
        let folder = self.exhibited(name);
        self.make_room(&folder)?;
        let add = self.git().call("worktree").args(["add", "--quiet", "--force", "--detach"]);
        self.make(add.args([&folder]).args([commit]))?;
        Ok(folder)
    }

    /// Removes what was shown. Twice is once.
    pub fn put_away(&self, name: &str) -> Result<(), GroundsError> {
        self.make_room(&self.exhibited(name))
    }

    /// No unit is called like that: names do not begin with a dot.
    fn exhibited(&self, name: &str) -> PathBuf {
        self.folder.join(format!(".look-{}", plain(name)))
    }

    /// How two commits differ, as [`crate::counsel::Change`] reads it.
    pub fn diff(&self, from: &str, to: &str) -> Result<String, GroundsError> {
        self.difference(&[from, to])
    }

    /// What a commit has that the run's branch had not when its work began.
    pub fn diff_from_branch(&self, commit: &str) -> Result<String, GroundsError> {
        self.difference(&[&format!("{}...{commit}", reference(&self.branch()))])
    }

    fn difference(&self, range: &[&str]) -> Result<String, GroundsError> {
        let diff = self.git().setting("diff.suppressBlankEmpty=false").call("diff");
        let diff = diff.args(["--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--unified=3"]);
        let diff = diff.args(["--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"]);
        Ok(diff.args(range).args(["--"]).answer(CHECKOUT)?)
    }

    /// A file as it is in a commit. None: it is not in there, or is no text.
    pub fn file_at(&self, commit: &str, path: &str) -> Result<Option<String>, GroundsError> {
        let show = self.git().call("cat-file").args(["blob", &format!("{commit}:{path}")]);
        let (code, text) = show.outcome(&[0, 1, 128], QUICK)?;
        Ok((code == 0).then_some(text))
    }

    /// The commit before another, on its first line of parents.
    pub fn parent(&self, commit: &str) -> Result<String, GroundsError> {
        Ok(self.git().call("rev-parse").args(["--verify", &format!("{commit}^1")]).answer(QUICK)?)
    }
}
