//! Seals: the content of protected paths at the time their gate closed. A seal prevents no write. It detects changes, and
//! Steadfast restores the sealed content.
//!
//! `seals/<scope>/table` lists the sealed paths, `seals/<scope>/<id>` are copies of their content, and `seals/kept/` holds
//! the files that were moved aside. Patterns with too many files for per-file entries are sealed as a git tree, whose
//! objects are in `seals/<scope>/tree/`.

mod checkout;
mod compare;
mod kept;
mod look;
mod pattern;
mod restore;
mod table;
mod tree;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::{Gate, GateScope, Millis};
use steadfast_observe::Checkout;
use steadfast_system::{Access, replace_durably};

use crate::gate::gate_of;
use crate::place::Place;
use look::{from_root, record};
use table::{Clock, Entry, Kind, SealFolder, SealLock, Table};
use tree::Over;

pub use checkout::mark_checkouts;
pub use compare::seal_breaks;
pub(crate) use kept::copy_aside;
pub use kept::kept_aside;
pub use restore::{Restored, restore, restore_later};
pub use tree::{reseal_tree, tree_breaks};

/// The maximum number of per-file entries, because a hook compares them one by one.
const LIMIT: usize = 64;

/// The maximum time to wait for another process that changes the same seal.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// Paths from the root of the checkout, also of files that did not exist.
    pub paths: Vec<String>,
    /// The paths whose content is too large to copy: a change is reported but cannot be restored.
    pub without_copy: Vec<String>,
    /// Patterns with too many files for per-file entries, sealed as a git tree. It is compared at stops, around calls that
    /// may write anything, and by commands.
    pub in_tree: Vec<String>,
    /// Protected paths that are not sealed, or only in part: too many files outside git, files that git ignores, paths
    /// outside the checkout, things that are neither file nor link.
    pub not_sealed: Vec<String>,
}

impl From<Table> for Sealed {
    fn from(table: Table) -> Self {
        let large = table.entries.iter().filter(|(_, entry)| entry.kind != Kind::Absent && !entry.copy);
        Self {
            without_copy: large.map(|(path, _)| path.clone()).collect(),
            paths: table.entries.into_keys().collect(),
            in_tree: table.tree.into_iter().flat_map(|tree| tree.patterns).collect(),
            not_sealed: table.not_sealed.into_iter().collect(),
        }
    }
}

/// Seals the protected paths of a gate before its marker is written. When this returns, the seal is on the disk.
///
/// If the gate is already closed, its existing entries stay and only newly protected paths are added. So sealing can be
/// repeated at any time, and a repeated call does not accept a forbidden change.
///
/// Patterns with too many files for per-file entries are sealed as a tree; `budget` is the time limit for git.
pub fn seal(place: &Place, gate: &Gate, budget: Duration) -> io::Result<Sealed> {
    let root = root_of(place, gate);
    let seal = SealFolder::of(place, &gate.scope);
    let lock = seal.lock(PATIENCE);
    let mut table = seal.table().filter(|table| is_current(place, gate, table)).unwrap_or_default();
    table.closed_at = Some(gate.closed_at);
    if table.head.is_none() {
        table.head = checkout::head_of(&Checkout::find(&root));
    }
    let clock = Clock::read(lock.as_ref());
    let draft = gate.draft.as_ref().map(|draft| &draft.path);
    let (single, several): (Vec<_>, Vec<_>) =
        draft.into_iter().chain(&gate.protected).partition(|path| pattern::is_single(path));
    let mut over = Vec::new();
    // Single paths come first, so that they always get an entry.
    for protected in single.into_iter().chain(several) {
        let added = match from_root(&root, protected) {
            Some(path) => add(&seal, &root, &path, clock, &mut table)?,
            None => Added::default(),
        };
        if !added.all {
            table.not_sealed.insert(protected.clone());
        }
        over.extend(added.over.into_iter().map(|path| Over { protected: protected.clone(), path }));
    }
    tree::add(&seal, &root, &over, budget, &mut table);
    seal.keep(&table)?;
    Ok(table.into())
}

/// Returns the root of a gate's checkout.
fn root_of(place: &Place, gate: &Gate) -> PathBuf {
    if gate.root.is_empty() { place.root.clone() } else { PathBuf::from(&gate.root) }
}

