//! Removes git's records of the run's worktrees, and the locks of git commands that were killed. It never prunes: a
//! user's worktree on a disk that is not mounted now must stay.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::{QUICK, RunWorktrees, WorktreeError, file};

/// Exists while branches are deleted. Git locks the packed references for that.
const DELETING: &str = ".deleting";

/// The longest that a living git process holds the lock of packed references, or needs to name a new worktree.
const PATIENCE: Duration = Duration::from_secs(3);

impl RunWorktrees {
    /// Removes the locks of this run's earlier processes, and worktrees that git half made or half removed. Call it
    /// after all these processes have ended.
    pub fn unlock(&self) -> Result<(), WorktreeError> {
        self.forget_beginnings()?;
        let branches = self.common.join("refs/heads/steadfast");
        for lock in files_in(&branches).filter(|path| is_lock(path) && is_of(path, &self.run)) {
            remove_file(&lock)?;
        }
        for one in self.remembered().into_iter().filter(|one| one.is_in(&self.folder)) {
            if one.is_half_made() {
                // Git creates no other worktree while this one exists.
                remove_dir(&one.git_dir)?;
                continue;
            }
            for lock in files_in(&one.git_dir).filter(|path| is_lock(path)) {
                remove_file(&lock)?;
            }
        }
        let deleting = self.folder.join(DELETING);
        if deleting.exists() {
            self.unlock_packed()?;
            remove_file(&deleting)?;
        }
        Ok(())
    }

    /// Removes records that name no worktree, as `git worktree prune` does. A record that git is still creating gets
    /// some time to name its worktree.
    fn forget_beginnings(&self) -> Result<(), WorktreeError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let nameless = |dir: &PathBuf| fs::metadata(dir.join("gitdir")).map_or(true, |file| file.len() == 0);
            let nameless = files_in(&self.common.join("worktrees")).filter(nameless);
            let (being_made, rest): (Vec<_>, Vec<_>) = nameless.partition(|dir| dir.join("locked").exists());
            let is_late = Instant::now() >= until;
            for dir in rest.iter().chain(being_made.iter().filter(|_| is_late)) {
                remove_dir(dir)?;
            }
            if being_made.is_empty() || is_late {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Removes the lock of packed references that a killed process of this run left. Another holder gets some time to
    /// release it.
    fn unlock_packed(&self) -> Result<(), WorktreeError> {
        let lock = self.common.join("packed-refs.lock");
        let until = Instant::now() + PATIENCE;
        while lock.exists() {
            if Instant::now() >= until {
                return remove_file(&lock);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Deletes references, if they exist.
    pub(super) fn delete(&self, references: &[&str]) -> Result<(), WorktreeError> {
        if references.is_empty() {
            return Ok(());
        }
        let deleting = self.folder.join(DELETING);
        fs::create_dir_all(&self.folder).map_err(file(&self.folder))?;
        fs::write(&deleting, "").map_err(file(&deleting))?;
        let lines: String = references.iter().map(|reference| format!("delete {reference}\n")).collect();
        self.git().call("update-ref").args(["--stdin"]).input(lines).answer(QUICK)?;
        remove_file(&deleting)
    }

    /// Removes git's records of the worktrees in these folders. It takes the lock once for all of them, because taking
    /// it for each is too slow while many worktrees are made.
    pub(super) fn forget(&self, folders: &[PathBuf]) -> Result<(), WorktreeError> {
        let _alone = self.alone();
        for folder in folders {
            self.forget_one(&real(folder))?;
        }
        Ok(())
    }

    fn forget_one(&self, folder: &Path) -> Result<(), WorktreeError> {
        // Git names the record after the folder, unless that name is taken.
        let likely = folder.file_name().map(|name| self.common.join("worktrees").join(name));
        match likely.map(Remembered::read) {
            Some(Some(one)) if one.folder == folder => return remove_dir(&one.git_dir),
            // A record with another name is removed at the end of the run.
            Some(None) => return Ok(()),
            _ => {}
        }
        for one in self.remembered().into_iter().filter(|one| one.folder == folder) {
            remove_dir(&one.git_dir)?;
        }
        Ok(())
    }

    /// Removes git's records of all worktrees of the run.
    pub(super) fn forget_all(&self) -> Result<(), WorktreeError> {
        for one in self.remembered().into_iter().filter(|one| one.is_in(&self.folder)) {
            remove_dir(&one.git_dir)?;
        }
        // Fails if another worktree has a record there.
        let _ = fs::remove_dir(self.common.join("worktrees"));
        Ok(())
    }

    fn remembered(&self) -> Vec<Remembered> {
        let Ok(entries) = fs::read_dir(self.common.join("worktrees")) else { return Vec::new() };
        entries.flatten().filter_map(|entry| Remembered::read(entry.path())).collect()
    }
}

/// Git's record of a worktree.
struct Remembered {
    git_dir: PathBuf,
    /// The folder of the worktree.
    folder: PathBuf,
}

impl Remembered {
    fn read(git_dir: PathBuf) -> Option<Self> {
        let said = fs::read_to_string(git_dir.join("gitdir")).ok()?;
        // Git may write a relative path.
        let link = git_dir.join(said.trim_end_matches('\n'));
        let folder = real(link.parent()?);
        Some(Self { git_dir, folder })
    }

    /// Git locks a worktree with this reason until it is complete.
    fn is_half_made(&self) -> bool {
        fs::read_to_string(self.git_dir.join("locked")).is_ok_and(|why| why.trim_end() == "initializing")
    }

    fn is_in(&self, run: &Path) -> bool {
        let real = fs::canonicalize(run).unwrap_or_else(|_| run.to_owned());
        self.folder.parent() == Some(real.as_path())
    }
}

/// Returns git's record of the complete worktree in `folder`.
pub(super) fn git_dir(folder: &Path) -> Result<PathBuf, WorktreeError> {
    let link = folder.join(".git");
    let said = fs::read_to_string(&link).map_err(file(&link))?;
    let dir = said.strip_prefix("gitdir: ").map(|dir| folder.join(dir.trim_end_matches('\n')));
    dir.ok_or(WorktreeError::Unreadable(said))
}

/// Resolves symbolic links in the parents of a folder. The folder itself need not exist.
fn real(folder: &Path) -> PathBuf {
    match (folder.parent().and_then(|parent| fs::canonicalize(parent).ok()), folder.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => folder.to_owned(),
    }
}

fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_lock(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("lock"))
}

/// Returns whether a path belongs to the run's branch or to a branch of its units.
fn is_of(path: &Path, run: &str) -> bool {
    let rest = path.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_prefix(run));
    rest.is_some_and(|rest| rest.starts_with(['.', '-']))
}

pub(super) fn remove_file(path: &Path) -> Result<(), WorktreeError> {
    gone(path, fs::remove_file(path))
}

pub(super) fn remove_dir(path: &Path) -> Result<(), WorktreeError> {
    gone(path, fs::remove_dir_all(path))
}

fn gone(path: &Path, removed: io::Result<()>) -> Result<(), WorktreeError> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file(path)(error)),
        _ => Ok(()),
    }
}
