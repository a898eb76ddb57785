//! Reads files from a tree id: the content at a path, and the ignored files that no tree has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;

use super::Git;
use super::object_id::ObjectId;
use super::path::{from_git, parts};
use super::private_index::{OURS, TreeId, alternate};
use super::raw_diff::{EntryType, Mode};
use crate::change::only;
use crate::checkout::Checkout;
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};

/// More names may not fit on a command line.
const AT_ONCE: usize = 200;

/// The content of a tree at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InTree {
    Nothing,
    File {
        /// The bytes as git would check them out, with the filters for the path.
        bytes: Vec<u8>,
        executable: bool,
    },
    /// Larger than the caller's limit, so it is not read.
    Large {
        size: u64,
        executable: bool,
    },
    /// The target text of a link.
    Link(Vec<u8>),
    Folder,
    /// A nested repository.
    Nested,
}

#[derive(Clone, Debug)]
struct Listed {
    mode: Mode,
    id: ObjectId,
    size: Option<u64>,
}

impl Checkout {
    /// Reads these paths, relative to the root, from a tree of [`Checkout::tree_id`], in their order. `private_dir` is
    /// the folder given there.
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
            let read_entry = |path: &&Path| match listed.get(*path) {
                Some(entry) => self.read_entry(entry, path, private_dir, longest, deadline),
                None if listed.keys().any(|file| file.starts_with(path)) => Ok(InTree::Folder),
                None => Ok(InTree::Nothing),
            };
            paths.iter().map(read_entry).collect()
        }))
    }

    /// Lists the ignored files in these folders or at these paths; no tree has them. A folder in which everything is
    /// ignored is one path that ends in `/`.
    pub fn ignored(&self, paths: &[impl AsRef<Path>], budget: Duration) -> Fact<Vec<PathBuf>> {
        fact(self.ignored_in(paths.iter().map(AsRef::as_ref), Deadline::after(budget)))
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

    fn read_entry(
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

    fn ignored_in<'a>(
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

    /// Returns a git that also finds the objects of the private index.
    fn git_with(&self, private_dir: &Path) -> Git {
        Git::at(&self.root).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate(&private_dir.join("objects")))
    }
}

/// `100644 blob <id>      12\t<path>`; the size of a commit is `-`.
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