/// Checks if a table belongs to this closing of the gate. A crash may have left the table of an earlier one.
fn is_current(place: &Place, gate: &Gate, table: &Table) -> bool {
    table.closed_at == Some(gate.closed_at)
        || gate_of(place, &gate.scope).is_some_and(|closed| Some(closed.closed_at) == table.closed_at)
}

/// The result of sealing a path or a pattern.
#[derive(Debug, Default)]
struct Added {
    /// Everything is sealed or in `over`.
    all: bool,
    /// Patterns with too many files for per-file entries.
    over: Vec<String>,
}

fn add(seal: &SealFolder, root: &Path, protected: &str, clock: Clock, table: &mut Table) -> io::Result<Added> {
    let mut added = Added { all: true, over: Vec::new() };
    let ResolvedPath { links, path } = resolve_links(root, protected);
    for link in links {
        add_path(seal, root, &link, clock, table)?.note(link, &mut added);
    }
    let Some(path) = path else { return Ok(Added { all: false, ..added }) };
    let is_folder = fs::symlink_metadata(root.join(&path)).is_ok_and(|found| found.is_dir());
    if pattern::is_single(&path) && !is_folder {
        add_path(seal, root, &path, clock, table)?.note(path, &mut added);
        return Ok(added);
    }
    if table.whole.contains(&path) {
        return Ok(added);
    }
    let left = LIMIT.saturating_sub(table.entries.len());
    let files = pattern::files(root, &path, LIMIT + 1);
    let (known, new): (Vec<_>, Vec<_>) = files.paths.iter().partition(|file| table.entries.contains_key(*file));
    let all = files.all && new.len() <= left && known.len() + new.len() <= LIMIT;
    for file in new.into_iter().take(left) {
        if let AddedPath::No = add_path(seal, root, file, clock, table)? {
            table.not_sealed.insert(file.clone());
        }
    }
    added.all &= !files.unnamed;
    if all {
        table.whole.insert(path);
    } else {
        added.over.push(path);
    }
    Ok(added)
}

#[derive(Debug)]
enum AddedPath {
    Sealed,
    Over,
    No,
}

impl AddedPath {
    fn note(self, path: String, added: &mut Added) {
        match self {
            Self::Sealed => {}
            Self::Over => added.over.push(path),
            Self::No => added.all = false,
        }
    }
}

fn add_path(seal: &SealFolder, root: &Path, path: &str, clock: Clock, table: &mut Table) -> io::Result<AddedPath> {
    if table.entries.contains_key(path) {
        return Ok(AddedPath::Sealed);
    }
    if table.entries.len() >= LIMIT {
        return Ok(AddedPath::Over);
    }
    Ok(match record_readable(seal, root, path, clock)? {
        Some(entry) => {
            table.entries.insert(path.to_owned(), entry);
            AddedPath::Sealed
        }
        None => AddedPath::No,
    })
}

/// Reads a path for its entry. A file without read permission is skipped, so that the others still get sealed. If the state
/// cannot be written, this is an error.
fn record_readable(seal: &SealFolder, root: &Path, path: &str, clock: Clock) -> io::Result<Option<Entry>> {
    match record(seal, root, path, clock) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        entry => entry,
    }
}

/// A path with its symbolic links resolved. Each link and the final target are sealed.
struct ResolvedPath {
    links: Vec<String>,
    /// None if the target is outside the checkout.
    path: Option<String>,
}

fn resolve_links(root: &Path, protected: &str) -> ResolvedPath {
    let mut links = Vec::new();
    let mut path = protected.to_owned();
    // The same limit as in the kernel.
    'links: for _ in 0..40 {
        let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).chain([path.len()]).collect();
        for end in ends {
            let on_the_way = &path[..end];
            let is_link = fs::symlink_metadata(root.join(on_the_way)).is_ok_and(|found| found.is_symlink());
            if on_the_way.contains(['*', '?']) || !is_link {
                continue;
            }
            links.push(on_the_way.to_owned());
            let real = fs::canonicalize(root.join(on_the_way)).ok();
            let real_root = fs::canonicalize(root).ok();
            let beneath = real.zip(real_root).and_then(|(real, root)| Some(real.strip_prefix(root).ok()?.to_owned()));
            let Some(beneath) = beneath.as_deref().and_then(Path::to_str).filter(|beneath| !beneath.is_empty()) else {
                return ResolvedPath { links, path: None };
            };
            path = format!("{beneath}{}", &path[end..]);
            continue 'links;
        }
        return ResolvedPath { links, path: Some(path) };
    }
    ResolvedPath { links, path: None }
}

