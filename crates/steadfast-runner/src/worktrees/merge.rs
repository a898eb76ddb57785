//! From a unit's commit to the run's branch: nothing reaches it that was not checked as it lands there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::cleanup::{git_dir, remove_file};
use super::submodule::Before;
use super::{CHECKOUT, QUICK, RunWorktrees, WorktreeError, file, reference};

/// The worktree in which what is to land is checked. No unit is called like that: names do not begin with a dot.
const CHECKED_IN: &str = ".merge";

/// Is in git's own folder of a worktree while something is merged into its files.
const MERGING: &str = "steadfast-merging";

/// What is to land, and what the merge commit says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    pub unit: String,
    pub title: String,
    /// The token of the lease it is landed under.
    pub lease: u64,
    /// The unit's commit.
    pub head: String,
}

/// A commit that is not on the run's branch yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub commit: String,
    /// The tip it was made for.
    pub onto: String,
    /// Its tree is the one the unit was checked on.
    pub same_tree: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Clean(Candidate),
    /// The files in which both sides differ.
    Conflict(Vec<String>),
}

impl RunWorktrees {
    /// Makes the commit that would land.
    pub fn candidate(&self, landing: &Landing) -> Result<Merge, WorktreeError> {
        self.candidate_onto(&reference(&self.branch()), landing)
    }

    /// The same, as if another had landed before.
    pub fn candidate_after(&self, before: &Candidate, landing: &Landing) -> Result<Merge, WorktreeError> {
        self.candidate_onto(&before.commit, landing)
    }

    fn candidate_onto(&self, tip: &str, landing: &Landing) -> Result<Merge, WorktreeError> {
        let Landing { unit, title, lease, head } = landing;
        // The last of them is both ends again, and where they parted: without a common past nothing.
        let asked = [format!("{tip}^{{commit}}"), format!("{head}^{{tree}}"), format!("{tip}...{head}")];
        let said = self.git().call("rev-parse").args(asked).answer(QUICK)?;
        let (Some(onto), Some(own)) = (said.lines().next(), said.lines().nth(1)) else {
            return Err(WorktreeError::Unreadable(said));
        };
        let (onto, own) = (onto.to_owned(), own.to_owned());
        let fork = said.lines().find_map(|line| line.strip_prefix('^')).unwrap_or_default();
        let tree = if fork == onto {
            own.clone()
        } else {
            let merge =
                self.git().call("merge-tree").args(["--write-tree", "--name-only", "--no-messages", &onto, head]);
            let (code, said) = merge.outcome(&[0, 1], CHECKOUT)?;
            let mut lines = said.lines();
            let tree = lines.next().unwrap_or_default().to_owned();
            if code == 1 {
                return Ok(Merge::Conflict(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()));
            }
            tree
        };
        let message = format!(
            "Merge {unit}: {title}\n\nSteadfast-Run: {}\nSteadfast-Unit: {unit}\nSteadfast-Lease: {lease}\n",
            self.run
        );
        let commit = self.git().call("commit-tree").args([tree.as_str(), "-p", &onto]);
        let commit = if fork == *head { commit } else { commit.args(["-p", head]) };
        let commit = commit.input(message).answer(QUICK)?;
        let same_tree = tree == own;
        Ok(Merge::Clean(Candidate { commit, onto, same_tree }))
    }

    /// The candidate's files, in a worktree of their own. What git ignores stays from one to the next.
    pub fn lay_out(&self, candidate: &Candidate) -> Result<PathBuf, WorktreeError> {
        let folder = self.folder.join(CHECKED_IN);
        if self.laid_out.load(Ordering::Relaxed) || self.is_whole(&folder) {
            let switch = self.in_worktree(&folder).call("checkout");
            switch.args(["--quiet", "--force", "--detach", &candidate.commit]).answer(CHECKOUT)?;
            self.in_worktree(&folder).call("clean").args(["--quiet", "-d", "--force"]).answer(CHECKOUT)?;
            self.fill(&folder, Before::Reset)?;
            return Ok(folder);
        }
        self.make_room(&folder)?;
        let add = self.git().call("worktree").args(["add", "--quiet", "--force", "--detach"]);
        self.make(&folder, add.args([&folder]).args([&candidate.commit]))?;
        self.laid_out.store(true, Ordering::Relaxed);
        Ok(folder)
    }

    /// Whether the files of the candidate are still as they were laid out.
    pub fn is_as_laid_out(&self) -> Result<bool, WorktreeError> {
        let status = self.in_worktree(&self.folder.join(CHECKED_IN)).call("status");
        Ok(status.args(["--porcelain", "--untracked-files=normal"]).answer(CHECKOUT)?.is_empty())
    }

    /// Moves the run's branch, if it is still where the candidate was made for. Whether it was.
    pub fn land(&self, candidate: &Candidate) -> Result<bool, WorktreeError> {
        let Candidate { commit, onto, .. } = candidate;
        let branch = reference(&self.branch());
        let moved = self.git().call("update-ref").args(["-m", "steadfast run", &branch, commit, onto]).answer(QUICK);
        match moved {
            Ok(_) => Ok(true),
            Err(_) if self.tip()?.as_deref() == Some(commit.as_str()) => Ok(true),
            Err(_) if self.tip()?.as_deref() != Some(onto.as_str()) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The units that have landed since `base`, with their merge commits, the newest first.
    pub fn landed(&self, base: &str) -> Result<Vec<(String, String)>, WorktreeError> {
        let range = format!("{base}..{}", reference(&self.branch()));
        let format = "--format=%H %(trailers:key=Steadfast-Unit,valueonly,separator=%x20)";
        let log = self.git().call("log").args(["--first-parent", format, &range]).answer(CHECKOUT)?;
        let pairs = log.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs
            .filter(|(_, unit)| !unit.is_empty())
            .map(|(commit, unit)| (unit.to_owned(), commit.to_owned()))
            .collect())
    }

    /// Brings what landed meanwhile into a unit's worktree, with the conflict in its files. Returns those.
    pub fn bring_in(&self, unit: &str) -> Result<Vec<String>, WorktreeError> {
        let folder = self.unit_folder(unit);
        if self.is_merging(&folder) {
            return self.unmerged(&folder);
        }
        let mark = git_dir(&folder)?.join(MERGING);
        fs::write(&mark, "").map_err(file(&mark))?;
        let merge = self.in_worktree(&folder).setting("merge.conflictStyle=diff3").call("merge");
        merge.args(["--no-commit", "--no-ff", "--quiet", &self.branch()]).outcome(&[0, 1], CHECKOUT)?;
        remove_file(&mark)?;
        self.unmerged(&folder)
    }

    /// A merge that was ended before its end is undone: the unit's own work was committed before it began.
    pub(super) fn undo_half_a_merge(&self, folder: &Path) -> Result<(), WorktreeError> {
        let mark = git_dir(folder)?.join(MERGING);
        if mark.exists() {
            self.in_worktree(folder).call("reset").args(["--quiet", "--hard"]).answer(CHECKOUT)?;
            self.in_worktree(folder).call("clean").args(["--quiet", "-d", "--force"]).answer(CHECKOUT)?;
            remove_file(&mark)?;
        }
        Ok(())
    }

    fn unmerged(&self, folder: &Path) -> Result<Vec<String>, WorktreeError> {
        let unmerged = self.in_worktree(folder).call("diff").args(["--name-only", "--diff-filter=U"]);
        Ok(unmerged.answer(QUICK)?.lines().map(str::to_owned).collect())
    }
}
