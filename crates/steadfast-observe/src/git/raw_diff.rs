//! Parses `git diff-tree --raw -z`, and the entries that git's answers have in common.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::object_id::ObjectId;
use super::path::{from_git, parts};
use crate::error::ObserveError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode(u32);

/// The type of an entry. Entries of different types differ, even with equal bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryType {
    File,
    Link,
    /// A nested repository, by its commit.
    Nested,
}

impl Mode {
    pub(crate) fn entry_type(self) -> EntryType {
        match self.0 & 0o170_000 {
            0o120_000 => EntryType::Link,
            0o160_000 => EntryType::Nested,
            _ => EntryType::File,
        }
    }

    pub(crate) fn is_executable(self) -> bool {
        self.0 & 0o111 != 0
    }

    /// Git writes `000000` for a missing entry.
    pub(crate) fn read(text: &[u8]) -> Option<Option<Self>> {
        let mode = u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()?;
        Some((mode != 0).then_some(Self(mode)))
    }
}

impl Entry {
    pub(crate) fn read(mode: &[u8], id: &[u8]) -> Option<Option<Self>> {
        let id = ObjectId::from_git(id)?;
        Some(Mode::read(mode)?.map(|mode| Self { mode, id }))
    }
}

/// Both sides of a path in a comparison of trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) before: Option<Entry>,
    pub(crate) after: Option<Entry>,
}

pub(crate) fn read(answer: &[u8]) -> Result<BTreeMap<PathBuf, Sides>, ObserveError> {
    let mut sides = BTreeMap::new();
    let mut parts = parts(answer);
    while let Some(line) = parts.next() {
        let entry = parts.next().and_then(|path| Some((from_git(path), read_sides(line)?)));
        let (path, both) = entry.ok_or_else(|| ObserveError::unreadable("diff-tree", line))?;
        sides.insert(path, both);
    }
    Ok(sides)
}

/// `:100644 100755 <id> <id> M`
fn read_sides(line: &[u8]) -> Option<Sides> {
    let mut fields = line.strip_prefix(b":")?.split(|byte| *byte == b' ');
    let mut next = || fields.next();
    let (mode_before, mode_after, id_before, id_after) = (next()?, next()?, next()?, next()?);
    Some(Sides { before: Entry::read(mode_before, id_before)?, after: Entry::read(mode_after, id_after)? })
}
