//! What stood where something sealed belongs, or where a plan was written: it is moved aside, never thrown away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_model::Millis;
use steadfast_system::{PendingFile, create_private_dir, private_options};

use crate::place::Place;

/// Everything that was moved aside in this repository, by names that begin with the time.
pub fn kept_aside(place: &Place) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(kept(place)) else { return Vec::new() };
    let mut paths: Vec<_> = folder.flatten().map(|file| file.path()).collect();
    paths.sort_unstable();
    paths
}

fn kept(place: &Place) -> PathBuf {
    place.state.join("seals").join("kept")
}

/// Moves what lies at a path aside. None if there was nothing.
pub(super) fn move_aside(place: &Place, path: &Path, now: Millis) -> io::Result<Option<PathBuf>> {
    let Some(found) = there(path)? else { return Ok(None) };
    let target = reserve(place, path, now, found.is_dir())?;
    match fs::rename(path, &target) {
        Ok(()) => Ok(Some(target)),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(path, &target)?;
            after_copy(place, path, &found, now).map(|later| later.or(Some(target)))
        }
        Err(error) => {
            release(&target);
            // Somebody else moved it at the same moment.
            if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
        }
    }
}

/// On another file system it was copied first, so that whoever dies there has lost nothing. What was written meanwhile
/// is kept, too.
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

/// Keeps a copy of a file that is about to be replaced. None if there is no file.
pub(crate) fn copy_aside(place: &Place, path: &Path, now: Millis) -> io::Result<Option<PathBuf>> {
    let Some(found) = there(path)? else { return Ok(None) };
    let target = reserve(place, path, now, found.is_dir())?;
    match copy(path, &target) {
        Ok(()) => Ok(Some(target)),
        Err(error) => {
            release(&target);
            Err(error)
        }
    }
}

fn there(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes a name nobody has, by something empty of the same kind: a rename over that loses nothing.
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
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too much was moved aside in one second"))
}

fn release(target: &Path) {
    // Only what is still empty goes: half a copy says more than none.
    if fs::remove_dir(target).is_err() && fs::symlink_metadata(target).is_ok_and(|file| file.len() == 0) {
        let _ = fs::remove_file(target);
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        // A file was reserved for it.
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

/// Makes a link, if nothing is there.
pub(super) fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}
