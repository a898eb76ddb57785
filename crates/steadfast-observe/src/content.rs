use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use steadfast_model::Fact;
use steadfast_text::hex;

use crate::change::only;
use crate::checkout::{Checkout, CheckoutKind};
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git::object_id::ObjectId;
use crate::git::path::{from_git, parts, quoted, to_git};
use crate::git::private_index::OURS;
use crate::git::raw_diff::EntryType;
use crate::git::{Git, branch};
use crate::location::beneath;
use crate::stat::{FileKind, kind_of};

/// The content of a path, as git identifies it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Missing,
    Is(EntryType, ObjectId),
}

impl Checkout {
    /// Returns the object id of every file, after the filters that git applies; `None` if there is no file.
    ///
    /// A folder is replaced by the files in it. A link has the id of its target text, a nested repository that of its
    /// commit. Outside git the ids are those of a SHA-256 repository without filters.
    pub fn object_ids(
        &self,
        paths: &[impl AsRef<Path>],
        budget: Duration,
    ) -> Fact<BTreeMap<PathBuf, Option<ObjectId>>> {
        let deadline = Deadline::after(budget);
        fact(self.ids(paths.iter().map(AsRef::as_ref), deadline))
    }

    fn ids<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path>,
        deadline: Deadline,
    ) -> Result<BTreeMap<PathBuf, Option<ObjectId>>, ObserveError> {
        if self.kind != CheckoutKind::None {
            self.checkout()?;
        }
        let mut names = Vec::new();
        let mut files = Vec::new();
        for path in paths {
            let relative = beneath(&self.root, path).ok_or_else(|| ObserveError::Outside(path.to_owned()))?;
            if self.is_plain_folder(&relative) {
                for file in self.files_in(&relative, deadline)? {
                    names.push(path.join(file.strip_prefix(&relative).unwrap_or(&file)));
                    files.push(file);
                }
            } else {
                names.push(path.to_owned());
                files.push(relative);
            }
        }
        let found = match self.kind {
            CheckoutKind::None => {
                files.iter().map(|file| plain(&self.root, file, deadline)).collect::<Result<_, _>>()?
            }
            CheckoutKind::Git { .. } | CheckoutKind::Bare { .. } | CheckoutKind::Broken => {
                contents(&self.root, &files, deadline)?
            }
        };
        let id = |content| match content {
            Content::Missing => None,
            Content::Is(_, id) => Some(id),
        };
        Ok(names.into_iter().zip(found.into_iter().map(id)).collect())
    }

    fn is_plain_folder(&self, relative: &Path) -> bool {
        let path = self.root.join(relative);
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        is_folder && (path == self.root || !path.join(".git").exists())
    }

    fn files_in(&self, folder: &Path, deadline: Deadline) -> Result<Vec<PathBuf>, ObserveError> {
        let mut files = match self.kind {
            CheckoutKind::None => walk(&self.root, folder, deadline)?,
            CheckoutKind::Git { .. } | CheckoutKind::Bare { .. } | CheckoutKind::Broken => {
                let answer = Git::at(&self.root)
                    .call("ls-files")
                    .args(["--cached", "--others", "--exclude-standard", "-z", "--"])
                    .args([only(folder)])
                    .answer(deadline)?;
                // The path of a nested repository ends in a slash.
                parts(&answer).map(|path| from_git(path).components().collect::<PathBuf>()).collect()
            }
        };
        files.retain(|file| !file.starts_with(OURS));
        files.sort();
        // A file in conflict is listed once for each side.
        files.dedup();
        Ok(files)
    }
}

/// Reads the content of paths below the root of a checkout, in their order. Every folder must be a nested repository.
pub(crate) fn contents(root: &Path, paths: &[PathBuf], deadline: Deadline) -> Result<Vec<Content>, ObserveError> {
    let mut found = Vec::with_capacity(paths.len());
    let mut files = Vec::new();
    for relative in paths {
        let path = root.join(relative);
        found.push(match kind_at(&path)? {
            FileKind::Missing => Some(Content::Missing),
            FileKind::File => {
                files.push(relative.as_path());
                None
            }
            FileKind::Link(target) => Some(Content::Is(EntryType::Link, hash_text(root, to_git(&target), deadline)?)),
            FileKind::Folder => Some(nested(&path, deadline)?),
            FileKind::Special => return Err(ObserveError::Special(relative.clone())),
        });
    }
    let mut ids = hash_files(root, &files, deadline)?.into_iter();
    found
        .into_iter()
        .map(|content| content.or_else(|| ids.next().map(|id| Content::Is(EntryType::File, id))))
        .map(|content| content.ok_or_else(|| ObserveError::unreadable("hash-object", b"")))
        .collect()
}

