//! The tree id: the tree that `git add -A` would make of the checkout, without the user's git noticing.
//!
//! Git works on an index and an object directory of ours, which has the repository's as an alternate. The index begins
//! as a copy of the user's and is kept, so that only files that changed are read again; it is made anew whenever the
//! user's index is another. The id is that of the files and of what the user's index has, never of the way there.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, FileTimes};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_system::lock_within;
use steadfast_text::hex;

use crate::checkout::Checkout;
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git::Git;
use crate::git_path::{from_git, quoted};
use crate::object_id::ObjectId;
use crate::private_objects::PrivateObjects;

/// What we render for people, at the root of the checkout: never part of an answer.
pub(crate) const OURS: &str = ".steadfast";

/// The id of a tree object that holds the whole checkout.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(ObjectId);

impl TreeId {
    /// A tree id that was written down.
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
    /// The tree id of the checkout. `private_dir` is kept between calls and belongs to this worktree; two callers at
    /// once take turns. What gathers in it is bounded: a tree of long ago may be one that [`Point::Tree`] does not find.
    ///
    /// [`Point::Tree`]: crate::Point::Tree
    ///
    /// A submodule counts by its commit: changes inside it that are not committed are not in the id.
    pub fn tree_id(&self, private_dir: &Path, budget: Duration) -> Fact<TreeId> {
        fact(self.tree(private_dir, Deadline::after(budget)))
    }

    fn tree(&self, private_dir: &Path, deadline: Deadline) -> Result<TreeId, ObserveError> {
        let index = PrivateIndex::lock(self, private_dir, deadline)?;
        if let Some(base) = index.kept_base()? {
            match index.grown(&base) {
                Ok(Some(tree)) => return Ok(TreeId(tree)),
                // A kept index that git will not work with is replaced too; one made just now would fail again.
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

/// How an alternate object directory is spelled in the environment: a plain path may not hold the separator.
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
    /// The lock is handed on to every git that works here. It is free only when all of them are gone, those of a
    /// killed process included; so whoever holds it knows that a lock of git's own is a dead one's.
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
        index.clear_up_after_the_dead()?;
        index.keep_the_bound()?;
        Ok(index)
    }

    fn clear_up_after_the_dead(&self) -> Result<(), ObserveError> {
        if remove(&self.file("index.lock"))? {
            self.objects.drop_halves();
        }
        Ok(())
    }

    /// The index goes first: without its note it is not used again, and what it leans on may go.
    fn keep_the_bound(&self) -> Result<(), ObserveError> {
        if !self.objects.are_too_many() {
            return Ok(());
        }
        self.forget()?;
        self.objects.throw_away().map_err(ObserveError::file(self.objects.dir()))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn git(&self) -> Result<Git, ObserveError> {
        Ok(Git::at(&self.repository.root)
            .env("GIT_INDEX_FILE", self.file("index"))
            .env("GIT_OBJECT_DIRECTORY", self.objects.dir())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate(&self.common_dir.join("objects")))
            // A split index would put its shared half into the user's git directory.
            .setting("core.splitIndex=false")
            .setting("core.safecrlf=false")
            .setting("core.fsync=none")
            .setting("advice.addEmbeddedRepo=false")
            .holding(self.lock.try_clone()?))
    }

    /// The tree of the copy before anything was added, if the kept index still belongs to the user's.
    fn kept_base(&self) -> Result<Option<ObjectId>, ObserveError> {
        let Ok(kept) = fs::read(self.file("base")) else { return Ok(None) };
        let stamp = self.stamp()?;
        let base = kept.strip_prefix(stamp.as_slice()).and_then(|rest| rest.strip_suffix(b".\n"));
        Ok(base.and_then(ObjectId::from_git).filter(|_| self.file("index").is_file()))
    }

    fn forget(&self) -> Result<(), ObserveError> {
        remove(&self.file("base"))?;
        remove(&self.file("index.lock"))?;
        Ok(())
    }

    /// Copies the user's index, and notes whose copy it is last: killed before that, the next call copies again.
    fn copy(&self) -> Result<(), ObserveError> {
        self.forget()?;
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
            // An index in conflict has no tree. The copy serves this time and is not kept.
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
            // Git reads a file again that is not older than the index. On a copy that looks younger it would not, and
            // would miss what was written in the same moment.
            to.set_times(FileTimes::new().set_modified(from.metadata()?.modified()?))
        };
        copied().map_err(ObserveError::file(&ours))
    }

    /// Tells this version of the user's index from any other.
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
            // Its own checksum.
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
        let but = [":(top,exclude)", OURS].concat();
        let add = self.git()?.call("add").args(["--all", "--sparse", "--", ".", &but]);
        add.answer(self.deadline).map(drop)
    }

    fn write(&self) -> Result<ObjectId, ObserveError> {
        // The objects of files outside a sparse checkout may be on a server only.
        let answer = self.git()?.call("write-tree").args(["--missing-ok"]).answer(self.deadline)?;
        ObjectId::from_git(answer.trim_ascii()).ok_or_else(|| ObserveError::unreadable("write-tree", &answer))
    }

    /// The tree from a kept index, if it is that of a new copy. A file that was added earlier and is ignored by now is
    /// still in a kept index, because git goes on with what it knows; in a new copy it would not be.
    fn grown(&self, base: &ObjectId) -> Result<Option<ObjectId>, ObserveError> {
        const NONE_IS: i32 = 1;
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
        let ignored = check.input(added).answer_with(&[0, NONE_IS], self.deadline)?;
        Ok(ignored.is_empty().then_some(tree))
    }
}

/// Whether there was one.
fn remove(path: &Path) -> Result<bool, ObserveError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(ObserveError::File { path: path.to_owned(), source: error }),
    }
}
