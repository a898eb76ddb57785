//! The tree id: the tree that `git add -A` would make of the checkout, computed without touching the user's git.
//!
//! Git works with a private index and a private object directory, whose alternate is the repository's. The index begins
//! as a copy of the user's and is kept, so that only changed files are read again. When the user's index changes, the
//! private one is copied anew. The id depends only on the files and the user's index, not on earlier calls.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, FileTimes};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_system::lock_within;
use steadfast_text::hex;

use super::Git;
use super::object_id::ObjectId;
use super::path::{from_git, quoted};
use super::private_objects::PrivateObjects;
use crate::checkout::Checkout;
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};

/// The folder for rendered pages, at the root of the checkout; never part of an answer.
pub(crate) const OURS: &str = ".steadfast";

/// The id of a tree object that holds the whole checkout.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(ObjectId);

impl TreeId {
    pub fn new(id: ObjectId) -> Self {
        Self(id)
    }

    pub fn object(&self) -> &ObjectId {
        &self.0
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Checkout {
    /// Returns the tree id of the checkout. `private_dir` is kept between calls and belongs to this worktree;
    /// concurrent callers take turns. Its size is bounded, so [`Point::Tree`] may not find a very old tree.
    ///
    /// [`Point::Tree`]: crate::Point::Tree
    ///
    /// A submodule counts by its commit: uncommitted changes inside it are not in the id.
    pub fn tree_id(&self, private_dir: &Path, budget: Duration) -> Fact<TreeId> {
        fact(self.tree(private_dir, Deadline::after(budget)))
    }

    fn tree(&self, private_dir: &Path, deadline: Deadline) -> Result<TreeId, ObserveError> {
        let index = PrivateIndex::lock(self, private_dir, deadline)?;
        if let Some(base) = index.kept_base()? {
            match index.tree_of_kept(&base) {
                Ok(Some(tree)) => return Ok(TreeId(tree)),
                // If git refuses the kept index, copy it again. A fresh copy would fail again.
                Ok(None) | Err(ObserveError::GitFailed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        index.copy()?;
        index.add()?;
        let tree = index.write()?;
        index.objects.note_first();
        Ok(TreeId(tree))
    }
}

/// Spells an alternate object directory for the environment, where a plain path must not contain the separator.
pub(crate) fn alternate(objects: &Path) -> OsString {
    from_git(&quoted(objects)).into_os_string()
}

struct PrivateIndex<'a> {
    repository: &'a Checkout,
    git_dir: &'a Path,
    common_dir: &'a Path,
    dir: PathBuf,
    objects: PrivateObjects,
    lock: File,
    deadline: Deadline,
}

impl<'a> PrivateIndex<'a> {
    /// Takes the lock and hands it on to every git that works here. The lock is free only when all of them have ended,
    /// also those of a killed process. So the holder knows that a leftover `index.lock` of git is stale.
    fn lock(repository: &'a Checkout, dir: &Path, deadline: Deadline) -> Result<Self, ObserveError> {
        let (git_dir, common_dir) = repository.checkout()?;
        let dir = std::path::absolute(dir).map_err(ObserveError::file(dir))?;
        let objects = PrivateObjects::of(&dir);
        objects.make().map_err(ObserveError::file(objects.dir()))?;
        let path = dir.join("lock");
        let lock = File::options().create(true).truncate(false).read(true).write(true).open(&path);
        let lock = lock.map_err(ObserveError::file(&path))?;
        match lock_within(&lock, deadline.left()?) {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(deadline.passed()),
            Err(fs::TryLockError::Error(source)) => return Err(ObserveError::File { path, source }),
        }
        let index = Self { repository, git_dir, common_dir, dir, objects, lock, deadline };
        index.remove_stale_lock()?;
        index.enforce_bound()?;
        Ok(index)
    }

    fn remove_stale_lock(&self) -> Result<(), ObserveError> {
        if remove(&self.file("index.lock"))? {
            self.objects.remove_partial();
        }
        Ok(())
    }

    /// Removes the index first: without its note it is not used again, and then its objects can go.
    fn enforce_bound(&self) -> Result<(), ObserveError> {
        if !self.objects.exceed_bound() {
            return Ok(());
        }
        self.invalidate()?;
        self.objects.recreate().map_err(ObserveError::file(self.objects.dir()))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn git(&self) -> Result<Git, ObserveError> {
        Ok(Git::at(&self.repository.root)
            .env("GIT_INDEX_FILE", self.file("index"))
            .env("GIT_OBJECT_DIRECTORY", self.objects.dir())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate(&self.common_dir.join("objects")))
            // A split index would store its shared half in the user's git directory.
            .setting("core.splitIndex=false")
            .setting("core.safecrlf=false")
            .setting("core.fsync=none")
            .setting("advice.addEmbeddedRepo=false")
            .holding(self.lock.try_clone()?))
    }

    /// Returns the tree of the copy before anything was added, if the kept index still matches the user's index.
    fn kept_base(&self) -> Result<Option<ObjectId>, ObserveError> {
        let Ok(kept) = fs::read(self.file("base")) else { return Ok(None) };
        let stamp = self.stamp()?;
        let base = kept.strip_prefix(stamp.as_slice()).and_then(|rest| rest.strip_suffix(b".\n"));
        Ok(base.and_then(ObjectId::from_git).filter(|_| self.file("index").is_file()))
    }

    fn invalidate(&self) -> Result<(), ObserveError> {
        remove(&self.file("base"))?;
        remove(&self.file("index.lock"))?;
        Ok(())
    }

    /// Copies the user's index. The note with its stamp is written last: if this process is killed before that, the
    /// next call copies again.
    fn copy(&self) -> Result<(), ObserveError> {
        self.invalidate()?;
        let stamp = self.stamp()?;
        self.copy_file()?;
        let ours = [":(top,literal)", OURS].concat();
        self.git()?
            .call("rm")
            .args(["-r", "-f", "--quiet", "--cached", "--sparse", "--ignore-unmatch", "--", &ours])
            .answer(self.deadline)?;
        match self.write() {
            Ok(base) => {
                let path = self.file("base");
                let note = [stamp.as_slice(), base.as_str().as_bytes(), b".\n"].concat();
                fs::write(&path, note).map_err(ObserveError::file(&path))
            }
            // An index in conflict has no tree. The copy serves this call and is not kept.
            Err(ObserveError::GitFailed { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn copy_file(&self) -> Result<(), ObserveError> {
        let (theirs, ours) = (self.git_dir.join("index"), self.file("index"));
        remove(&ours)?;
        let mut from = match File::open(&theirs) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(ObserveError::File { path: theirs, source: error }),
        };
        let mut copied = || -> io::Result<()> {
            let mut to = File::create(&ours)?;
            io::copy(&mut from, &mut to)?;
            // Git reads a file again if it is not older than the index. With a younger copy git would miss what was
            // written in the same moment.
            to.set_times(FileTimes::new().set_modified(from.metadata()?.modified()?))
        };
        copied().map_err(ObserveError::file(&ours))
    }

    /// Identifies this version of the user's index.
    fn stamp(&self) -> Result<Vec<u8>, ObserveError> {
        const TAIL: i64 = 32;
        let path = self.git_dir.join("index");
        let mut stamp = format!("1 {} ", self.git_dir.display()).into_bytes();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(stamp),
            Err(error) => return Err(ObserveError::File { path, source: error }),
        };
        let mut read = || -> io::Result<()> {
            let found = file.metadata()?;
            stamp.extend(format!("{} {:?} ", found.len(), found.modified()?).into_bytes());
            // The index file's own checksum.
            file.seek(SeekFrom::End(-TAIL))?;
            let mut tail = Vec::new();
            file.read_to_end(&mut tail)?;
            stamp.extend(hex(&tail).into_bytes());
            stamp.push(b' ');
            Ok(())
        };
        read().map_err(ObserveError::file(&path))?;
        Ok(stamp)
    }

    fn add(&self) -> Result<(), ObserveError> {
        let exclude = [":(top,exclude)", OURS].concat();
        let add = self.git()?.call("add").args(["--all", "--sparse", "--", ".", &exclude]);
        add.answer(self.deadline).map(drop)
    }

    fn write(&self) -> Result<ObjectId, ObserveError> {
        // In a partial clone the objects outside a sparse checkout may be on the server only.
        let answer = self.git()?.call("write-tree").args(["--missing-ok"]).answer(self.deadline)?;
        ObjectId::from_git(answer.trim_ascii()).ok_or_else(|| ObserveError::unreadable("write-tree", &answer))
    }

    /// Returns the tree of the kept index, if a new copy would give the same. A file that was added earlier and is
    /// ignored now is still in a kept index, because git keeps what it tracks; a new copy would not have it.
    fn tree_of_kept(&self, base: &ObjectId) -> Result<Option<ObjectId>, ObserveError> {
        const NONE_IGNORED: i32 = 1;
        self.add()?;
        let tree = self.write()?;
        if tree == *base {
            return Ok(Some(tree));
        }
        let added = self
            .git()?
            .call("diff-tree")
            .args(["-r", "--name-only", "--diff-filter=A", "--no-renames", "-z"])
            .args([base.as_str(), tree.as_str(), "--"])
            .answer(self.deadline)?;
        if added.is_empty() {
            return Ok(Some(tree));
        }
        let check = Git::at(&self.repository.root).call("check-ignore").args(["--no-index", "-z", "--stdin"]);
        let ignored = check.input(added).answer_with(&[0, NONE_IGNORED], self.deadline)?;
        Ok(ignored.is_empty().then_some(tree))
    }
}

/// Removes a file. Returns true if it existed.
fn remove(path: &Path) -> Result<bool, ObserveError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(ObserveError::File { path: path.to_owned(), source: error }),
    }
}
