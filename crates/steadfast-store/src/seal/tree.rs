//! Seals the whole checkout as one git tree, for patterns with too many files for per-file entries. Its objects are in
//! Steadfast's own folder.
//!
//! Comparing the tree requires git, so it happens only where there is time. A file that differs from the tree gets an entry
//! and a copy out of the tree. From then on it is restored and renewed like any other sealed file.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use steadfast_model::{Fact, GateScope, SealBreak};
use steadfast_observe::{ChangeKind, ChangedFile, Checkout, CheckoutKind as RepositoryKind, InTree, Point, TreeId};

use super::compare::{SealState, compare};
use super::look::COPIED;
use super::pattern;
use super::table::{Entry, Kind, SealFolder, Table, TreeSeal};
use super::{LIMIT, PATIENCE};
use crate::digest;
use crate::place::Place;

/// A pattern with too many files for per-file entries.
#[derive(Debug)]
pub(super) struct Over {
    /// The pattern as written in the gate.
    pub(super) protected: String,
    pub(super) path: String,
}

/// The time limit for git to read sealed files from the tree, one process for each file.
const DRAWING: Duration = Duration::from_millis(300);

/// The remaining part of a time budget.
#[derive(Clone, Copy, Debug)]
struct Left {
    until: Instant,
}

impl Left {
    fn of(budget: Duration) -> Self {
        Self { until: Instant::now() + budget }
    }