fn kind_at(path: &Path) -> Result<FileKind, ObserveError> {
    match fs::symlink_metadata(path) {
        Ok(found) => kind_of(path, &found),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(FileKind::Missing)
        }
        Err(error) => Err(ObserveError::File { path: path.to_owned(), source: error }),
    }
}

/// For a folder where git has a file or a commit: the commit of the nested repository, if there is one.
fn nested(path: &Path, deadline: Deadline) -> Result<Content, ObserveError> {
    if !path.join(".git").exists() {
        return Ok(Content::Missing);
    }
    branch::head(path, deadline).map(|id| Content::Is(EntryType::Nested, id))
}

fn hash_files(root: &Path, files: &[&Path], deadline: Deadline) -> Result<Vec<ObjectId>, ObserveError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let list = files.iter().flat_map(|file| [quoted(file), b"\n".to_vec()]).collect::<Vec<_>>().concat();
    let answer = Git::at(root).call("hash-object").args(["--stdin-paths"]).input(list).answer(deadline)?;
    let ids: Option<Vec<_>> = answer.trim_ascii_end().split(|byte| *byte == b'\n').map(ObjectId::from_git).collect();
    ids.filter(|ids| ids.len() == files.len()).ok_or_else(|| ObserveError::unreadable("hash-object", &answer))
}

/// Hashes the text of a link. Given the path, git would follow the link.
fn hash_text(root: &Path, text: Vec<u8>, deadline: Deadline) -> Result<ObjectId, ObserveError> {
    let answer = Git::at(root).call("hash-object").args(["--stdin"]).input(text).answer(deadline)?;
    ObjectId::from_git(answer.trim_ascii()).ok_or_else(|| ObserveError::unreadable("hash-object", &answer))
}

fn plain(root: &Path, relative: &Path, deadline: Deadline) -> Result<Content, ObserveError> {
    let path = root.join(relative);
    let blob = |length: u64| {
        let mut hash = Sha256::new();
        hash.update(format!("blob {length}\0").as_bytes());
        hash
    };
    let (kind, hash) = match kind_at(&path)? {
        FileKind::Missing => return Ok(Content::Missing),
        FileKind::Folder | FileKind::Special => return Err(ObserveError::Special(relative.to_owned())),
        FileKind::Link(target) => {
            let text = to_git(&target);
            let mut hash = blob(text.len() as u64);
            hash.update(&text);
            (EntryType::Link, hash)
        }
        FileKind::File => {
            let mut file = File::open(&path).map_err(ObserveError::file(&path))?;
            let length = file.metadata().map_err(ObserveError::file(&path))?.len();
            let mut hash = blob(length);
            read_into(&mut hash, &mut file, length, deadline).map_err(|error| error.about(&path))?;
            (EntryType::File, hash)
        }
    };
    let id = hex(&hash.finalize());
    let id = id.parse().map_err(|_| ObserveError::unreadable("hash-object", id.as_bytes()))?;
    Ok(Content::Is(kind, id))
}

/// Hashes a file of about this length. Fails at the deadline.
pub(crate) fn read_into(
    hash: &mut Sha256,
    file: &mut File,
    length: u64,
    deadline: Deadline,
) -> Result<(), ObserveError> {
    let mut part = vec![0; (length as usize).clamp(1 << 10, 256 << 10)];
    loop {
        deadline.left()?;
        match file.read(&mut part)? {
            0 => return Ok(()),
            read => hash.update(&part[..read]),
        }
    }
}

/// Lists all files of a folder outside git, where no ignore rules exist.
fn walk(root: &Path, folder: &Path, deadline: Deadline) -> Result<Vec<PathBuf>, ObserveError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        deadline.left()?;
        let path = root.join(&folder);
        for entry in fs::read_dir(&path).map_err(ObserveError::file(&path))? {
            let entry = entry.map_err(ObserveError::file(&path))?;
            let kind = entry.file_type().map_err(ObserveError::file(&path))?;
            let below = folder.join(entry.file_name());
            if kind.is_dir() { folders.push(below) } else { files.push(below) }
        }
    }
    Ok(files)
}
