use std::path::{Path, PathBuf};

use steadfast_model::Host;
use steadfast_system::Access;

use super::file::{self, utf8};
use super::slot::{Remembered, Slot};
use super::{InstallError, SettingsError};

/// The part of ours in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// Hooks of this host, and for Claude Code the permissions.
    Hooks(Host),
    Server,
    /// A file of a skill.
    Skill,
    Agent,
    /// A link that a host starts.
    Link,
    /// What `uninstall` needs to know.
    Record,
}

impl FileContent {
    /// The name in messages. Records of skills and agents have it in their file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hooks(_) => "hooks",
            Self::Server => "MCP server",
            Self::Skill => "skill",
            Self::Agent => "agent",
            Self::Link => "link",
            Self::Record => "record",
        }
    }
}

/// The change of one file. All changes of a plan are computed before the first is written.
#[derive(Clone, Debug)]
pub struct FileEdit {
    pub path: PathBuf,
    /// `None`: the file does not exist.
    pub before: Option<Vec<u8>>,
    /// `None`: the file is removed.
    pub after: Option<Vec<u8>>,
    pub content: FileContent,
    pub(super) access: Access,
    /// The file is a link, and its content is the target.
    pub(super) is_link: bool,
    /// Folders that are removed with the file if they are empty, the innermost first.
    pub(super) folders: Vec<PathBuf>,
    pub(super) lock: Option<PathBuf>,
    /// The edits that lead to `after`, to repeat them on another content; for a file that its host may write at any
    /// time.
    pub(super) edits: Vec<Edit>,
}

/// The changes to make, and the records about them.
#[derive(Clone, Debug)]
pub struct InstallPlan {
    /// The changes of the hosts' files, for a human to review.
    pub changes: Vec<FileEdit>,
    /// Files in the place of ours that differ from what we wrote. They are left alone.
    pub left: Vec<PathBuf>,
    pub(super) records: Vec<FileEdit>,
    pub(super) direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) slot: Slot,
    pub(super) direction: Direction,
    pub(super) before: Option<String>,
}

impl InstallPlan {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.records.is_empty()
    }

    /// Writes records first and deletes them last: a record without its change does no harm, a change without its
    /// record cannot be undone exactly.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &FileEdit> {
        let (first, last) = match self.direction {
            Direction::In => (&self.records, &self.changes),
            Direction::Out => (&self.changes, &self.records),
        };
        first.iter().chain(last)
    }
}

impl FileEdit {
    pub(super) fn new(
        path: &Path,
        before: Option<Vec<u8>>,
        after: Option<Vec<u8>>,
        content: FileContent,
        access: Access,
    ) -> Self {
        let (folders, edits) = (Vec::new(), Vec::new());
        Self { path: path.to_owned(), before, after, content, access, is_link: false, folders, lock: None, edits }
    }

    pub(super) fn link(path: &Path, before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> Self {
        Self { is_link: true, ..Self::new(path, before, after, FileContent::Link, Access::Private) }
    }

    pub(super) fn current(&self) -> Result<Option<Vec<u8>>, InstallError> {
        if self.is_link { file::read_link(&self.path) } else { file::read(&self.path) }
    }

    /// Returns true for a file that is entirely ours: part of a skill, or an agent.
    pub fn is_skill(&self) -> bool {
        matches!(self.content, FileContent::Skill | FileContent::Agent)
    }

    /// Applies the same edits to the present content.
    pub(super) fn redo(&self, content: Option<&[u8]>) -> Result<Option<Vec<u8>>, InstallError> {
        let mut text = match content {
            Some(content) => utf8(&self.path, content)?.to_owned(),
            None if self.after.is_none() => return Ok(None),
            None => String::new(),
        };
        for edit in &self.edits {
            text = edit.apply(&text).map_err(|source| InstallError::Settings { path: self.path.clone(), source })?;
        }
        Ok(Some(text.into_bytes()))
    }
}

impl Edit {
    fn apply(&self, text: &str) -> Result<String, SettingsError> {
        let remembered = Remembered { before: self.before.as_deref(), after: None };
        match self.direction {
            Direction::In => self.slot.part.merge(text, remembered),
            Direction::Out => self.slot.part.strip(text, remembered),
        }
    }
}
