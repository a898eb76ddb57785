//! Carries out a plan, completely or not at all.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::change::{FileEdit, InstallPlan};
use super::error::InstallError;
use super::file;

/// Claude Code holds its lock for milliseconds, so this is ample.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// A finished change, with the content before and after it.
struct Written<'a> {
    change: &'a FileEdit,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    folders: Vec<PathBuf>,
}

/// Writes all changes of a plan. If one fails, the earlier ones are undone.
pub fn apply(plan: &InstallPlan) -> Result<(), InstallError> {
    let mut written = Vec::new();
    for change in plan.in_order() {
        match write(change) {
            Ok(done) => written.push(done),
            Err(error) => return Err(put_back(error, written)),
        }
    }
    // Innermost first: one change may have created the parent of another's folder.
    let mut folders: Vec<_> = written.iter().flat_map(|done| done.change.folders.iter().cloned()).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    remove_empty(&folders);
    Ok(())
}

fn write(change: &FileEdit) -> Result<Written<'_>, InstallError> {
    let _lock = change.lock.as_deref().map(|lock| FolderLock::take(lock, LOCK_PATIENCE)).transpose()?;
    let folders = file::missing_folders(&change.path);
    let before = change.current()?;
    // A link may lead two of our files to one place; then the first change has already written it.
    let after = if before == change.before || before == change.after {
        change.after.clone()
    } else if change.edits.is_empty() {
        return Err(InstallError::Changed { path: change.path.clone() });
    } else {
        change.redo(before.as_deref())?
    };
    set(change, after.as_deref())?;
    Ok(Written { change, before, after, folders })
}

fn set(change: &FileEdit, content: Option<&[u8]>) -> Result<(), InstallError> {
    let done = match content {
        Some(target) if change.is_link => file::link(&change.path, target),
        Some(content) => file::replace(&change.path, content, change.access),
        None if change.current()?.is_none() => Ok(()),
        None if change.is_link => fs::remove_file(&change.path),
        None => file::remove(&change.path),
    };
    done.map_err(|source| InstallError::Write { path: change.path.clone(), source })
}

fn put_back(error: InstallError, written: Vec<Written<'_>>) -> InstallError {
    if written.is_empty() {
        return error;
    }
    let mut unrestored = Vec::new();
    for done in written.into_iter().rev() {
        let lock = done.change.lock.as_deref().map(|lock| FolderLock::take(lock, LOCK_PATIENCE)).transpose();
        let ours = lock.is_ok() && done.change.current().is_ok_and(|content| content == done.after);
        if ours && set(done.change, done.before.as_deref()).is_ok() {
            drop(lock);
            remove_empty(&done.folders);
        } else {
            unrestored.push(done.change.path.clone());
        }
    }
    InstallError::Undone { source: Box::new(error), unrestored }
}

/// Removes the empty folders of the list. `remove_dir` fails for the others, which is intended.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}

/// Claude Code's lock of a file: a folder next to it, whose time the holder renews.
#[derive(Debug)]
pub(super) struct FolderLock(PathBuf);

/// The limit of Claude Code's library (proper-lockfile).
const STALE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(25);

impl FolderLock {
    pub(super) fn take(lock: &Path, patience: Duration) -> Result<Self, InstallError> {
        let write = |source| InstallError::Write { path: lock.to_owned(), source };
        if let Some(folder) = lock.parent() {
            fs::create_dir_all(folder).map_err(write)?;
        }
        let start = Instant::now();
        loop {
            match fs::create_dir(lock) {
                Ok(()) => return Ok(Self(lock.to_owned())),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(write(error)),
                Err(_) if is_stale(lock) => {
                    // Another process may be faster; the next attempt shows it.
                    let _ = fs::remove_dir(lock);
                }
                Err(_) => {}
            }
            if start.elapsed() > patience {
                return Err(InstallError::Locked { path: lock.to_owned(), seconds: patience.as_secs() });
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // If this fails, the lock becomes stale after ten seconds, for Claude Code too.
        let _ = fs::remove_dir(&self.0);
    }
}

fn is_stale(lock: &Path) -> bool {
    let age = fs::metadata(lock).and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > STALE)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a stale lock needs a clock")]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_waited_for_no_longer_than_said() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("x.lock");
        let _held = FolderLock::take(&lock, Duration::ZERO).unwrap();
        let error = FolderLock::take(&lock, Duration::from_millis(60)).unwrap_err();
        assert!(matches!(error, InstallError::Locked { .. }), "{error}");
    }

    #[test]
    fn a_lock_is_free_after_its_holder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("x.lock");
        drop(FolderLock::take(&lock, Duration::ZERO).unwrap());
        assert!(FolderLock::take(&lock, Duration::ZERO).is_ok());
    }

    #[test]
    fn a_lock_whose_holder_died_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("x.lock");
        fs::create_dir(&lock).unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(60);
        fs::File::open(&lock).unwrap().set_modified(old).unwrap();
        assert!(FolderLock::take(&lock, steadfast_testkit::PATIENCE).is_ok());
    }
}
