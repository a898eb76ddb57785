//! Files that stood in the way of a restored file or of an approved plan. They are moved aside and never deleted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_model::Millis;
use steadfast_system::{PendingFile, create_private_dir, private_options};

use crate::place::Place;

/// Lists everything that was moved aside in this repository. The names begin with the time.
pub fn kept_aside(place: &Place) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(kept(place)) else { return Vec::new() };
    let mut paths: Vec<_> = folder.flatten().map(|file| file.path()).collect();
    paths.sort_unstable();
    paths
}

fn kept(place: &Place) -> PathBuf {
    place.state.join("seals").join("kept")
}

/// Moves the file or folder at a path aside. Returns `None` if there is nothing.
pub(super) fn move_aside(place: &Place, path: &Path, now: Millis) -> io::Result<Option<PathBuf>> {
    let Some(found) = metadata_if_exists(path)? else { return Ok(None) };
    let target = reserve(place, path, now, found.is_dir())?;
    match fs::rename(path, &target) {
        Ok(()) => Ok(Some(target)),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(path, &target)?;
            after_copy(place, path, &found, now).map(|later| later.or(Some(target)))
        }
        Err(error) => {
            release(&target);
            // Another process moved it at the same moment.
            if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
        }
    }
}

/// Removes the original after a copy to another file system. The copy was made first, so that a crash loses nothing. If the
/// original changed meanwhile, the new content is kept, too.
fn after_copy(place: &Place, path: &Path, copied: &fs::Metadata, now: Millis) -> io::Result<Option<PathBuf>> {
    let aside = PendingFile::move_beside(path)?;
    let found = fs::symlink_metadata(&aside)?;
    let later = if (copied.len(), copied.modified().ok()) == (found.len(), found.modified().ok()) {
        None
    } else {
        let target = reserve(place, path, now, found.is_dir())?;
        copy(&aside, &target)?;
        Some(target)
    };
    match found.is_dir() {
        true => fs::remove_dir_all(&aside)?,
        false => fs::remove_file(&aside)?,
    }
    Ok(later)
}

/// Keeps a copy of a file that is about to be replaced. Returns `None` if there is no file.
pub(crate) fn copy_aside(place: &Place, path: &Path, now: Millis) -> io::Result<Option<PathBuf>> {
    let Some(found) = metadata_if_exists(path)? else { return Ok(None) };
    let target = reserve(place, path, now, found.is_dir())?;
    match copy(path, &target) {
        Ok(()) => Ok(Some(target)),
        Err(error) => {
            release(&target);
            Err(error)
        }
    }
}

fn metadata_if_exists(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reserves an unused name with an empty file or folder, which a rename can replace without loss.
fn reserve(place: &Place, path: &Path, now: Millis, folder: bool) -> io::Result<PathBuf> {
    let kept = kept(place);
    create_private_dir(&kept)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = &name[..name.floor_char_boundary(100)];
    let time = now.to_string().replace(':', "");
    for number in 0..10_000 {
        let target = match number {
            0 => kept.join(format!("{time}-{name}")),
            _ => kept.join(format!("{time}-{number}-{name}")),
        };
        let made = match folder {
            true => fs::create_dir(&target),
            false => private_options().write(true).create_new(true).open(&target).map(drop),
        };
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| target),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many files were moved aside in one second"))
}

fn release(target: &Path) {
    // Remove it only while it is empty: half a copy is better than none.
    if fs::remove_dir(target).is_err() && fs::symlink_metadata(target).is_ok_and(|file| file.len() == 0) {
        let _ = fs::remove_file(target);
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        // Remove the empty file that reserved the name.
        fs::remove_file(to)?;
        return link(&fs::read_link(from)?, to);
    }
    if found.is_dir() {
        for file in fs::read_dir(from)? {
            let file = file?;
            let below = to.join(file.file_name());
            match file.file_type()? {
                kind if kind.is_dir() => fs::create_dir(&below)?,
                _ => drop(private_options().write(true).create_new(true).open(&below)?),
            }
            copy(&file.path(), &below)?;
        }
        return Ok(());
    }
    if !found.is_file() {
        // A pipe or a socket has no content that could be lost.
        return Ok(());
    }
    fs::copy(from, to)?;
    fs::File::open(to)?.sync_all()
}

/// Creates a symbolic link. Fails if the path exists.
pub(super) fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}
