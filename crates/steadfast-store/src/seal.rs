//! The seal: what the protected paths held when a gate closed. It prevents nothing; it shows what changed behind
//! everyone's back, and puts it back.
//!
//! `seals/<scope>/table` says what lay where, `seals/<scope>/<id>` are the copies, `seals/kept/` is what was moved aside.
//! Of what is too much to be looked at file by file, `seals/<scope>/tree/` has the objects of a tree of git's.

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

/// A hook looks at no more.
const LIMIT: usize = 64;

/// How long somebody waits for another one who changes the same seal.
const PATIENCE: Duration = Duration::from_millis(200);

/// What a seal holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// From the root of the checkout; also those where nothing was.
    pub paths: Vec<String>,
    /// Those of them that were too large to be copied: a change is told, and cannot be mended.
    pub without_copy: Vec<String>,
    /// What is too much for single files and sealed as a tree of git's: it is compared at stops, around calls that may do
    /// anything, and by commands.
    pub in_tree: Vec<String>,
    /// What is protected and not sealed, or not all of it: too many files outside git, what git ignores of them, not in
    /// this checkout, neither file nor link.
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

/// Seals what a gate protects, before its marker is written. It is on the disk when this returns.
///
/// A gate that is closed already keeps what was sealed; only what it did not protect before is added. So it may be done
/// again at any time, and closing a gate twice seals no intruder.
///
/// What is more than single files can be sealed for is sealed as a tree; git gets `budget` for it.
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
    // What is named by itself comes first: it always fits.
    for said in single.into_iter().chain(several) {
        let added = match from_root(&root, said) {
            Some(path) => add(&seal, &root, &path, clock, &mut table)?,
            None => Added::default(),
        };
        if !added.all {
            table.not_sealed.insert(said.clone());
        }
        over.extend(added.over.into_iter().map(|path| Over { said: said.clone(), path }));
    }
    tree::add(&seal, &root, &over, budget, &mut table);
    seal.keep(&table)?;
    Ok(table.into())
}

/// Where a gate stands.
fn root_of(place: &Place, gate: &Gate) -> PathBuf {
    if gate.root.is_empty() { place.root.clone() } else { PathBuf::from(&gate.root) }
}

/// Whether a table is of this closing, or of one that was not opened since: not what a crash left of an earlier one.
fn is_current(place: &Place, gate: &Gate, table: &Table) -> bool {
    table.closed_at == Some(gate.closed_at)
        || gate_of(place, &gate.scope).is_some_and(|standing| Some(standing.closed_at) == table.closed_at)
}

/// What became of a path, or of what a pattern means.
#[derive(Debug, Default)]
struct Added {
    /// All of it is sealed, or is in `over`.
    all: bool,
    /// What is more than single entries are for.
    over: Vec<String>,
}

fn add(seal: &SealFolder, root: &Path, said: &str, clock: Clock, table: &mut Table) -> io::Result<Added> {
    let mut added = Added { all: true, over: Vec::new() };
    let Way { links, path } = way(root, said);
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
    /// The table is full.
    Over,
    /// It cannot be sealed.
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

/// A file that may not be read is no reason to leave the others open; a state that cannot be written is one.
fn record_readable(seal: &SealFolder, root: &Path, path: &str, clock: Clock) -> io::Result<Option<Entry>> {
    match record(seal, root, path, clock) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        entry => entry,
    }
}

/// Where a path leads, if links are on the way to it: to be sealed is each of them, and what is behind.
struct Way {
    links: Vec<String>,
    /// None if that is not in the checkout.
    path: Option<String>,
}

fn way(root: &Path, said: &str) -> Way {
    let mut links = Vec::new();
    let mut path = said.to_owned();
    // As many as a system follows.
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
                return Way { links, path: None };
            };
            path = format!("{beneath}{}", &path[end..]);
            continue 'links;
        }
        return Way { links, path: Some(path) };
    }
    Way { links, path: None }
}

/// What a gate's seal holds. None where nothing is sealed, or the table cannot be read: a closed gate has one.
pub fn sealed(place: &Place, scope: &GateScope) -> Option<Sealed> {
    SealFolder::of(place, scope).table().map(Sealed::from)
}

/// From now on what lies at this path is what is sealed: a human changed it, or said yes to it.
pub fn reseal(place: &Place, scope: &GateScope, root: &Path, path: &str) -> io::Result<()> {
    Held::take(place, scope).reseal(root, path)
}

/// Puts the version of a path that was moved aside last into its place, and seals that: a human says that it is their own.
/// What stood there is kept. None where no other version is known.
pub fn take_kept(
    place: &Place,
    scope: &GateScope,
    root: &Path,
    path: &str,
    now: Millis,
) -> io::Result<Option<PathBuf>> {
    let held = Held::take(place, scope);
    let (Some(table), Some(path)) = (held.seal.table(), from_root(root, path)) else { return Ok(None) };
    let Some(kept) = table.kept.get(&path).filter(|kept| kept.is_file()) else { return Ok(None) };
    let Some(target) = target_of(root, &path) else { return Ok(None) };
    let at = root.join(target.path);
    let (bytes, mode) = (fs::read(kept)?, fs::metadata(kept)?.mode());
    copy_aside(place, &at, now)?;
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder)?;
    }
    replace_durably(&at, &bytes, Access::Mode(mode))?;
    held.reseal(root, &path)?;
    Ok(Some(at))
}

/// A seal in one's hands: as long as it is held, nobody else puts anything back. What is not sealed is held as well.
#[derive(Debug)]
pub(crate) struct Held {
    seal: SealFolder,
    lock: Option<SealLock>,
}

impl Held {
    pub(crate) fn take(place: &Place, scope: &GateScope) -> Self {
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
                // A folder: the files in it are looked at by themselves.
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

/// Takes the seal off. What was moved aside stays.
pub fn unseal(place: &Place, scope: &GateScope) -> io::Result<()> {
    let seal = SealFolder::of(place, scope);
    let _lock = seal.lock_existing(PATIENCE);
    seal.remove()
}

/// What was sealed at a path, for who wants to read it.
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

/// Where a path of a checkout really is, from its root, links followed.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: String,
}

/// None if that is not in the checkout.
pub(crate) fn target_of(root: &Path, path: &str) -> Option<Target> {
    way(root, &from_root(root, path)?).path.map(|path| Target { path })
}

#[cfg(test)]
mod tests;
