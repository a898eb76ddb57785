use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;

use crate::checkout::Checkout;
use crate::content::{Content, contents};
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git::Git;
use crate::git::object_id::ObjectId;
use crate::git::path::{from_git, parts};
use crate::git::private_index::{OURS, TreeId, alternate};
use crate::git::raw_diff::{self, Entry, Sides};
use crate::git::status::{Line, Now, Status};

/// The state that the files are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// The commit that is checked out; an empty tree before the first commit.
    Head,
    Commit(ObjectId),
    /// A tree from [`Checkout::tree_id`], with the folder given there, which holds its objects.
    Tree {
        id: TreeId,
        private_dir: PathBuf,
    },
}

/// A file that differs from the point; a submodule is one path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFile {
    /// From the root of the checkout.
    pub path: PathBuf,
    pub kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Tracked or untracked.
    Added,
    /// Content, type or executable bit differ.
    Modified,
    Deleted,
}

/// The conclusion about a path from git's answers alone.
enum Verdict {
    Same,
    Changed(ChangeKind),
    ReadContent,
}

impl Checkout {
    /// Returns the files that differ from the point, sorted by path. They may be tracked or untracked, staged or not;
    /// ignored files are left out.
    ///
    /// A path that was changed and changed back is not included. The comparison is with the files, not the index: a
    /// change that is only staged does not count. Otherwise the result follows `git status`: a file of another size is
    /// modified even if a filter would undo that, and a file marked `assume-unchanged` or `skip-worktree` is not read.
    pub fn changed_since(&self, point: &Point, budget: Duration) -> Fact<Vec<ChangedFile>> {
        fact(self.compare(point, Deadline::after(budget)))
    }

    /// Compares files with `HEAD`, and the trees of `HEAD` and the point; reads content only where both differ. `git
    /// status` reads every file once and takes no lock if told so; `git diff` would take one.
    fn compare(&self, point: &Point, deadline: Deadline) -> Result<Vec<ChangedFile>, ObserveError> {
        let status = self.status(deadline)?;
        let since = self.trees_since(point, status.head.as_ref(), deadline)?;
        let mut changes = Vec::new();
        let mut unread = Vec::new();
        let paths = since.keys().chain(status.lines.keys().filter(|path| !since.contains_key(*path)));
        for path in paths.filter(|path| !path.starts_with(OURS)) {
            let line = status.lines.get(path);
            match verdict(since.get(path), line) {
                Verdict::Same => {}
                Verdict::Changed(kind) => changes.push(ChangedFile { path: path.clone(), kind }),
                Verdict::ReadContent => unread.push(path.clone()),
            }
        }
        let now = contents(&self.root, &unread, deadline)?;
        for (path, now) in unread.into_iter().zip(now) {
            let before = entry_before(since.get(&path), status.lines.get(&path));
            if let Some(kind) = before.and_then(|before| difference(before, &now)) {
                changes.push(ChangedFile { path, kind });
            }
        }
        changes.sort();
        Ok(changes)
    }

    fn status(&self, deadline: Deadline) -> Result<Status, ObserveError> {
        let (_, common_dir) = self.checkout()?;
        let untracked = if may_cache_untracked(common_dir) { "normal" } else { "all" };
        let answer = Git::at(&self.root)
            .call("status")
            .args(["--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames", "--ignore-submodules=none"])
            .args([format!("--untracked-files={untracked}")])
            .answer(deadline)?;
        let mut status = Status::read(&answer)?;
        let folders: Vec<PathBuf> = std::mem::take(&mut status.folders);
        for path in self.untracked_in(&folders, deadline)? {
            status.untracked(path);
        }
        Ok(status)
    }

    /// Lists the files in untracked folders. A repository in one of them is one path.
    fn untracked_in(&self, folders: &[PathBuf], deadline: Deadline) -> Result<Vec<PathBuf>, ObserveError> {
        // More names may not fit on a command line. Then list the untracked files of the whole checkout.
        const MOST: usize = 500;
        let (nested, plain): (Vec<_>, Vec<_>) =
            folders.iter().partition(|dir| self.root.join(dir).join(".git").exists());
        let mut files: Vec<PathBuf> = nested.into_iter().map(|dir| dir.components().collect()).collect();
        if !plain.is_empty() {
            let specs = plain.iter().take(if plain.len() > MOST { 0 } else { MOST }).map(|dir| only(dir));
            let list = ["--others", "--exclude-standard", "-z", "--"].map(OsString::from).into_iter().chain(specs);
            let answer = Git::at(&self.root).call("ls-files").args(list).answer(deadline)?;
            files.extend(parts(&answer).map(|path| from_git(path).components().collect::<PathBuf>()));
        }
        Ok(files)
    }

