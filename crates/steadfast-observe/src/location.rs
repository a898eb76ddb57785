//! Where a path really leads, links followed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many as the kernel follows.
const MOST_LINKS: u8 = 40;

/// The place behind a path, which need not exist: what does not is put below what does. `None` where links go round in
/// a circle or the way cannot be looked at.
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

/// The path itself, a link at its end not followed, as seen from the root; `None` where that is not beneath it.
pub(crate) fn beneath(root: &Path, path: &Path) -> Option<PathBuf> {
    let path = root.join(path);
    let real = match path.components().next_back()? {
        Component::Normal(name) => behind(path.parent()?)?.join(name),
        _ => behind(&path)?,
    };
    real.strip_prefix(root).ok().map(Path::to_owned)
}
