//! Snapshots that are gone, while what compares with them is still there.

use std::collections::HashSet;

use super::source::Source;
use super::{FileChange, Kind, Weakening};

pub(super) fn compare(changes: &[FileChange<'_>], before: &[Source], after: &[Source]) -> Vec<Weakening> {
    let compared = |sources: &[Source]| -> usize {
        let held = sources.iter().flat_map(|source| &source.holders).flat_map(|holder| &holder.live);
        held.filter(|assertion| assertion.key.contains("napshot")).count()
    };
    // Tests with snapshots went, too: those are looked at as tests.
    if compared(after) < compared(before) {
        return Vec::new();
    }
    let kept = changes.iter().filter(|change| is_snapshot(change.path));
    let (mut dropped, mut added) = (Vec::new(), 0usize);
    for change in kept {
        let (was, now) = (entries(change.before), entries(change.after));
        added += now.len().saturating_sub(was.len());
        let names: HashSet<&str> = now.iter().map(|(name, _)| *name).collect();
        let gone = was.iter().filter(|(name, _)| !names.contains(name));
        let fewer = was.len().saturating_sub(now.len());
        dropped.extend(gone.take(fewer).map(|(name, line)| Weakening {
            kind: Kind::SnapshotDropped,
            file: change.path.to_owned(),
            line: *line,
            text: (*name).to_owned(),
        }));
    }
    // One under another name is renamed.
    dropped.drain(..added.min(dropped.len()));
    dropped
}

fn is_snapshot(path: &str) -> bool {
    [".snap", ".snapshot", ".approved.txt", ".golden", ".ambr"].iter().any(|end| path.ends_with(end))
        || path.contains("__snapshots__/")
}

/// The snapshots of a file by their names: those of Jest, else the file itself.
fn entries(text: Option<&str>) -> Vec<(&str, usize)> {
    let Some(text) = text else { return Vec::new() };
    let named = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((line.strip_prefix("exports[`")?.split("`]").next()?, at + 1)));
    let named: Vec<_> = named.collect();
    if named.is_empty() { vec![("", 1)] } else { named }
}
