//! Lands a unit's commit on the run's branch. Only trees that passed their checks get there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::cleanup::{git_dir, remove_file};
use super::submodule::Before;
use super::{CHECKOUT, QUICK, RunWorktrees, WorktreeError, file, reference};

/// The worktree for checks of a candidate. No unit has this name, because names of units do not begin with a dot.
const CHECKED_IN: &str = ".merge";

/// Exists in git's record of a worktree while a merge into its files runs.
const MERGING: &str = "steadfast-merging";

/// The unit to land, and the content of its merge commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    pub unit: String,
    pub title: String,
    /// The token of the unit's lease.
    pub lease: u64,
    pub head: String,
}

/// A commit that is not on the run's branch yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub commit: String,
    /// The tip of the branch that it was made for.
    pub onto: String,
    /// The unit's checks ran on this very tree.
    pub same_tree: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Clean(Candidate),
    /// The files in conflict.
    Conflict(Vec<String>),
}

impl RunWorktrees {
    /// Makes the commit that would land.
    pub fn candidate(&self, landing: &Landing) -> Result<Merge, WorktreeError> {
        self.candidate_onto(&reference(&self.branch()), landing)
    }

    /// Does the same, on top of a candidate that has not landed yet.
    pub fn candidate_after(&self, before: &Candidate, landing: &Landing) -> Result<Merge, WorktreeError> {
        self.candidate_onto(&before.commit, landing)
    }

    fn candidate_onto(&self, tip: &str, landing: &Landing) -> Result<Merge, WorktreeError> {
        let Landing { unit, title, lease, head } = landing;
        // The last argument prints both ends and their merge base. Without a common history there is none.
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

    /// Lays out the candidate's files in their own worktree. Ignored files stay from one candidate to the next.
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

    /// Returns whether the candidate's files are unchanged since they were laid out.
    pub fn is_as_laid_out(&self) -> Result<bool, WorktreeError> {
        let status = self.in_worktree(&self.folder.join(CHECKED_IN)).call("status");
        Ok(status.args(["--porcelain", "--untracked-files=normal"]).answer(CHECKOUT)?.is_empty())
    }

    /// Moves the run's branch to the candidate, if the branch has not moved meanwhile. Returns whether it did.
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

    /// Returns the units that landed since `base` with their merge commits, newest first.
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

    /// Merges landed work into a unit's worktree. Returns the files in conflict, which keep their markers.
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

    /// Undoes a merge that was killed. The unit's own work was committed before the merge.
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
