//! Puts a sealed path back as it was. What stands there is moved aside first.

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

/// What became of a path that was to be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It is as it was sealed: nothing was done.
    AsSealed,
    /// The sealed content is back. What stood there, if anything did, is kept here.
    PutBack { kept: Option<PathBuf> },
    /// Nothing was there when it was sealed. What came there is kept here.
    MovedAside { kept: PathBuf },
    /// The content is not kept, because it was too large, or the copy is lost. What is there now stays.
    NoCopy,
    /// Nothing is known of this path.
    NotSealed,
}

/// As often somebody may write between moving aside and putting back.
const TRIES: u32 = 8;

/// Puts a sealed path back, and says so in the hook log. Nothing is ever written over or thrown away, and no link leads
/// it out of the checkout. It may be done again, by whoever comes next.
pub fn restore(place: &Place, scope: &GateScope, root: &Path, path: &str, now: Millis) -> io::Result<Restored> {
    let seal = SealFolder::of(place, scope);
    if !root.is_dir() {
        return Ok(Restored::NotSealed);
    }
    let lock = seal.lock_existing(super::PATIENCE);
    let (Some(mut table), Some(path)) = (seal.table(), from_root(root, path)) else { return Ok(Restored::NotSealed) };
    let entry = table.entry(&path).cloned();
    if entry.as_ref().is_some_and(|entry| matches!(compare(root, &path, entry), SealState::Broken(_))) {
        // A hook can be ended in the middle of it. Whoever looks next must not take the half of it for somebody's work.
        table.stuck.insert(path.clone());
        let _ = seal.renew(&table);
    }
    let at = Broken { place, root, path: &path, now };
    let restored = match &entry {
        Some(entry) if !matches!(compare(root, &path, entry), SealState::Broken(_)) => Ok(Restored::AsSealed),
        Some(entry) if entry.kind == Kind::Absent => take_away(&at),
        Some(entry) => match entry.id.as_deref().filter(|_| entry.copy).and_then(|id| seal.copy(id)) {
            Some(bytes) => put_back_sealed(&at, entry, &bytes),
            None => {
                log_line(place, now, &format!("`{path}` is not as sealed, and there is no copy of it to put back"));
                Ok(Restored::NoCopy)
            }
        },
        None if created(root, &table).contains(&path) => take_away(&at),
        None => return Ok(Restored::NotSealed),
    };
    let mut renewed = match &restored {
        Ok(Restored::PutBack { kept: Some(kept) } | Restored::MovedAside { kept }) => {
            table.kept.insert(path.clone(), kept.clone());
            true
        }
        // Whoever looks next must not take it for somebody else's.
        Ok(Restored::NoCopy) | Err(_) => table.stuck.insert(path.clone()),
        Ok(_) => false,
    };
    if matches!(&restored, Ok(Restored::AsSealed | Restored::PutBack { .. } | Restored::MovedAside { .. })) {
        renewed |= table.stuck.remove(&path);
    }
    // Without a new stamp the content is read once more, and then it has one.
    renewed |= stamp_again(Clock::read(lock.as_ref()), root, &mut table, std::iter::once(path.as_str()));
    if renewed {
        let _ = seal.renew(&table);
    }
    restored
}

/// Leaves paths for the next look, which puts them back whoever seems to have written them.
pub fn restore_later(place: &Place, scope: &GateScope, root: &Path, paths: &[String]) -> io::Result<()> {
    let seal = SealFolder::of(place, scope);
    let _lock = seal.lock_existing(super::PATIENCE);
    let Some(mut table) = seal.table() else { return Ok(()) };
    table.stuck.extend(paths.iter().filter_map(|path| from_root(root, path)));
    seal.renew(&table)
}

/// A path of a checkout that is not as it was sealed.
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
        return Err(io::Error::other("it was written, and is another again"));
    }
    let said = kept.as_ref().map(|kept| format!("; what stood there is in `{}`", kept.display()));
    log_line(place, now, &format!("`{path}` was put back as sealed{}", said.unwrap_or_default()));
    Ok(Restored::PutBack { kept })
}

fn take_away(at: &Broken<'_>) -> io::Result<Restored> {
    let Broken { place, path, now, .. } = *at;
    let Some(kept) = clear(at)? else { return Ok(Restored::AsSealed) };
    log_line(place, now, &format!("`{path}` was not there when the gate closed; it is in `{}`", kept.display()));
    Ok(Restored::MovedAside { kept })
}

/// Moves aside what lies at a path, or what is in the way to it.
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
    // Written before anything is moved: waiting for the disk is what takes long, and meanwhile the path must not be empty.
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
        match lay(root, path, entry, bytes, draft.take()) {
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory) => {}
            done => return done.map(|()| kept),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, format!("`{path}` is written again and again")))
}

/// Puts the content at a path where nothing is.
fn lay(root: &Path, path: &str, entry: &Entry, bytes: &[u8], draft: Option<PendingFile>) -> io::Result<()> {
    let at = root.join(path);
    if let Some(folder) = at.parent() {
        // Before anything is made: a link on the way would lead it elsewhere.
        if let PathLook::Behind { .. } = look(root, path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::create_dir_all(folder)?;
    }
    if entry.kind == Kind::Link {
        return link(&link_target(bytes), &at);
    }
    let draft = draft.map_or_else(|| draft_of(&at, entry, bytes), Ok)?;
    // A rename would throw away what came there meanwhile.
    draft.persist_new(&at)?;
    sync_folder(&at)
}

/// What is to be at a path, on the disk beside it.
fn draft_of(at: &Path, entry: &Entry, bytes: &[u8]) -> io::Result<PendingFile> {
    let draft = PendingFile::beside(at, bytes, Access::Mode(entry.mode))?;
    draft.sync()?;
    Ok(draft)
}

fn link_target(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}