    /// Returns the differences between the tree of the point and that of `HEAD`.
    fn trees_since(
        &self,
        point: &Point,
        head: Option<&ObjectId>,
        deadline: Deadline,
    ) -> Result<BTreeMap<PathBuf, Sides>, ObserveError> {
        let git = Git::at(&self.root);
        let (git, id) = match point {
            Point::Head => return Ok(BTreeMap::new()),
            Point::Commit(id) if Some(id) == head => return Ok(BTreeMap::new()),
            Point::Commit(id) => (git, id),
            Point::Tree { id, private_dir } => {
                (git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate(&private_dir.join("objects"))), id.object())
            }
        };
        let head = head.cloned().unwrap_or_else(|| id.empty_tree_like());
        let answer = git
            .call("diff-tree")
            .args(["-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none"])
            .args([id.as_str(), head.as_str(), "--"])
            .answer(deadline)?;
        raw_diff::read(&answer)
    }
}

/// Returns a pathspec that matches exactly this folder, whatever characters its name has.
pub(crate) fn only(path: &Path) -> OsString {
    let mut spec = OsString::from(":(top,literal)");
    spec.push(path);
    spec
}

/// Git's cache of untracked files stores whole folders; git does not use it to list single files. Without the cache,
/// one call is cheaper than two.
fn may_cache_untracked(common_dir: &Path) -> bool {
    let config = fs::read(common_dir.join("config")).unwrap_or_default().to_ascii_lowercase();
    [&b"untrackedcache"[..], b"manyfiles"].iter().any(|key| config.windows(key.len()).any(|window| window == *key))
}

fn entry_before<'a>(since: Option<&'a Sides>, line: Option<&'a Line>) -> Option<&'a Entry> {
    match since {
        Some(sides) => sides.before.as_ref(),
        None => line.and_then(|line| line.head.as_ref()),
    }
}

fn verdict(since: Option<&Sides>, line: Option<&Line>) -> Verdict {
    let known = |now: Option<&Entry>| match (entry_before(since, line), now) {
        (None, None) => Verdict::Same,
        (None, Some(_)) => Verdict::Changed(ChangeKind::Added),
        (Some(_), None) => Verdict::Changed(ChangeKind::Deleted),
        (Some(before), Some(now)) if before == now => Verdict::Same,
        (Some(_), Some(_)) => Verdict::Changed(ChangeKind::Modified),
    };
    let Some(line) = line else { return known(since.and_then(|sides| sides.after.as_ref())) };
    match (&line.now, entry_before(since, Some(line))) {
        (Now::Gone, _) => known(None),
        (Now::Entry(now), _) => known(Some(now)),
        (_, None) => Verdict::Changed(ChangeKind::Added),
        (Now::Dirty, Some(_)) => Verdict::Changed(ChangeKind::Modified),
        (Now::NotHead(_), Some(_)) if since.is_none() => Verdict::Changed(ChangeKind::Modified),
        (Now::NotHead(mode) | Now::Unread(Some(mode)), Some(before)) if *mode != before.mode => {
            Verdict::Changed(ChangeKind::Modified)
        }
        (Now::NotHead(_) | Now::Unread(_), Some(_)) => Verdict::ReadContent,
    }
}

/// Compares types but not the executable bit. Where the bit matters git has reported it; for a file that git does not
/// know, a foreign file system may have invented it.
fn difference(before: &Entry, now: &Content) -> Option<ChangeKind> {
    match now {
        Content::Missing => Some(ChangeKind::Deleted),
        Content::Is(kind, id) => {
            (before.mode.entry_type() != *kind || before.id != *id).then_some(ChangeKind::Modified)
        }
    }
}
