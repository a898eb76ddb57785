//! What is not as it was sealed.

use std::path::Path;
use std::time::Duration;

use steadfast_model::{GateScope, SealBreak, SealCause, SealChange};

use super::LIMIT;
use super::look::{PathLook, has_content, look};
use super::pattern;
use super::table::{Clock, Entry, Kind, SealFolder, Stamp, Table};
use crate::place::Place;

/// What of the sealed paths is not as it was, sorted. Only where a file's stamp changed its content is read; if that is
/// the same, the stamp is renewed and nothing said. Without a seal that can be read nothing is known to be broken:
/// [`super::sealed`] tells the difference. A checkout that is gone is nobody's break.
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
        // Whoever cannot, reads the content again next time.
        let _ = renew(&seal, root, &touched);
    }
    breaks.sort_by(|one, other| one.path.cmp(&other.path));
    breaks.dedup();
    for broken in breaks.iter_mut().filter(|broken| table.stuck.contains(&broken.path)) {
        broken.cause = SealCause::Stuck;
    }
    breaks
}

/// How a path stands to what was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SealState {
    Same,
    /// The same content under another stamp.
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
        // What cannot be looked at is not shown to be the same.
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

/// Files in sealed folders that were not there.
pub(super) fn created(root: &Path, table: &Table) -> Vec<String> {
    let limit = table.entries.len() + LIMIT;
    let found = table.whole.iter().flat_map(|pattern| pattern::files(root, pattern, limit).paths);
    let is_new = |path: &String| !table.entries.contains_key(path) && !table.not_sealed.contains(path);
    let mut created: Vec<String> = found.filter(is_new).collect();
    created.sort_unstable();
    created.dedup();
    // The rest is found when these are gone.
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

/// Whether there was one to renew. The clock, then the stamp, then the content: who writes after the last of them
/// leaves another stamp.
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