    fn now(self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl TreeSeal {
    pub(super) fn covers(&self, path: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern::covers(pattern, path))
    }

    fn point(&self, seal: &SealFolder) -> Option<(TreeId, PathBuf)> {
        Some((TreeId::new(self.id.parse().ok()?), seal.objects()))
    }
}

/// Seals these patterns as a tree. Patterns that cannot be sealed, and matching files outside the tree, go into
/// `not_sealed`.
pub(super) fn add(seal: &SealFolder, root: &Path, over: &[Over], budget: Duration, table: &mut Table) {
    let is_known = |over: &&Over| table.tree.as_ref().is_some_and(|tree| tree.patterns.contains(&over.path));
    let new: Vec<&Over> = over.iter().filter(|over| !is_known(over)).collect();
    if new.is_empty() {
        return;
    }
    let left = Left::of(budget);
    let (ours, theirs): (Vec<&Over>, Vec<&Over>) =
        new.into_iter().partition(|over| over.path.split('/').next() == Some(pattern::OURS));
    // A tree shows the checkout at one moment: patterns that are protected only later cannot use the first tree.
    let taken = if table.tree.is_none() && !theirs.is_empty() { take(seal, root, left) } else { None };
    let Some(id) = taken else {
        table.not_sealed.extend(ours.into_iter().chain(theirs).map(|over| over.protected.clone()));
        return;
    };
    table.not_sealed.extend(ours.into_iter().map(|over| over.protected.clone()));
    let patterns = theirs.iter().map(|over| over.path.clone()).collect();
    let tree = TreeSeal { id, patterns, drawn: std::collections::BTreeMap::new() };
    match ignored(root, &tree, left) {
        Some(ignored) => {
            let named = ignored.into_iter().filter(|path| !table.entries.contains_key(path)).take(LIMIT);
            table.not_sealed.extend(named);
        }
        None => table.not_sealed.extend(theirs.into_iter().map(|over| over.protected.clone())),
    }
    table.tree = Some(tree);
}

/// Returns the id of the checkout's tree, if it is a git repository and time allows.
fn take(seal: &SealFolder, root: &Path, left: Left) -> Option<String> {
    let repository = Checkout::find(root);
    // A repository in a parent folder would use paths from another root.
    if !matches!(repository.kind, RepositoryKind::Git { .. }) || std::fs::canonicalize(root).ok()? != repository.root {
        return None;
    }
    match repository.tree_id(&seal.objects(), left.now()) {
        Fact::Known(id) => Some(id.to_string()),
        Fact::Unknown(_) | Fact::NotAsked => None,
    }
}

/// Lists the matching files that are not in the tree because git ignores them. `None` if git did not answer.
fn ignored(root: &Path, tree: &TreeSeal, left: Left) -> Option<Vec<String>> {
    let folders: Vec<String> = tree.patterns.iter().map(|path| pattern::fixed(path).unwrap_or_default()).collect();
    let Fact::Known(found) = Checkout::find(root).ignored(&folders, left.now()) else { return None };
    let is_meant = |path: &str| match path.strip_suffix('/') {
        Some(folder) => tree.patterns.iter().any(|pattern| pattern::reaches(pattern, folder)),
        None => tree.covers(path),
    };
    Some(found.into_iter().map(|path| path.to_string_lossy().into_owned()).filter(|path| is_meant(path)).collect())
}

/// Lists the files that differ from the sealed tree, sorted and at most [`SealBreak::AT_ONCE`]: the rest is found after
/// these were restored. `NotAsked` if there is no sealed tree. `Unknown` if git took longer than `budget`; the caller must
/// then conclude nothing.
pub fn tree_breaks(place: &Place, scope: &GateScope, root: &Path, budget: Duration) -> Fact<Vec<SealBreak>> {
    let seal = SealFolder::of(place, scope);
    let Some(table) = seal.table().filter(|table| table.tree.is_some()) else { return Fact::NotAsked };
    if !root.is_dir() {
        return Fact::Known(Vec::new());
    }
    match look(&seal, root, table, Left::of(budget)) {
        Ok(breaks) => Fact::Known(breaks),
        Err(why) => Fact::Unknown(why),
    }
}

fn look(seal: &SealFolder, root: &Path, mut table: Table, left: Left) -> Result<Vec<SealBreak>, String> {
    let new = undrawn(seal, root, &table, left)?;
    // This extra time is needed only after a change was found, so it is rare.
    let left = Left::of(left.now().max(DRAWING));
    let mut breaks = broken(root, &table);
    for some in new.chunks(SealBreak::AT_ONCE) {
        // Not every file that git names is a break: it may just have other permissions.
        if breaks.len() >= SealBreak::AT_ONCE {
            break;
        }
        table = draw(seal, root, some, left)?;
        breaks = broken(root, &table);
    }
    Ok(breaks)
}

/// Lists the files that differ from the tree and have no entry yet.
fn undrawn(seal: &SealFolder, root: &Path, table: &Table, left: Left) -> Result<Vec<String>, String> {
    let Some(tree) = &table.tree else { return Ok(Vec::new()) };
    let (id, private_dir) = tree.point(seal).ok_or("the seal contains no valid tree id")?;
    let changes = match Checkout::find(root).changed_since(&Point::Tree { id, private_dir }, left.now()) {
        Fact::Known(changes) => changes,
        Fact::Unknown(why) => return Err(why),
        Fact::NotAsked => return Err("git was not asked for the changes".to_owned()),
    };
    let is_whole = |path: &str| table.whole.iter().any(|pattern| pattern::covers(pattern, path));
    let new = changes.into_iter().filter_map(|ChangedFile { path, kind }| {
        let path = path.to_str()?.to_owned();
        let is_new = table.entry(&path).is_none() && tree.covers(&path);
        // A new file in a folder with per-file entries is found by those.
        let is_found = || kind == ChangeKind::Added && is_whole(&path);
        let is_repository = || root.join(&path).join(".git").exists();
        (is_new && !is_found() && !is_repository()).then_some(path)
    });
    Ok(new.collect())
}

/// Gives files an entry and a copy from the tree.
fn draw(seal: &SealFolder, root: &Path, paths: &[String], left: Left) -> Result<Table, String> {
    let removed = || "the seal was removed meanwhile".to_owned();
    let lock = seal.lock_existing(PATIENCE);
    let mut table = seal.table().ok_or_else(removed)?;
    let tree = table.tree.as_mut().ok_or_else(removed)?;
    let (id, private_dir) = tree.point(seal).ok_or_else(removed)?;
    let contents = match Checkout::find(root).in_tree(&id, &private_dir, paths, COPIED, left.now()) {
        Fact::Known(contents) => contents,
        Fact::Unknown(why) => return Err(why),
        Fact::NotAsked => return Err("git was not asked for the sealed files".to_owned()),
    };
    for (path, contents) in paths.iter().zip(contents) {
        if let Some(entry) = entry_of(seal, root, path, contents).map_err(|error| error.to_string())? {
            tree.drawn.entry(path.clone()).or_insert(entry);
        }
    }
    seal.renew(&table).map_err(|error| error.to_string())?;
    drop(lock);
    Ok(table)
}

fn entry_of(seal: &SealFolder, root: &Path, path: &str, contents: InTree) -> io::Result<Option<Entry>> {
    let (kind, bytes, executable) = match contents {
        InTree::Nothing => return Ok(Some(Entry::absent())),
        // An obstacle to a folder is moved aside when the files of the folder are restored.
        InTree::Folder | InTree::Nested => return Ok(None),
        InTree::Large { size, executable } => {
            let mode = mode_of(root, path, executable);
            return Ok(Some(Entry { kind: Kind::File, id: None, size, mode, copy: false, stamp: None }));
        }
        InTree::Link(text) => (Kind::Link, text, false),
        InTree::File { bytes, executable } => (Kind::File, bytes, executable),
    };
    let id = digest::of_bytes(&bytes);
    seal.keep_drawn(&id, &bytes)?;
    let mode = mode_of(root, path, executable);
    Ok(Some(Entry { kind, id: Some(id), size: bytes.len() as u64, mode, copy: true, stamp: None }))
}

/// A git tree stores only if a file is executable. The other permissions are taken from the current file.
fn mode_of(root: &Path, path: &str, executable: bool) -> u32 {
    let standing = std::fs::symlink_metadata(root.join(path)).ok().filter(std::fs::Metadata::is_file);
    let read_by = standing.map_or(0o644, |found| found.mode() & 0o666);
    if executable { read_by | (read_by & 0o444) >> 2 } else { read_by }
}

fn broken(root: &Path, table: &Table) -> Vec<SealBreak> {
    let drawn = table.tree.iter().flat_map(|tree| &tree.drawn);
    let broken = drawn.filter_map(|(path, entry)| match compare(root, path, entry) {
        SealState::Broken(what) => Some(SealBreak::new(path, what)),
        SealState::Same | SealState::Touched => None,
    });
    broken.take(SealBreak::AT_ONCE).collect()
}

/// Seals the current checkout as a new tree, after a human changed too many files to renew them one by one.
pub fn reseal_tree(place: &Place, scope: &GateScope, root: &Path, budget: Duration) -> io::Result<()> {
    let seal = SealFolder::of(place, scope);
    let _lock = seal.lock_existing(PATIENCE);
    let Some(mut table) = seal.table() else { return Ok(()) };
    let Some(tree) = &mut table.tree else { return Ok(()) };
    let id = take(&seal, root, Left::of(budget));
    let id =
        id.ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "git did not return a tree of the checkout in time"))?;
    (tree.id, tree.drawn) = (id, std::collections::BTreeMap::new());
    seal.renew(&table)
}