/// Returns the content of a gate's seal. `None` if there is no seal or its table is unreadable: every closed gate has a
/// table.
pub fn sealed(place: &Place, scope: &GateScope) -> Option<Sealed> {
    SealFolder::of(place, scope).table().map(Sealed::from)
}

/// Accepts the current content of a path as sealed, because a human changed it or approved it.
pub fn reseal(place: &Place, scope: &GateScope, root: &Path, path: &str) -> io::Result<()> {
    LockedSeal::lock(place, scope).reseal(root, path)
}

/// Restores the version of a path that was moved aside last, and seals it: a human says that this version is their own. The
/// current version is kept aside. Returns `None` if there is no other version.
pub fn take_kept(
    place: &Place,
    scope: &GateScope,
    root: &Path,
    path: &str,
    now: Millis,
) -> io::Result<Option<PathBuf>> {
    let locked = LockedSeal::lock(place, scope);
    let (Some(table), Some(path)) = (locked.seal.table(), from_root(root, path)) else { return Ok(None) };
    let Some(kept) = table.kept.get(&path).filter(|kept| kept.is_file()) else { return Ok(None) };
    let Some(target) = target_of(root, &path) else { return Ok(None) };
    let at = root.join(target.path);
    let (bytes, mode) = (fs::read(kept)?, fs::metadata(kept)?.mode());
    copy_aside(place, &at, now)?;
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder)?;
    }
    replace_durably(&at, &bytes, Access::Mode(mode))?;
    locked.reseal(root, &path)?;
    Ok(Some(at))
}

/// A seal whose lock is held, so that no other process restores files meanwhile. Works for a gate without a seal, too.
#[derive(Debug)]
pub(crate) struct LockedSeal {
    seal: SealFolder,
    lock: Option<SealLock>,
}

impl LockedSeal {
    pub(crate) fn lock(place: &Place, scope: &GateScope) -> Self {
        let seal = SealFolder::of(place, scope);
        Self { lock: seal.lock_existing(PATIENCE), seal }
    }

    pub(crate) fn reseal(&self, root: &Path, path: &str) -> io::Result<()> {
        let (Some(mut table), Some(path)) = (self.seal.table(), from_root(root, path)) else { return Ok(()) };
        let clock = Clock::read(self.lock.as_ref());
        table.stuck.remove(&path);
        if table.entries.remove(&path).is_none()
            && let Some(tree) = table.tree.as_mut().filter(|tree| tree.covers(&path))
        {
            match record_readable(&self.seal, root, &path, clock)? {
                Some(entry) => tree.drawn.insert(path, entry),
                // A folder: the files in it have their own entries.
                None => tree.drawn.remove(&path),
            };
            return self.seal.renew(&table);
        }
        let added = add(&self.seal, root, &path, clock, &mut table)?;
        if !added.all || !added.over.is_empty() {
            table.not_sealed.insert(path);
        }
        self.seal.renew(&table)
    }
}

/// Removes the seal. Files that were moved aside stay.
pub fn unseal(place: &Place, scope: &GateScope) -> io::Result<()> {
    let seal = SealFolder::of(place, scope);
    let _lock = seal.lock_existing(PATIENCE);
    seal.remove()
}

/// The sealed text of a path, for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SealedText {
    Unknown,
    Absent,
    Text(String),
}

pub(crate) fn sealed_text(place: &Place, scope: &GateScope, path: &str) -> SealedText {
    let seal = SealFolder::of(place, scope);
    let (Some(table), Some(target)) = (seal.table(), target_of(&place.root, path)) else { return SealedText::Unknown };
    match table.entry(&target.path) {
        Some(entry) if entry.kind == Kind::Absent => SealedText::Absent,
        Some(entry) if entry.kind == Kind::File => match entry.id.as_deref().and_then(|id| seal.copy(id)) {
            Some(bytes) => SealedText::Text(String::from_utf8_lossy(&bytes).into_owned()),
            None => SealedText::Unknown,
        },
        _ => SealedText::Unknown,
    }
}

/// The real location of a path, from the root of the checkout, with links resolved.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: String,
}

/// Returns `None` if the real location is outside the checkout.
pub(crate) fn target_of(root: &Path, path: &str) -> Option<Target> {
    resolve_links(root, &from_root(root, path)?).path.map(|path| Target { path })
}

#[cfg(test)]
mod tests;
