//! Restores sealed paths. The current file is moved aside first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::{GateScope, Millis};
use steadfast_system::{Access, PendingFile, sync_folder};

use super::compare::{SealState, compare, created, stamp_again};
use super::kept::{link, move_aside};
use super::look::{PathLook, from_root, look};
use super::table::{Clock, Entry, Kind, SealFolder};
use crate::hook_log::log_line;
use crate::place::Place;

/// The result of restoring a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The content is as sealed; nothing was done.
    AsSealed,
    /// The sealed content is back. A file that was in its place is kept here.
    PutBack { kept: Option<PathBuf> },
    /// The path did not exist when it was sealed. The new file is kept here.
    MovedAside { kept: PathBuf },
    /// There is no copy, because the content was too large or the copy is lost. The current file stays.
    NoCopy,
    /// The path is not sealed.
    NotSealed,
}

/// The number of tries, if another process writes between moving the file aside and restoring it.
const TRIES: u32 = 8;

/// Restores a sealed path and reports it in the hook log. It never overwrites or deletes a file, and follows no link out of
/// the checkout. It can be repeated after an interruption.
pub fn restore(place: &Place, scope: &GateScope, root: &Path, path: &str, now: Millis) -> io::Result<Restored> {
    let seal = SealFolder::of(place, scope);
    if !root.is_dir() {
        return Ok(Restored::NotSealed);
    }
    let lock = seal.lock_existing(super::PATIENCE);
    let (Some(mut table), Some(path)) = (seal.table(), from_root(root, path)) else { return Ok(Restored::NotSealed) };
    let entry = table.entry(&path).cloned();
    if entry.as_ref().is_some_and(|entry| matches!(compare(root, &path, entry), SealState::Broken(_))) {
        // A hook can be killed in the middle of this. The next one must not blame the half-done state on the agent or the
        // human.
        table.stuck.insert(path.clone());
        let _ = seal.renew(&table);
    }
    let at = Broken { place, root, path: &path, now };
    let restored = match &entry {
        Some(entry) if !matches!(compare(root, &path, entry), SealState::Broken(_)) => Ok(Restored::AsSealed),
        Some(entry) if entry.kind == Kind::Absent => move_new_file_aside(&at),
        Some(entry) => match entry.id.as_deref().filter(|_| entry.copy).and_then(|id| seal.copy(id)) {
            Some(bytes) => put_back_sealed(&at, entry, &bytes),
            None => {
                log_line(place, now, &format!("`{path}` is not as sealed, and there is no copy to restore it from"));
                Ok(Restored::NoCopy)
            }
        },
        None if created(root, &table).contains(&path) => move_new_file_aside(&at),
        None => return Ok(Restored::NotSealed),
    };
    let mut renewed = match &restored {
        Ok(Restored::PutBack { kept: Some(kept) } | Restored::MovedAside { kept }) => {
            table.kept.insert(path.clone(), kept.clone());
            true
        }
        // So that the next check does not blame another writer.
        Ok(Restored::NoCopy) | Err(_) => table.stuck.insert(path.clone()),
        Ok(_) => false,
    };
    if matches!(&restored, Ok(Restored::AsSealed | Restored::PutBack { .. } | Restored::MovedAside { .. })) {
        renewed |= table.stuck.remove(&path);
    }
    // Without a new stamp, the next check reads the content once more and renews it then.
    renewed |= stamp_again(Clock::read(lock.as_ref()), root, &mut table, std::iter::once(path.as_str()));
    if renewed {
        let _ = seal.renew(&table);
    }
    restored
}

/// Marks paths for the next check, which restores them without asking who changed them.
pub fn restore_later(place: &Place, scope: &GateScope, root: &Path, paths: &[String]) -> io::Result<()> {
    let seal = SealFolder::of(place, scope);
    let _lock = seal.lock_existing(super::PATIENCE);
    let Some(mut table) = seal.table() else { return Ok(()) };
    table.stuck.extend(paths.iter().filter_map(|path| from_root(root, path)));
    seal.renew(&table)
}

/// A sealed path of a checkout that was changed.
struct Broken<'a> {
    place: &'a Place,
    root: &'a Path,
    path: &'a str,
    now: Millis,
}

fn put_back_sealed(at: &Broken<'_>, entry: &Entry, bytes: &[u8]) -> io::Result<Restored> {
    let Broken { place, root, path, now } = *at;
    let kept = put_back(at, entry, bytes)?;
    if let SealState::Broken(_) = compare(root, path, entry) {
        log_line(place, now, &format!("`{path}` is not as sealed, although it was put back"));
        return Err(io::Error::other("it was restored and changed again at once"));
    }
    let kept_note = kept.as_ref().map(|kept| format!("; the replaced version is in `{}`", kept.display()));
    log_line(place, now, &format!("`{path}` was put back as sealed{}", kept_note.unwrap_or_default()));
    Ok(Restored::PutBack { kept })
}

fn move_new_file_aside(at: &Broken<'_>) -> io::Result<Restored> {
    let Broken { place, path, now, .. } = *at;
    let Some(kept) = clear(at)? else { return Ok(Restored::AsSealed) };
    log_line(place, now, &format!("`{path}` was not there when the gate closed; it is in `{}`", kept.display()));
    Ok(Restored::MovedAside { kept })
}

/// Moves aside the file at a path, or the obstacle above it.
fn clear(at: &Broken<'_>) -> io::Result<Option<PathBuf>> {
    let Broken { place, root, path, now } = *at;
    match look(root, path)? {
        PathLook::Nothing => Ok(None),
        PathLook::There(_) => move_aside(place, &root.join(path), now),
        PathLook::Behind { obstacle, .. } => move_aside(place, &root.join(obstacle), now),
    }
}

fn put_back(at: &Broken<'_>, entry: &Entry, bytes: &[u8]) -> io::Result<Option<PathBuf>> {
    let Broken { root, path, .. } = *at;
    let mut kept = None;
    // Write the draft before moving anything: flushing it takes long, and the path should not be empty meanwhile.
    let mut draft = match look(root, path)? {
        PathLook::There(_) if entry.kind == Kind::File => draft_of(&root.join(path), entry, bytes).ok(),
        _ => None,
    };
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(1));
            if !matches!(compare(root, path, entry), SealState::Broken(_)) {
                return Ok(kept);
            }
        }
        if let Some(aside) = clear(at)? {
            kept = Some(aside);
        }
        match write_new(root, path, entry, bytes, draft.take()) {
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory) => {}
            done => return done.map(|()| kept),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, format!("another process keeps writing `{path}`")))
}

/// Writes the content to an empty path.
fn write_new(root: &Path, path: &str, entry: &Entry, bytes: &[u8], draft: Option<PendingFile>) -> io::Result<()> {
    let at = root.join(path);
    if let Some(folder) = at.parent() {
        // Check before creating folders: a link in the path would lead outside.
        if let PathLook::Behind { .. } = look(root, path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::create_dir_all(folder)?;
    }
    if entry.kind == Kind::Link {
        return link(&link_target(bytes), &at);
    }
    let draft = draft.map_or_else(|| draft_of(&at, entry, bytes), Ok)?;
    // Not with a rename, which would overwrite a file that was created meanwhile.
    draft.persist_new(&at)?;
    sync_folder(&at)
}

/// Writes the content to a draft next to the path, and flushes it to the disk.
fn draft_of(at: &Path, entry: &Entry, bytes: &[u8]) -> io::Result<PendingFile> {
    let draft = PendingFile::beside(at, bytes, Access::Mode(entry.mode))?;
    draft.sync()?;
    Ok(draft)
}

fn link_target(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}
