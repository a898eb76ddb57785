//! What `uninstall` deletes, keeps and leaves behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::{Run, fnv};
use steadfast_observe::GitCommand;
use steadfast_store::ledger::{Ledger, LedgerError, Totals};
use steadfast_store::{Place, SessionFiles};

use super::{Setup, SetupError};

/// The folder for rendered files, at the root of the checkout.
const RENDERED: &str = ".steadfast";

/// Its place in kept state, with a folder for each checkout.
const KEPT_RENDERED: &str = "rendered";

/// The branches of runs.
const BRANCHES: &str = "refs/heads/steadfast/";

const QUICK: Duration = Duration::from_secs(10);

/// The data that `--purge` deletes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// `None`: there is no ledger, or it cannot be read.
    pub totals: Option<Totals>,
    /// Sessions with files, which the ledger may not know yet.
    pub sessions: usize,
    /// The size of the state, in bytes.
    pub bytes: u64,
}

/// What runs leave in the repository. It is the work of the user's agents, so only the user deletes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    pub branches: Vec<String>,
    pub worktrees: Vec<PathBuf>,
}

/// The end of the folder for rendered files in this checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderedFolder {
    Missing,
    Removed,
    /// Kept with the state; `init` restores it.
    Kept,
    /// Git tracks files in it, so it stays.
    Tracked,
}

impl Setup {
    /// Reads what the state holds, also state that an earlier `uninstall` kept.
    pub fn contents(&self) -> Contents {
        let folders = [self.place.state.clone(), self.kept()].into_iter().filter(|folder| folder.is_dir());
        let mut contents = Contents::default();
        for state in folders {
            let ledger = Ledger::open_read_only(&state).ok().flatten();
            let totals = ledger.and_then(|ledger| ledger.totals().ok());
            contents.totals = contents.totals.or(totals);
            contents.bytes += size(&state);
            contents.sessions += SessionFiles::all(&Place { state, root: self.place.root.clone() }).len();
        }
        contents
    }

    /// Returns the running and paused runs, which need the state to continue.
    pub fn unfinished_runs(&self) -> Result<Vec<Run>, LedgerError> {
        let ledger = match Ledger::open_read_only(&self.place.state)? {
            Some(ledger) => Some(ledger),
            None => Ledger::open_read_only(&self.kept())?,
        };
        ledger.map_or(Ok(Vec::new()), |ledger| ledger.unfinished_runs())
    }

    /// Lists the branches and worktrees of runs. Empty outside git, and where git fails.
    pub fn leftovers(&self) -> Leftovers {
        let git = |command, args: &[&str]| GitCommand::at(&self.place.root).call(command).args(args).answer(QUICK);
        let branches = git("for-each-ref", &["--format=%(refname:short)", BRANCHES]).unwrap_or_default();
        let worktrees = git("worktree", &["list", "--porcelain"]).unwrap_or_default();
        Leftovers { branches: branches.lines().map(str::to_owned).collect(), worktrees: of_runs(&worktrees) }
    }

    /// Removes the folder of rendered files, or moves it to the kept state: people and agents write decisions into it.
    pub(super) fn remove_rendered(&self, kept: Option<&Path>) -> Result<RenderedFolder, SetupError> {
        let folder = self.place.root.join(RENDERED);
        if !folder.is_dir() {
            return Ok(RenderedFolder::Missing);
        }
        let tracked = GitCommand::at(&self.place.root).call("ls-files").args(["--", RENDERED]).answer(QUICK);
        if tracked.is_ok_and(|files| !files.is_empty()) {
            return Ok(RenderedFolder::Tracked);
        }
        let failed = |source| SetupError::Rendered { folder: folder.clone(), source };
        let Some(kept) = kept else {
            fs::remove_dir_all(&folder).map_err(failed)?;
            return Ok(RenderedFolder::Removed);
        };
        move_folder(&folder, &self.kept_rendered(kept)).map_err(failed)?;
        Ok(RenderedFolder::Kept)
    }

    /// Moves the rendered files of this checkout back. Newer ones stay.
    pub(super) fn restore_rendered(&self) -> io::Result<()> {
        let (kept, folder) = (self.kept_rendered(&self.place.state), self.place.root.join(RENDERED));
        if kept.is_dir() && !folder.exists() {
            move_folder(&kept, &folder)?;
            // The folder above it, if this was the last checkout.
            let _ = fs::remove_dir(self.place.state.join(KEPT_RENDERED));
        }
        Ok(())
    }

    fn kept_rendered(&self, state: &Path) -> PathBuf {
        state.join(KEPT_RENDERED).join(format!("{:016x}", fnv([self.place.worktree().as_bytes()])))
    }
}

/// Reads `git worktree list --porcelain`: the worktrees on a branch of a run.
fn of_runs(list: &str) -> Vec<PathBuf> {
    let path = |record: &str| {
        let is_of_run =
            record.lines().any(|line| line.strip_prefix("branch ").is_some_and(|b| b.starts_with(BRANCHES)));
        record.lines().find_map(|line| line.strip_prefix("worktree ")).filter(|_| is_of_run).map(PathBuf::from)
    };
    list.split("\n\n").filter_map(path).collect()
}

/// Moves a folder, also to another file system.
fn move_folder(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(above) = to.parent() {
        fs::create_dir_all(above)?;
    }
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_folder(from, to)?;
            fs::remove_dir_all(from)
        }
        moved => moved,
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()? {
            kind if kind.is_dir() => copy_folder(&source, &target)?,
            kind if kind.is_symlink() => std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?,
            _ => drop(fs::copy(&source, &target)?),
        }
    }
    Ok(())
}

/// The size of all files below a folder. Does not follow links.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_worktrees_on_a_branch_of_a_run_are_left_by_runs() {
        let list = "worktree /repo\nHEAD 1a\nbranch refs/heads/main\n\nworktree /state/r-1/a b\nHEAD 2b\n\
                    branch refs/heads/steadfast/r-1-1.1\n\nworktree /other\nHEAD 3c\ndetached\n";
        assert_eq!(of_runs(list), [PathBuf::from("/state/r-1/a b")]);
        assert!(of_runs("").is_empty());
    }

    #[test]
    fn a_folder_is_moved_whole_and_takes_the_place_of_an_older_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("from/sub")).unwrap();
        fs::write(path("from/sub/a"), "new").unwrap();
        fs::create_dir_all(path("above/to")).unwrap();
        fs::write(path("above/to/old"), "old").unwrap();
        move_folder(&path("from"), &path("above/to")).unwrap();
        assert!(!path("from").exists() && !path("above/to/old").exists());
        copy_folder(&path("above/to"), &path("copy")).unwrap();
        assert_eq!(fs::read_to_string(path("copy/sub/a")).unwrap(), "new");
        assert_eq!(size(&path("copy")), 3);
    }
}
