//! Reads a path below the root of a checkout without following links.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use super::table::{Clock, Entry, Kind, SealFolder, Stamp, open_plain};
use crate::digest;

/// The maximum size of a file that is copied.
pub(super) const COPIED: u64 = 4 << 20;

/// The maximum size of a file that is read. Larger files are compared by their stamp alone.
pub(super) const READ: u64 = 64 << 20;

#[derive(Debug)]
pub(super) enum PathLook {
    Nothing,
    There(Metadata),
    /// A parent of the path is not a folder.
    Behind {
        /// The path of that parent, from the root.
        obstacle: String,
        /// The parent is a link, and the path exists behind it.
        reaches: bool,
    },
}

pub(super) fn look(root: &Path, path: &str) -> io::Result<PathLook> {
    let mut on_the_way = String::new();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        if !on_the_way.is_empty() {
            on_the_way.push('/');
        }
        on_the_way.push_str(part);
        let found = match fs::symlink_metadata(root.join(&on_the_way)) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PathLook::Nothing),
            Err(error) => return Err(error),
        };
        if parts.peek().is_none() {
            return Ok(PathLook::There(found));
        }
        if !found.is_dir() {
            let reaches = fs::symlink_metadata(root.join(path)).is_ok();
            return Ok(PathLook::Behind { obstacle: on_the_way, reaches });
        }
    }
    Ok(PathLook::Nothing)
}

/// Makes a path relative to the root, with `/` between its parts. Returns `None` for paths elsewhere and for the root
/// itself. A `/` at the end stays, because it marks a folder.
pub(super) fn from_root(root: &Path, path: &str) -> Option<String> {
    let is_folder = path.ends_with('/');
    let given = Path::new(path);
    // The given path may name the root with or without resolved links.
    let real = if given.is_absolute() { fs::canonicalize(root).ok() } else { None };
    let relative = match given.is_absolute() {
        true => given.strip_prefix(root).ok().or_else(|| given.strip_prefix(real.as_deref()?).ok())?,
        false => given,
    };
    let mut parts = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    match (parts.is_empty(), is_folder) {
        (true, _) => None,
        (false, true) => Some(format!("{}/", parts.join("/"))),
        (false, false) => Some(parts.join("/")),
    }
}

/// Returns the target of a link as bytes.
pub(super) fn link_text(path: &Path) -> io::Result<Vec<u8>> {
    Ok(std::os::unix::ffi::OsStringExt::into_vec(fs::read_link(path)?.into_os_string()))
}

/// Makes the entry of a path. Returns `None` for paths that cannot be sealed: folders, pipes, paths behind a link.
pub(super) fn record(seal: &SealFolder, root: &Path, path: &str, clock: Clock) -> io::Result<Option<Entry>> {
    let found = match look(root, path)? {
        PathLook::Nothing | PathLook::Behind { reaches: false, .. } => return Ok(Some(Entry::absent())),
        PathLook::Behind { reaches: true, .. } => return Ok(None),
        PathLook::There(found) => found,
    };
    let at = root.join(path);
    let mode = found.mode();
    if found.is_symlink() {
        let text = link_text(&at)?;
        let id = digest::of_bytes(&text);
        seal.keep_copy(&id, &text)?;
        let size = text.len() as u64;
        return Ok(Some(Entry { kind: Kind::Link, id: Some(id), size, mode, copy: true, stamp: None }));
    }
    if !found.is_file() {
        return Ok(None);
    }
    let entry = |id, size, copy, stamp| Some(Entry { kind: Kind::File, id, size, mode, copy, stamp });
    if found.len() > READ {
        return Ok(entry(None, found.len(), false, Some(Stamp::of(&found))));
    }
    let mut file = open_plain(&at)?;
    if found.len() > COPIED {
        let (id, size) = digest::of_reader(file.take(READ))?;
        return Ok(entry(Some(id), size, false, clock.settled(&found)));
    }
    let mut bytes = Vec::new();
    (&mut file).take(COPIED).read_to_end(&mut bytes)?;
    let id = digest::of_bytes(&bytes);
    seal.keep_copy(&id, &bytes)?;
    Ok(entry(Some(id), bytes.len() as u64, true, clock.settled(&found)))
}

/// Compares the content at a path with its entry.
pub(super) fn has_content(at: &Path, found: &Metadata, entry: &Entry) -> bool {
    let id = match entry.kind {
        Kind::Absent => return false,
        Kind::Link if found.is_symlink() => link_text(at).map(|text| digest::of_bytes(&text)),
        Kind::File if found.is_file() && found.len() == entry.size && entry.id.is_some() => {
            open_plain(at).and_then(|file| digest::of_reader(file.take(entry.size + 1))).map(|(id, _)| id)
        }
        Kind::File | Kind::Link => return false,
    };
    id.ok() == entry.id
}
