//! Finds sealed paths that have changed.

use std::path::Path;
use std::time::Duration;

use steadfast_model::{GateScope, SealBreak, SealCause, SealChange};

use super::LIMIT;
use super::look::{PathLook, has_content, look};
use super::pattern;
use super::table::{Clock, Entry, Kind, SealFolder, Stamp, Table};
use crate::place::Place;

/// Lists the sealed paths that have changed, sorted. The content is read only if a file's stamp has changed; if the content
/// is the same, the stamp is renewed. Without a readable seal the list is empty: [`super::sealed`] tells the difference. If
/// the checkout is gone, nothing counts as changed.
pub fn seal_breaks(place: &Place, scope: &GateScope, root: &Path) -> Vec<SealBreak> {
    let seal = SealFolder::of(place, scope);
    let Some(table) = seal.table().filter(|_| root.is_dir()) else { return Vec::new() };
    let mut breaks = Vec::new();
    let mut touched = Vec::new();
    for (path, entry) in &table.entries {
        match compare(root, path, entry) {
            SealState::Same => {}
            SealState::Touched => touched.push(path),
            SealState::Broken(what) => breaks.push(SealBreak::new(path, what)),
        }
    }
    let broken = breaks.len();
    for path in created(root, &table) {
        let below = |broken: &SealBreak| path.strip_prefix(&broken.path).is_some_and(|rest| rest.starts_with('/'));
        if !breaks[..broken].iter().any(below) {
            breaks.push(SealBreak::new(path, SealChange::Created));
        }
    }
    if !touched.is_empty() {
        // If this fails, the content is read again next time.
        let _ = renew(&seal, root, &touched);
    }
    breaks.sort_by(|one, other| one.path.cmp(&other.path));
    breaks.dedup();
    for broken in breaks.iter_mut().filter(|broken| table.stuck.contains(&broken.path)) {
        broken.cause = SealCause::Stuck;
    }
    breaks
}

/// The state of a path, compared with its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SealState {
    Same,
    /// The same content with another stamp.
    Touched,
    Broken(SealChange),
}

pub(super) fn compare(root: &Path, path: &str, entry: &Entry) -> SealState {
    let found = match (look(root, path), entry.kind) {
        (Ok(PathLook::Nothing | PathLook::Behind { reaches: false, .. }), Kind::Absent) => return SealState::Same,
        (Ok(PathLook::There(_) | PathLook::Behind { reaches: true, .. }), Kind::Absent) => {
            return SealState::Broken(SealChange::Created);
        }
        (Ok(PathLook::Nothing | PathLook::Behind { reaches: false, .. }), Kind::File | Kind::Link) => {
            return SealState::Broken(SealChange::Removed);
        }
        // A path that cannot be read counts as changed.
        (Err(_), _) | (Ok(PathLook::Behind { reaches: true, .. }), Kind::File | Kind::Link) => {
            return SealState::Broken(SealChange::Changed);
        }
        (Ok(PathLook::There(found)), Kind::File | Kind::Link) => found,
    };
    if entry.kind == Kind::File && found.is_file() && entry.stamp == Some(Stamp::of(&found)) {
        return SealState::Same;
    }
    match (has_content(&root.join(path), &found, entry), entry.kind) {
        (true, Kind::File) => SealState::Touched,
        (true, Kind::Link | Kind::Absent) => SealState::Same,
        (false, _) => SealState::Broken(SealChange::Changed),
    }
}

/// Lists new files in sealed folders.
pub(super) fn created(root: &Path, table: &Table) -> Vec<String> {
    let limit = table.entries.len() + LIMIT;
    let found = table.whole.iter().flat_map(|pattern| pattern::files(root, pattern, limit).paths);
    let is_new = |path: &String| !table.entries.contains_key(path) && !table.not_sealed.contains(path);
    let mut created: Vec<String> = found.filter(is_new).collect();
    created.sort_unstable();
    created.dedup();
    // The remaining files are found after these were removed.
    created.truncate(LIMIT);
    created
}

fn renew(seal: &SealFolder, root: &Path, touched: &[&String]) -> Option<()> {
    let lock = seal.lock_existing(Duration::ZERO)?;
    let mut table = seal.table()?;
    if stamp_again(Clock::read(Some(&lock)), root, &mut table, touched.iter().map(|path| path.as_str())) {
        seal.renew(&table).ok()?;
    }
    Some(())
}

/// Renews stamps, and returns true if any was renewed. The order is clock, stamp, content: a later write then gives the file
/// another stamp.
pub(super) fn stamp_again<'a>(
    clock: Clock,
    root: &Path,
    table: &mut Table,
    paths: impl Iterator<Item = &'a str>,
) -> bool {
    let mut renewed = false;
    for path in paths {
        let Some(entry) = table.entries.get_mut(path) else { continue };
        let Ok(PathLook::There(found)) = look(root, path) else { continue };
        let stamp = clock.settled(&found);
        if stamp.is_some() && stamp != entry.stamp && has_content(&root.join(path), &found, entry) {
            entry.stamp = stamp;
            renewed = true;
        }
    }
    renewed
}
