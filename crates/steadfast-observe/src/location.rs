//! Resolves the links in a path.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The limit of the Linux kernel.
const MOST_LINKS: u8 = 40;

/// Resolves a path, of which the last parts need not exist. Returns `None` if links form a cycle or a folder cannot be
/// read.
pub fn behind(path: &Path) -> Option<PathBuf> {
    follow(path, MOST_LINKS)
}

fn follow(path: &Path, links: u8) -> Option<PathBuf> {
    match fs::canonicalize(path) {
        Ok(real) => return Some(real),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
        Err(_) => return None,
    }
    let parent = follow(path.parent()?, links)?;
    match path.components().next_back()? {
        Component::ParentDir => Some(parent.parent().unwrap_or(&parent).to_owned()),
        Component::Normal(name) => below(&parent, name, links),
        _ => Some(parent),
    }
}

fn below(parent: &Path, name: &OsStr, links: u8) -> Option<PathBuf> {
    let path = parent.join(name);
    match fs::read_link(&path) {
        Ok(target) => follow(&parent.join(target), links.checked_sub(1)?),
        Err(_) => Some(path),
    }
}

/// Returns the path relative to the root, without following a link at its end; `None` if it is not below the root.
pub(crate) fn beneath(root: &Path, path: &Path) -> Option<PathBuf> {
    let path = root.join(path);
    let real = match path.components().next_back()? {
        Component::Normal(name) => behind(path.parent()?)?.join(name),
        _ => behind(&path)?,
    };
    real.strip_prefix(root).ok().map(Path::to_owned)
}
