use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_observe::{ChangeKind, Checkout, ObjectId, Point, TreeId};
use tempfile::TempDir;

/// Long enough for any machine: a test that is not about time must not fail by it.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A repository in a folder of its own, with one commit of `a.txt` and `src/b.txt`.
pub(crate) struct Sandbox {
    pub(crate) dir: TempDir,
    pub(crate) root: PathBuf,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self::empty();
        sandbox.write("a.txt", "a\n").write("src/b.txt", "b\n").commit();
        sandbox
    }

    /// Without a commit.
    pub(crate) fn empty() -> Self {
        Self::init(&["init", "--quiet", "--initial-branch=main", "."])
    }

    pub(crate) fn init(args: &[&str]) -> Self {
        let sandbox = Self::without_git();
        sandbox.git(args);
        sandbox
    }

    pub(crate) fn without_git() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("root");
        fs::create_dir(&root).unwrap();
        Self { dir, root }
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.root, args)
    }

    pub(crate) fn commit(&self) -> ObjectId {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=x"]);
        self.git(&["rev-parse", "HEAD"]).trim().parse().unwrap()
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.root.join(path)).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> &Self {
        std::os::unix::fs::symlink(target, self.root.join(path)).unwrap();
        self
    }

    pub(crate) fn repository(&self) -> Checkout {
        Checkout::find(&self.root)
    }

    pub(crate) fn private_dir(&self) -> PathBuf {
        self.dir.path().join("private")
    }

    pub(crate) fn changed(&self, point: &Point) -> Vec<(String, ChangeKind)> {
        changed(&self.repository(), point)
    }

    pub(crate) fn tree(&self) -> TreeId {
        known(self.repository().tree_id(&self.private_dir(), LONG))
    }

    /// As it would be without anything kept from earlier calls.
    pub(crate) fn fresh_tree(&self) -> TreeId {
        known(self.repository().tree_id(tempfile::tempdir().unwrap().path(), LONG))
    }

    pub(crate) fn since(&self, id: TreeId) -> Point {
        Point::Tree { id, private_dir: self.private_dir() }
    }

    /// The files of a tree, with their modes.
    pub(crate) fn listed(&self, tree: &TreeId) -> Vec<String> {
        let objects = self.private_dir().join("objects");
        let mut command = command("git");
        command.current_dir(&self.root).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects);
        let output =
            command.args(["ls-tree", "-r", "--format=%(objectmode) %(path)", &tree.to_string()]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

pub(crate) fn changed(repository: &Checkout, point: &Point) -> Vec<(String, ChangeKind)> {
    let changes = known(repository.changed_since(point, LONG));
    changes.into_iter().map(|change| (change.path.to_str().unwrap().to_owned(), change.kind)).collect()
}

pub(crate) fn known<T>(fact: Fact<T>) -> T {
    match fact {
        Fact::Known(value) => value,
        Fact::Unknown(why) => panic!("unknown: {why}"),
        Fact::NotAsked => panic!("not asked"),
    }
}

pub(crate) fn unknown<T>(fact: Fact<T>) -> String {
    match fact {
        Fact::Unknown(why) => why,
        Fact::Known(_) => panic!("known"),
        Fact::NotAsked => panic!("not asked"),
    }
}

pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = command("git").current_dir(dir).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A program that knows nothing of this machine's settings.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "somebody")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "somebody@example.com")));
    command
}

pub(crate) fn os(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
