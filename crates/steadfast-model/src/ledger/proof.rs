//! Freshness of evidence: a closed task is still done only while the files of its evidence are unchanged.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sparse::sparse;
use crate::{Evidence, EvidenceClass, Fact, TaskLine};

/// The state of a file when evidence was recorded, so that a stop can detect changes without git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    pub path: String,
    /// Hash of size, times and inode. Zero: only the content is compared.
    pub stat: u64,
    /// The first bytes of the content's SHA-256. Zero: the file did not exist.
    pub content: u64,
}

impl SeenFile {
    /// Encodes the list for the ledger.
    pub fn encode(files: &[Self]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for Self { path, stat, content } in files {
            let Ok(length) = u16::try_from(path.len()) else { continue };
            bytes.extend(length.to_le_bytes());
            bytes.extend(stat.to_le_bytes());
            bytes.extend(content.to_le_bytes());
            bytes.extend(path.as_bytes());
        }
        bytes
    }

    /// Decodes the bytes of [`Self::encode`]. The list ends at the first invalid entry.
    pub fn decode(bytes: &[u8]) -> Vec<Self> {
        let mut files = Vec::new();
        let mut rest = bytes;
        while let Some((file, after)) = read_one(rest) {
            files.push(file);
            rest = after;
        }
        files
    }
}

fn read_one(bytes: &[u8]) -> Option<(SeenFile, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    let (stat, rest) = rest.split_first_chunk::<8>()?;
    let (content, rest) = rest.split_first_chunk::<8>()?;
    let (path, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    let file = SeenFile {
        path: std::str::from_utf8(path).ok()?.to_owned(),
        stat: u64::from_le_bytes(*stat),
        content: u64::from_le_bytes(*content),
    };
    Some((file, rest))
}

/// The files that a task's evidence depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceSubject {
    /// No files: a decision, a human's word or an agent's claim never becomes stale.
    Nothing,
    /// The task's files.
    Files,
    /// Everything in the checkout, since the task names no files.
    Everything,
}

impl EvidenceSubject {
    pub fn of(class: EvidenceClass, names_files: bool) -> Self {
        match class {
            EvidenceClass::Executed | EvidenceClass::Artifact | EvidenceClass::Observed if names_files => Self::Files,
            EvidenceClass::Executed | EvidenceClass::Artifact => Self::Everything,
            EvidenceClass::Observed | EvidenceClass::Claimed | EvidenceClass::Forced => Self::Nothing,
        }
    }
}

/// Returns the freshness of a closed task's evidence. Every stop, command, run and loop uses this function; each
/// compares the files in its own way.
///
/// `changed` returns true if the subject of the evidence changed since it was recorded.
///
/// ```
/// use steadfast_model::{EvidenceClass, Fact, Freshness, EvidenceSubject, freshness};
///
/// let executed = EvidenceSubject::of(EvidenceClass::Executed, true);
/// assert_eq!(freshness(executed, |_| Fact::Known(true)), Freshness::Stale);
/// assert_eq!(freshness(executed, |_| Fact::Unknown("git gave no answer".into())), Freshness::Unknown);
/// let forced = EvidenceSubject::of(EvidenceClass::Forced, true);
/// assert_eq!(freshness(forced, |_| unreachable!("a human's word needs no look")), Freshness::Holds);
/// ```
pub fn freshness(subject: EvidenceSubject, changed: impl FnOnce(EvidenceSubject) -> Fact<bool>) -> Freshness {
    if subject == EvidenceSubject::Nothing {
        return Freshness::Holds;
    }
    match changed(subject) {
        Fact::Known(false) => Freshness::Holds,
        Fact::Known(true) => Freshness::Stale,
        Fact::Unknown(_) | Fact::NotAsked => Freshness::Unknown,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    Holds,
    /// The subject of the evidence changed since it was recorded.
    Stale,
    Unknown,
}

impl Evidence {
    pub fn subject(&self) -> EvidenceSubject {
        EvidenceSubject::of(self.class, !self.files.is_empty())
    }
}

sparse! {
    /// The state of a plan's done tasks in this checkout.
    #[derive(Eq)]
    pub struct DoneHere {
        /// Tasks whose evidence is about other file contents than the current ones.
        stale: TaskLines,
        /// Main and added tasks that were closed only by the agent's word.
        claimed: TaskLines,
        /// Tasks done on the branch of a run that is not merged here.
        elsewhere: Option<OnBranch>,
    }
}

/// The first few tasks of a list, and the total.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLines {
    pub first: Vec<TaskLine>,
    pub all: u32,
}

impl TaskLines {
    const SHOWN: usize = 6;

    pub fn is_empty(&self) -> bool {
        self.all == 0
    }

    pub fn push(&mut self, line: TaskLine) {
        self.all = self.all.saturating_add(1);
        if self.first.len() < Self::SHOWN {
            self.first.push(line);
        }
    }
}

/// `1.1 Write the parser; 1.2 Test it; and 3 more`.
impl fmt::Display for TaskLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer titles are cut, because several share a line.
        const TITLE: usize = 80;
        for (index, TaskLine { id, title, .. }) in self.first.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            if title.chars().count() > TITLE {
                let cut: String = title.chars().take(TITLE - 1).collect();
                write!(f, "{separator}{id} {cut}…")?;
            } else {
                write!(f, "{separator}{id} {title}")?;
            }
        }
        let shown = u32::try_from(self.first.len()).unwrap_or(u32::MAX);
        match self.all.saturating_sub(shown) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// The tasks done by a run, on its branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnBranch {
    pub branch: String,
    pub tasks: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_read_back_and_torn_bytes_end_the_list() {
        let file = |path: &str, stat, content| SeenFile { path: path.into(), stat, content };
        let files = vec![file("src/a.rs", 7, 1 << 60), file("ü/ö.txt", 0, 3), file("gone", 0, 0)];
        let bytes = SeenFile::encode(&files);
        assert_eq!(SeenFile::decode(&bytes), files);
        assert_eq!(SeenFile::decode(&bytes[..bytes.len() - 1]), files[..2]);
        assert_eq!(SeenFile::decode(&[]), []);
    }

    #[test]
    fn a_humans_word_and_an_agents_never_go_stale() {
        let stale = |names_files: bool| -> Vec<&str> {
            let is_stale = |class: &EvidenceClass| {
                freshness(EvidenceSubject::of(*class, names_files), |_| Fact::Known(true)) == Freshness::Stale
            };
            EvidenceClass::ALL.into_iter().filter(is_stale).map(EvidenceClass::as_str).collect()
        };
        assert_eq!(stale(true), ["executed", "artifact", "observed"]);
        // Decisions and skills are observed, and about no files.
        assert_eq!(stale(false), ["executed", "artifact"]);
    }
}
