//! Files as they were at an earlier look, compared without git: a stop waits for no process.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use steadfast_model::{Fact, Millis, SeenFile, fnv};

use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git_path::to_git;
use crate::recent::last_touched;
use crate::repository::Repository;
use crate::sha256::Sha256;
use crate::stat::{FileKind, kind_of};

/// A file can be written twice within one tick of the file system's clock. What was touched this recently is compared by
/// its content.
const RACY_MS: u64 = 50;

impl Repository {
    /// These files as they are now. A path is meant from the root.
    pub fn see<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a str>,
        now: Millis,
        budget: Duration,
    ) -> Fact<Vec<SeenFile>> {
        let deadline = Deadline::after(budget);
        fact(paths.into_iter().map(|path| see(&self.root, path, now, deadline)).collect())
    }

    /// Whether each of these files is another than it was. Only files whose size, times or inode differ are read.
    pub fn changed_since_seen<'a>(
        &self,
        files: impl IntoIterator<Item = &'a SeenFile>,
        budget: Duration,
    ) -> Fact<Vec<bool>> {
        let deadline = Deadline::after(budget);
        fact(files.into_iter().map(|file| is_changed(&self.root, file, deadline)).collect())
    }

    /// Whether a file was written or moved here after that time, or is gone.
    pub fn is_touched_after(&self, path: &Path, since: Millis) -> bool {
        last_touched(&self.root.join(path)).is_none_or(|at| at > since)
    }
}

fn see(root: &Path, path: &str, now: Millis, deadline: Deadline) -> Result<SeenFile, ObserveError> {
    let full = root.join(path);
    let stat = match look(&full)? {
        Some(found) if last_touched(&full).is_some_and(|at| at < now.before(RACY_MS)) => stat_of(&found),
        Some(_) | None => 0,
    };
    Ok(SeenFile { path: path.to_owned(), stat, content: content(&full, deadline)? })
}

fn is_changed(root: &Path, file: &SeenFile, deadline: Deadline) -> Result<bool, ObserveError> {
    deadline.left()?;
    let full = root.join(&file.path);
    let Some(found) = look(&full)? else { return Ok(file.content != 0) };
    if file.stat != 0 && stat_of(&found) == file.stat {
        return Ok(false);
    }
    Ok(content(&full, deadline)? != file.content)
}

fn look(path: &Path) -> Result<Option<Metadata>, ObserveError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(ObserveError::File { path: path.to_owned(), source }),
    }
}

#[cfg(unix)]
fn stat_of(found: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()].map(i64::to_le_bytes);
    let rest = [found.len(), found.ino(), found.mode().into()].map(u64::to_le_bytes);
    fnv(times.iter().chain(&rest).map(<[u8; 8]>::as_slice)).max(1)
}

/// Without a time that a copy cannot keep, only the content tells.
#[cfg(not(unix))]
fn stat_of(_found: &Metadata) -> u64 {
    0
}

fn content(path: &Path, deadline: Deadline) -> Result<u64, ObserveError> {
    let Some(found) = look(path)? else { return Ok(0) };
    let mut hash = Sha256::new();
    match kind_of(path, &found)? {
        FileKind::Missing => return Ok(0),
        FileKind::Link(target) => {
            hash.update(b"link ");
            hash.update(&to_git(&target));
        }
        FileKind::File => {
            let mut file = File::open(path).map_err(ObserveError::file(path))?;
            let mut part = vec![0; (found.len() as usize).clamp(1 << 10, 256 << 10)];
            loop {
                deadline.left()?;
                match file.read(&mut part).map_err(ObserveError::file(path))? {
                    0 => break,
                    read => hash.update(&part[..read]),
                }
            }
        }
        // A repository inside the repository, or something that is no file: that it is there is all that is compared.
        FileKind::Folder | FileKind::Special => hash.update(b"folder"),
    }
    let digits = hash.finish();
    Ok(u64::from_str_radix(&digits[..16], 16).unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_secs(10);
    /// Long after any file of a test was written.
    const LATER: Millis = Millis(i64::MAX);

    fn scene() -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.txt"), "one").unwrap();
        let repository = Repository::find(dir.path());
        (dir, repository)
    }

    fn changed(repository: &Repository, seen: &Fact<Vec<SeenFile>>) -> Vec<bool> {
        let Fact::Known(seen) = seen else { panic!("{seen:?}") };
        let Fact::Known(changed) = repository.changed_since_seen(seen, BUDGET) else { panic!() };
        changed
    }

    #[test]
    fn a_file_that_came_went_or_was_written_is_another() {
        let (dir, repository) = scene();
        let seen = repository.see(["a.txt", "b.txt"], LATER, BUDGET);
        assert_eq!(changed(&repository, &seen), [false, false]);
        fs::write(dir.path().join("b.txt"), "new").unwrap();
        fs::write(dir.path().join("a.txt"), "two").unwrap();
        assert_eq!(changed(&repository, &seen), [true, true]);
        fs::remove_file(dir.path().join("a.txt")).unwrap();
        fs::remove_file(dir.path().join("b.txt")).unwrap();
        assert_eq!(changed(&repository, &seen), [true, false]);
    }

    #[test]
    fn the_same_content_written_again_is_the_same_file() {
        let (dir, repository) = scene();
        let seen = repository.see(["a.txt"], LATER, BUDGET);
        fs::remove_file(dir.path().join("a.txt")).unwrap();
        fs::write(dir.path().join("a.txt"), "one").unwrap();
        assert_eq!(changed(&repository, &seen), [false]);
    }

    #[cfg(unix)]
    #[test]
    fn a_time_that_was_set_back_hides_no_change() {
        let (dir, repository) = scene();
        let path = dir.path().join("a.txt");
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        let seen = repository.see(["a.txt"], LATER, BUDGET);
        fs::write(&path, "six").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        assert_eq!(changed(&repository, &seen), [true]);
    }

    #[test]
    fn a_file_that_was_just_written_is_compared_by_its_content() {
        let (_dir, repository) = scene();
        let Fact::Known(seen) = repository.see(["a.txt"], Millis(0), BUDGET) else { panic!() };
        assert_eq!(seen[0].stat, 0);
    }

    #[test]
    fn beyond_its_budget_nothing_is_known() {
        let (_dir, repository) = scene();
        let Fact::Known(seen) = repository.see(["a.txt"], LATER, BUDGET) else { panic!() };
        assert!(matches!(repository.changed_since_seen(&seen, Duration::ZERO), Fact::Unknown(_)));
    }
}
