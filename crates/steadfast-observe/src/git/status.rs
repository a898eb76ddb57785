//! Parses `git status --porcelain=v2 -z --branch --no-renames`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::object_id::ObjectId;
use super::path::{from_git, parts};
use super::raw_diff::{Entry, Mode};
use crate::error::ObserveError;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// The commit that is checked out; `None` on a branch without commits.
    pub(crate) head: Option<ObjectId>,
    pub(crate) lines: BTreeMap<PathBuf, Line>,
    /// Folders without tracked files. They end in a slash, and git gives only their names.
    pub(crate) folders: Vec<PathBuf>,
}

/// The entry of `HEAD` at a path, and the current state of the path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) head: Option<Entry>,
    pub(crate) now: Now,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Now {
    Gone,
    /// Identical to the index.
    Entry(Entry),
    /// Different from `HEAD`.
    NotHead(Mode),
    /// Present; the content must be read. The mode is `None` for an untracked file.
    Unread(Option<Mode>),
    /// A submodule with changes of its own, so it matches no commit.
    Dirty,
}

impl Status {
    pub(crate) fn read(answer: &[u8]) -> Result<Self, ObserveError> {
        let mut status = Self::default();
        for part in parts(answer) {
            status.add_part(part).ok_or_else(|| ObserveError::unreadable("status", part))?;
        }
        Ok(status)
    }

    fn add_part(&mut self, part: &[u8]) -> Option<()> {
        match part.split_at_checked(2)? {
            (b"# ", header) => {
                if let Some(id) = header.strip_prefix(b"branch.oid ") {
                    self.head = ObjectId::from_git(id);
                }
            }
            (b"1 ", rest) => self.insert(ordinary(rest)?),
            (b"u ", rest) => self.insert(unmerged(rest)?),
            (b"? ", path) if path.ends_with(b"/") => self.folders.push(from_git(path)),
            (b"? ", path) => self.untracked(from_git(path)),
            _ => return None,
        }
        Some(())
    }

    fn insert(&mut self, (path, line): (PathBuf, Line)) {
        self.lines.insert(path, line);
    }

    /// Adds an untracked file. `HEAD` may have it and the index not: then an earlier line said that it is gone.
    pub(crate) fn untracked(&mut self, path: PathBuf) {
        let now = || Now::Unread(None);
        self.lines.entry(path).and_modify(|line| line.now = now()).or_insert_with(|| Line { head: None, now: now() });
    }
}

/// `XY sub mH mI mW hH hI path`
fn ordinary(rest: &[u8]) -> Option<(PathBuf, Line)> {
    let mut fields = rest.splitn(8, |byte| *byte == b' ');
    let mut next = || fields.next();
    let (state, submodule) = (next()?, next()?);
    let (mode_head, mode_index, mode_now, id_head, id_index) = (next()?, next()?, next()?, next()?, next()?);
    let path = from_git(next()?);
    let head = Entry::read(mode_head, id_head)?;
    let index = Entry::read(mode_index, id_index)?;
    let now = match (Mode::read(mode_now)?, state) {
        (None, _) => Now::Gone,
        _ if is_dirty(submodule) => Now::Dirty,
        (Some(_), [_, b'.']) => index.map_or(Now::Gone, Now::Entry),
        (Some(mode), [b'.', _]) => Now::NotHead(mode),
        (mode, _) => Now::Unread(mode),
    };
    Some((path, Line { head, now }))
}

/// `XY sub m1 m2 m3 mW h1 h2 h3 path`; the second of the three sides is ours.
fn unmerged(rest: &[u8]) -> Option<(PathBuf, Line)> {
    let fields: Vec<&[u8]> = rest.splitn(10, |byte| *byte == b' ').collect();
    let &[_, submodule, _, mode_ours, _, mode_now, _, id_ours, _, path] = fields.as_slice() else { return None };
    let now = match Mode::read(mode_now)? {
        None => Now::Gone,
        Some(_) if is_dirty(submodule) => Now::Dirty,
        mode => Now::Unread(mode),
    };
    Some((from_git(path), Line { head: Entry::read(mode_ours, id_ours)?, now }))
}

/// `N...`, or `S` and one letter each for another commit, changed files and untracked files.
fn is_dirty(submodule: &[u8]) -> bool {
    matches!(submodule, [b'S', _, changed, unknown] if *changed != b'.' || *unknown != b'.')
}
