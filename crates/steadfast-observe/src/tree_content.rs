//! Back from a tree id to the files: what lay at a path, and what is in no tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;

use crate::change::only;
use crate::checkout::Checkout;
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git::Git;
use crate::git_path::{from_git, parts};
use crate::object_id::ObjectId;
use crate::private_index::{OURS, TreeId, alternate};
use crate::raw_diff::{EntryType, Mode};

/// More names than this may not fit on a command line.
const AT_ONCE: usize = 200;

/// What a tree holds at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InTree {
    Nothing,
    File {
        /// As git would lay it down, with the filters for its path.
        bytes: Vec<u8>,
        executable: bool,
    },
    /// Larger than was asked for: it is not read.
    Large {
        size: u64,
        executable: bool,
    },
    /// The text of a link.
    Link(Vec<u8>),
    Folder,
    /// A repository inside the repository.
    Nested,
}

#[derive(Clone, Debug)]
struct Listed {
    mode: Mode,
    id: ObjectId,
    size: Option<u64>,
}

impl Checkout {
    /// What a tree of [`Checkout::tree_id`] holds at these paths from the root, in their order. `private_dir` is the
    /// folder that was given there.
    pub fn in_tree(
        &self,
        tree: &TreeId,
        private_dir: &Path,
        paths: &[impl AsRef<Path>],
        longest: u64,
        budget: Duration,
    ) -> Fact<Vec<InTree>> {
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        let deadline = Deadline::after(budget);
        fact(self.listed(tree, private_dir, &paths, deadline).and_then(|listed| {
            let held = |path: &&Path| match listed.get(*path) {
                Some(entry) => self.held(entry, path, private_dir, longest, deadline),
                None if listed.keys().any(|file| file.starts_with(path)) => Ok(InTree::Folder),
                None => Ok(InTree::Nothing),
            };
            paths.iter().map(held).collect()
        }))
    }

    /// What git passes over in these folders, or at these paths: no tree has it. A folder of which it passes over
    /// everything is one path, with a `/` behind it.
    pub fn ignored(&self, paths: &[impl AsRef<Path>], budget: Duration) -> Fact<Vec<PathBuf>> {
        fact(self.passed_over(paths.iter().map(AsRef::as_ref), Deadline::after(budget)))
    }

    fn listed(
        &self,
        tree: &TreeId,
        private_dir: &Path,
        paths: &[&Path],
        deadline: Deadline,
    ) -> Result<BTreeMap<PathBuf, Listed>, ObserveError> {
        self.checkout()?;
        let mut listed = BTreeMap::new();
        for some in paths.chunks(AT_ONCE) {
            let answer = self
                .git_with(private_dir)
                .env("GIT_LITERAL_PATHSPECS", "1")
                .call("ls-tree")
                .args(["-r", "-z", "--long", "--full-tree", tree.object().as_str(), "--"])
                .args(some)
                .answer(deadline)?;
            for line in parts(&answer) {
                let entry = read_listed(line).ok_or_else(|| ObserveError::unreadable("ls-tree", line))?;
                listed.extend([entry]);
            }
        }
        Ok(listed)
    }

    fn held(
        &self,
        Listed { mode, id, size }: &Listed,
        path: &Path,
        private_dir: &Path,
        longest: u64,
        deadline: Deadline,
    ) -> Result<InTree, ObserveError> {
        let executable = mode.is_executable();
        let git = self.git_with(private_dir).call("cat-file");
        match mode.entry_type() {
            EntryType::Nested => Ok(InTree::Nested),
            EntryType::Link => git.args(["blob", id.as_str()]).answer(deadline).map(InTree::Link),
            EntryType::File if size.is_none_or(|size| size > longest) => {
                Ok(InTree::Large { size: size.unwrap_or(u64::MAX), executable })
            }
            EntryType::File => {
                let mut by_path = std::ffi::OsString::from("--path=");
                by_path.push(path);
                let read = git.args(["--filters"]).args([by_path]).args([id.as_str()]);
                read.answer(deadline).map(|bytes| InTree::File { bytes, executable })
            }
        }
    }

    fn passed_over<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path>,
        deadline: Deadline,
    ) -> Result<Vec<PathBuf>, ObserveError> {
        self.checkout()?;
        let specs: Vec<_> = paths.map(only).collect();
        let mut found = Vec::new();
        for some in specs.chunks(AT_ONCE) {
            let answer = Git::at(&self.root)
                .call("ls-files")
                .args(["--others", "--ignored", "--exclude-standard", "--directory", "-z", "--"])
                .args(some)
                .answer(deadline)?;
            found.extend(parts(&answer).map(from_git));
        }
        found.retain(|path| !path.starts_with(OURS));
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// A git that finds the objects of our private index, too.
    fn git_with(&self, private_dir: &Path) -> Git {
        Git::at(&self.root).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate(&private_dir.join("objects")))
    }
}

/// `100644 blob <id>      12\t<path>`; of a commit the size is `-`.
fn read_listed(line: &[u8]) -> Option<(PathBuf, Listed)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut fields = line[..tab].split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let (mode, _kind, id, size) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let listed = Listed {
        mode: Mode::read(mode)??,
        id: ObjectId::from_git(id)?,
        size: std::str::from_utf8(size).ok()?.parse().ok(),
    };
    Some((from_git(&line[tab + 1..]), listed))
}
