//! Changes to sealed files that come from checking out another commit.
//!
//! Restoring such a file would leave the checkout between two commits: changed, and git would refuse to switch back. So
//! Steadfast accepts the change if the commit is older than the closing of the gate, or was fetched: then the agent did not
//! write it meanwhile. A local commit made since does not open a way around the gate.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, UNIX_EPOCH};

use steadfast_model::{GateScope, Millis, SealBreak, SealCause, SealChange};
use steadfast_observe::{Checkout, GitCommand};

use super::table::SealFolder;
use crate::place::Place;

/// Marks each break that was caused by checking out another commit.
pub fn mark_checkouts(place: &Place, scope: &GateScope, root: &Path, breaks: &mut [SealBreak], budget: Duration) {
    let seal = SealFolder::of(place, scope);
    let Some(table) = seal.table() else { return };
    let (Some(before), Some(closed_at)) = (&table.head, table.closed_at) else { return };
    let repository = Checkout::find(root);
    let Some(head) = head_of(&repository) else { return };
    if breaks.is_empty() || head == *before && !table.switched {
        return;
    }
    let git = Git { root, ends: Instant::now() + budget };
    if head != *before && is_since(&repository, &head, closed_at) && !git.is_fetched(&repository) {
        return;
    }
    let paths: Vec<&str> = breaks.iter().map(|broken| broken.path.as_str()).collect();
    let (Some(there), Some(differing)) = (git.in_head(&paths), git.differing(&paths)) else { return };
    let mut switched = false;
    for broken in breaks.iter_mut().filter(|broken| broken.cause == SealCause::Unknown) {
        let is_there = there.contains(&broken.path);
        if is_there == (broken.what != SealChange::Removed) && !differing.contains(&broken.path) {
            broken.cause = SealCause::Checkout;
            switched = true;
        }
    }
    if switched && !table.switched {
        let lock = seal.lock_existing(super::PATIENCE);
        if let (Some(_), Some(mut table)) = (lock, seal.table()) {
            table.switched = true;
            let _ = seal.renew(&table);
        }
    }
}

/// Returns the checked-out commit, read from files without starting git.
pub(super) fn head_of(repository: &Checkout) -> Option<String> {
    let text = fs::read_to_string(repository.git_dir()?.join("HEAD")).ok()?;
    let Some(name) = text.trim().strip_prefix("ref:").map(str::trim) else { return Some(text.trim().to_owned()) };
    let common = repository.common_dir()?;
    if let Ok(id) = fs::read_to_string(common.join(name)) {
        return Some(id.trim().to_owned());
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
}

/// Checks if a commit was written after this time. A packed commit is dated like the newest pack.
fn is_since(repository: &Checkout, commit: &str, time: Millis) -> bool {
    let Some(objects) = repository.common_dir().map(|common| common.join("objects")) else { return true };
    let is_newer = |path: &Path| {
        let modified = fs::metadata(path).and_then(|found| found.modified()).ok()?;
        let at = i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?;
        Some(at >= time.0)
    };
    let Some((folder, name)) = commit.split_at_checked(2) else { return true };
    if let Some(newer) = is_newer(&objects.join(folder).join(name)) {
        return newer;
    }
    let packs = fs::read_dir(objects.join("pack")).into_iter().flatten().flatten().map(|pack| pack.path());
    let mut packs = packs.filter(|pack| pack.extension().is_some_and(|kind| kind == "pack")).peekable();
    packs.peek().is_none() || packs.any(|pack| is_newer(&pack).unwrap_or(true))
}

/// Git with a time limit. `None` means that it did not answer in time.
struct Git<'a> {
    root: &'a Path,
    ends: Instant,
}

impl Git<'_> {
    fn lines(&self, command: &'static str, args: &[&str], paths: &[&str]) -> Option<Vec<String>> {
        let left = self.ends.checked_duration_since(Instant::now())?;
        let git = GitCommand::at(self.root).call(command).args(args).args(paths);
        let output = git.answer(left).ok()?;
        Some(output.split('\0').filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    fn in_head(&self, paths: &[&str]) -> Option<Vec<String>> {
        self.lines("ls-tree", &["-z", "-r", "--full-tree", "--name-only", "HEAD", "--"], paths)
    }

    fn differing(&self, paths: &[&str]) -> Option<Vec<String>> {
        self.lines("diff", &["-z", "--no-ext-diff", "--no-renames", "--name-only", "HEAD", "--"], paths)
    }

    /// Checks if a remote branch contains the commit and was fetched: a push from here does not count.
    fn is_fetched(&self, repository: &Checkout) -> bool {
        let format = ["--format=%(refname)%00", "--contains=HEAD", "refs/remotes"];
        let Some(found) = self.lines("for-each-ref", &format, &[]) else { return false };
        let Some(common) = repository.common_dir() else { return false };
        found.iter().any(|name| {
            let log = fs::read_to_string(common.join("logs").join(name.trim())).unwrap_or_default();
            !log.lines().next_back().unwrap_or_default().contains("update by push")
        })
    }
}
